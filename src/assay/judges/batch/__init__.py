"""A chat model asked through batch files: half the price, answers within a day."""

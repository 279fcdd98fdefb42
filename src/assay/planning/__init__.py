"""What a run will take, before anything is spent: calls, tokens, money, time, precision."""

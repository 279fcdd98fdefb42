"""What a suite tests: models, endpoints and programs that answer prompts, by name."""

"""Language model clients: providers, rate limits, retries, answer cache and cost."""

"""Access control: API keys, sign-in, rate and body limits, request log."""

"""What readers are made of: a transcript to write into, and knowledge of messages and calls."""

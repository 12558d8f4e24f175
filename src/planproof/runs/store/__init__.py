"""Run store: SQLite by default, PostgreSQL by URL."""

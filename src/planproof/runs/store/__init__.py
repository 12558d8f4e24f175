"""Where runs are kept: SQLite by default, PostgreSQL by URL."""

"""Reports of verdicts and runs: terminal, JSON, Markdown, HTML, JUnit XML, Parquet and CSV."""

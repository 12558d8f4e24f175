"""The planproof server: HTTP API, OpenTelemetry trace ingestion, and web pages."""

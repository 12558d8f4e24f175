"""The server: an HTTP API, traces from OpenTelemetry, and the pages."""

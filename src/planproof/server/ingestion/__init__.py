"""OpenTelemetry (OTLP) ingestion: receive spans, store them until a trace is complete, judge it."""

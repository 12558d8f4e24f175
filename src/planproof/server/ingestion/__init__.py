"""Traces as OpenTelemetry sends them: taken in, kept until they are done, judged."""

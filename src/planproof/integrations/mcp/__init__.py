"""MCP server: lets agents and editors check a run against its plan."""

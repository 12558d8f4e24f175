"""The MCP server: agents and editors ask how a run stands to its plan."""

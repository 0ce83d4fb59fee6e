"""Programs that speak MCP, for the measurements of the gateway."""

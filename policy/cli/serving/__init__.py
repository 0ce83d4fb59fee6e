"""What `serve` and `gateway` share: their options, and serving MCP clients until the end."""

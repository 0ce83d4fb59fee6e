"""MCP servers behind Placet: their sessions, their tools, and calls of them."""

from policy.mcp.client import McpClient, ServerStatus
from policy.mcp.errors import McpFailure, NotSent, Refused, Uncertain
from policy.mcp.handler import McpHandler
from policy.mcp.listed_tool import Era, ListedTool, Progress
from policy.mcp.resolved_program import resolved_program
from policy.mcp.secrets import read_value, read_values
from policy.mcp.servers import McpServers, ProgramOf, ServerReport, configured_servers

__all__ = [
    "Era",
    "ListedTool",
    "McpClient",
    "McpFailure",
    "McpHandler",
    "McpServers",
    "NotSent",
    "ProgramOf",
    "Progress",
    "Refused",
    "ServerReport",
    "ServerStatus",
    "Uncertain",
    "configured_servers",
    "read_value",
    "read_values",
    "resolved_program",
]

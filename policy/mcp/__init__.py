"""MCP servers behind Placet: their sessions, their tools, and calls of them."""

from policy.mcp.asking import ServerAnswers, ask_server, ask_servers, list_server_tools
from policy.mcp.client import McpClient, ServerStatus
from policy.mcp.client_requests import client_request_handlers
from policy.mcp.errors import McpFailure, NotSent, ProtocolError, Uncertain
from policy.mcp.handler import McpHandler
from policy.mcp.listed_tool import Era, ListedTool
from policy.mcp.names import refused_names
from policy.mcp.resolved_program import program_of, resolved_program
from policy.mcp.secrets import read_value, read_values
from policy.mcp.served_server import ProgramOf, ServerReport
from policy.mcp.server_requests import server_request_handlers
from policy.mcp.server_sandbox import tier_of_server
from policy.mcp.servers import McpServers, configured_servers
from policy.mcp.standing import ReviewFilter, Standing

__all__ = [
    "Era",
    "ListedTool",
    "McpClient",
    "McpFailure",
    "McpHandler",
    "McpServers",
    "NotSent",
    "ProgramOf",
    "ProtocolError",
    "ReviewFilter",
    "ServerAnswers",
    "ServerReport",
    "ServerStatus",
    "Standing",
    "Uncertain",
    "ask_server",
    "ask_servers",
    "client_request_handlers",
    "configured_servers",
    "list_server_tools",
    "program_of",
    "read_value",
    "read_values",
    "refused_names",
    "resolved_program",
    "server_request_handlers",
    "tier_of_server",
]

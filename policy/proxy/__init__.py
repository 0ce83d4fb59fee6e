"""MCP in front of the tool service: messages in, `ToolService`, messages out."""

from policy.proxy.answers import answer, refusal
from policy.proxy.changes import ListChanges
from policy.proxy.ended import keep
from policy.proxy.http import Address, serve_http
from policy.proxy.server import ServiceFor, ToolServer, called, tool_server
from policy.proxy.stdio import serve_stdio

__all__ = [
    "Address",
    "ListChanges",
    "ServiceFor",
    "ToolServer",
    "answer",
    "called",
    "keep",
    "refusal",
    "serve_http",
    "serve_stdio",
    "tool_server",
]

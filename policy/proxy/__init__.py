"""MCP in front of the tool service: messages become calls, and outputs become answers."""

from policy.proxy.finished_calls import keep
from policy.proxy.http import Address, serve_http
from policy.proxy.list_changes import ListChanges
from policy.proxy.results import answer, refusal
from policy.proxy.server import ServiceFor, ToolServer, call_result, tool_server
from policy.proxy.stdio import serve_stdio

__all__ = [
    "Address",
    "ListChanges",
    "ServiceFor",
    "ToolServer",
    "answer",
    "call_result",
    "keep",
    "refusal",
    "serve_http",
    "serve_stdio",
    "tool_server",
]

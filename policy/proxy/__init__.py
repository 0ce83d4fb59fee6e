"""MCP in front of the tool service: messages become calls, and outputs become answers."""

from policy.proxy.authentication import Identities, Identity, OneToken
from policy.proxy.client_approver import ClientApprover
from policy.proxy.connected_client import ConnectedClient
from policy.proxy.finished_calls import keep
from policy.proxy.http import Address, serve_http
from policy.proxy.http_sessions import Left
from policy.proxy.kept_key import kept_key
from policy.proxy.known_identities import KnownIdentities
from policy.proxy.list_changes import ListChanges, ListKind
from policy.proxy.offered_lists import ListName, OfferedBehind
from policy.proxy.results import answer, refusal
from policy.proxy.server import Ready, ServiceFor, ToolServer, call_result, tool_server
from policy.proxy.stdio import serve_stdio

__all__ = [
    "Address",
    "ClientApprover",
    "ConnectedClient",
    "Identities",
    "Identity",
    "KnownIdentities",
    "Left",
    "ListChanges",
    "ListKind",
    "ListName",
    "OfferedBehind",
    "OneToken",
    "Ready",
    "ServiceFor",
    "ToolServer",
    "answer",
    "call_result",
    "keep",
    "kept_key",
    "refusal",
    "serve_http",
    "serve_stdio",
    "tool_server",
]

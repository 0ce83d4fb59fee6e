"""MCP over streamable HTTP, with the SDK's transport.

It notes which requests have certainly not reached the server: only these may be sent again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import httpx2
from mcp.client.auth import TokenStorage
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from policy.generation import HttpServer
from policy.mcp.secrets import read_value, read_values
from policy.mcp.streams import LARGEST

_CONNECTING = 10.0  # seconds
_LEAVING = 2.0  # seconds for a server to note that a session has ended
_SESSION = "mcp-session-id"
_UNKNOWN_SESSION = 404


class Delivery:
    """What is known of how far one request has come.

    `may_have_left` is whether it may have been sent; `not_taken` is why the server has certainly
    not taken it, None as long as it may have.
    """

    def __init__(self, *, may_have_left: bool) -> None:
        self.may_have_left = may_have_left
        self.not_taken: str | None = None


# The SDK sends each request in the context of its caller.
DELIVERY: ContextVar[Delivery | None] = ContextVar("placet_mcp_delivery", default=None)


class OAuthTokens(TokenStorage):
    """The tokens of Placet itself at one server, in memory."""

    def __init__(self) -> None:
        self._tokens: OAuthToken | None = None
        self._client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """Return the last tokens."""
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return what the authorization server knows of Placet."""
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep what the authorization server knows of Placet."""
        self._client = client_info


@asynccontextmanager
async def http_streams(server: HttpServer, *, tokens: OAuthTokens) -> AsyncIterator[Any]:
    """Connect to the server; the session ends with the block."""
    headers = {"Accept-Encoding": "identity", **read_values(server.headers)}
    if server.token is not None:
        headers["Authorization"] = f"Bearer {read_value(server.token)}"
    # Whoever asks limits the time of an answer: a tool may take as long as its own limit.
    timeout = httpx2.Timeout(None, connect=_CONNECTING)
    async with (
        _NotingClient(
            headers=headers,
            timeout=timeout,
            auth=_auth(server, tokens),
            event_hooks={"response": [_bound]},
        ) as http,
        streamable_http_client(server.url, http_client=http, max_sse_event_size=LARGEST) as streams,
    ):
        yield streams


def _auth(server: HttpServer, tokens: OAuthTokens) -> httpx2.Auth | None:
    oauth = server.oauth
    if oauth is None:
        return None
    return ClientCredentialsOAuthProvider(
        server.url,
        tokens,
        oauth.client_id,
        read_value(oauth.client_secret),
        scope=oauth.scope,
        issuer=oauth.issuer,
    )


class _NotingClient(httpx2.AsyncClient):
    """Notes for each request of the current context that the server has not taken it."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request."""
        delivery = DELIVERY.get()
        if delivery is not None:
            delivery.may_have_left = True
        if request.method == "DELETE":
            request.extensions["timeout"] = httpx2.Timeout(_LEAVING).as_dict()
        try:
            response = await super().send(request, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            if delivery is not None:
                delivery.not_taken = f"the server cannot be reached: {type(error).__name__}"
            raise
        expired = response.status_code == _UNKNOWN_SESSION and _SESSION in request.headers
        if delivery is not None and expired:
            delivery.not_taken = "the session with the server has expired"
        return response


async def _bound(response: httpx2.Response) -> None:
    """Limit how much of an answer is read; of a stream, the SDK limits each event."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("the answer is compressed, though that was not accepted")
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        response.stream = _BoundedStream(response.stream)


class _BoundedStream(httpx2.AsyncByteStream):
    """A body of limited size."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > LARGEST:
                raise httpx2.ReadError(f"the answer has more than {LARGEST:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()

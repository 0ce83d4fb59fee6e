"""`web_fetch`: one HTTP request to the very address that was judged, following no redirect.

A redirect is returned with its `location`: fetching it is a new call, judged like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from policy.errors import Execution, Timeout, Transport
from policy.service.handler import ExecutionContext
from policy.service.handlers.limits import Limits
from policy.service.handlers.native import Run
from policy.service.world import JudgedHosts, look_up_host
from policy.values import Endpoint, Unreadable, read_endpoint

if TYPE_CHECKING:
    import httpx2

_NAME = "web_fetch"
# What decides where a request goes, or how it is framed, is not the caller's to say.
_OWN_HEADERS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer"}
)


def web_fetch(limits: Limits) -> Run:
    """Return what fetches, keeping `limits.body` bytes of a body."""

    async def run(input: dict[str, Any], ctx: ExecutionContext) -> dict[str, Any]:
        try:
            import httpx2
        except ImportError as error:
            raise Execution(_NAME, "fetching needs the extra `web`: placet[web]") from error
        headers = dict(input.get("headers") or {})
        if any(name.strip().lower() in _OWN_HEADERS for name in headers):
            raise Execution(_NAME, "headers that frame or route the request cannot be given")
        try:
            url = httpx2.URL(input["url"])
        except (httpx2.InvalidURL, ValueError, TypeError) as error:
            raise Execution(_NAME, "this is no URL") from error
        if url.userinfo:
            raise Execution(_NAME, "a URL with a user name cannot be fetched")
        endpoint = _endpoint(url, input["url"])
        request = _Request(
            method=input.get("method") or "GET",
            url=url,
            headers={**headers, "Host": url.netloc.decode("ascii")},
            host=endpoint.host,
        )
        try:
            return await _first_to_answer(request, await _addresses(endpoint, ctx), limits)
        except httpx2.TimeoutException as error:
            seconds = limits.web_seconds
            raise Timeout(
                _NAME, f"no answer within {seconds:g} seconds", seconds=seconds
            ) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise Transport(_NAME, f"the server cannot be used: {type(error).__name__}") from error

    return run


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What is asked of whichever address answers; `host` is the name its certificate must have."""

    method: str
    url: httpx2.URL
    headers: dict[str, str]
    host: str


async def _first_to_answer(
    request: _Request, addresses: tuple[str, ...], limits: Limits
) -> dict[str, Any]:
    """Return the answer of the first address that can be connected to."""
    import httpx2

    *others, last = addresses
    for address in others:
        try:
            return await _fetched(request, address, limits)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            continue
    return await _fetched(request, last, limits)


async def _fetched(request: _Request, address: str, limits: Limits) -> dict[str, Any]:
    import httpx2

    async with (
        # No proxies and no credentials of the environment: they would connect elsewhere.
        httpx2.AsyncClient(trust_env=False, timeout=limits.web_seconds) as client,
        client.stream(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            extensions={"sni_hostname": request.host},
            follow_redirects=False,
        ) as response,
    ):
        body, cut = await _body(response, limits.body)
        return {
            "status": response.status_code,
            "location": response.headers.get("location"),
            "content_type": response.headers.get("content-type"),
            "body": body.decode(_charset(response), "replace"),
            "truncated": cut,
        }


def _endpoint(url: httpx2.URL, text: str) -> Endpoint:
    """Return the endpoint as rules read it; refuse a URL the client would read differently."""
    endpoint = read_endpoint(text)
    if isinstance(endpoint, Unreadable):
        raise Execution(_NAME, f"the URL cannot be used: {endpoint.reason}")
    if url.scheme not in ("http", "https") or url.scheme != endpoint.scheme:
        raise Execution(_NAME, "only http and https URLs can be fetched")
    host = url.raw_host.decode("ascii").strip("[]").rstrip(".").lower()
    port = url.port or {"http": 80, "https": 443}[url.scheme]
    if (endpoint.address is None and host != endpoint.host) or port != endpoint.port:
        raise Execution(_NAME, "the URL is read differently by the policy and by the client")
    return endpoint


async def _addresses(endpoint: Endpoint, ctx: ExecutionContext) -> tuple[str, ...]:
    """Return the addresses to connect to: the judged ones, where the policy looked at any."""
    if endpoint.address is not None:
        return (str(endpoint.address),)
    judged = ctx.facts.resolvers.host
    found = None if judged is None else judged(endpoint.host)
    unresolved = isinstance(judged, JudgedHosts) and judged.judged(endpoint.host)
    if found is None and not unresolved:
        # No rule looked at addresses, so any will do; none was judged that this could differ from.
        found = await look_up_host(endpoint.host)
    if not found:
        raise Transport(_NAME, "the host name does not resolve")
    return found


async def _body(response: Any, most: int) -> tuple[bytes, bool]:
    kept = bytearray()
    async for chunk in response.aiter_bytes():
        room = most - len(kept)
        kept += chunk[:room]
        if len(chunk) > room:
            return bytes(kept), True
    return bytes(kept), False


def _charset(response: Any) -> str:
    charset = response.charset_encoding or "utf-8"
    try:
        "".encode(charset)
    except (LookupError, ValueError):
        return "utf-8"
    return str(charset)

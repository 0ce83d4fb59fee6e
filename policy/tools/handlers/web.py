"""`web_fetch`: one HTTP request to exactly the address that was judged.

A redirect is not followed here: it is returned as another call, which is judged like any other.
"""

from __future__ import annotations

import asyncio
import codecs
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from policy.model import Execution, Timeout, Transport
from policy.tools.handler import ExecutionContext
from policy.tools.handlers.limits import Limits
from policy.tools.handlers.native import Run
from policy.tools.handlers.web_address import WebAddress, addresses_of, read_web_address
from policy.tools.handlers.web_body import EncodingProblem, read_body
from policy.tools.handlers.web_redirect import next_call
from policy.tools.service import ToolOutput
from policy.values import Unreadable

if TYPE_CHECKING:
    import httpx2  # of the extra `web`, which may not be installed

_NAME = "web_fetch"
# The server's answer, or the call that it redirects to.
_Answer: TypeAlias = dict[str, Any] | ToolOutput
# Headers that decide where a request goes, or how it is framed, cannot be set by the caller.
_OWN_HEADERS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer"}
)
_ENCODINGS = "gzip, deflate"
# Codecs of Python that web pages do not use, some of them slow.
_NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})


def web_fetch(limits: Limits, *, tls: ssl.SSLContext | None = None) -> Run:
    """Return a function that fetches, keeping `limits.body` bytes of a body.

    `tls` has the trusted certificates, by default those that web browsers trust.
    """

    async def run(input: dict[str, Any], ctx: ExecutionContext) -> _Answer:
        try:
            import httpx2
        except ImportError as error:
            raise Execution(_NAME, "fetching needs the extra `web`: placet[web]") from error
        headers = dict(input.get("headers") or {})
        if any(name.strip().lower() in _OWN_HEADERS for name in headers):
            raise Execution(_NAME, "headers that frame or route the request cannot be set")
        address = read_web_address(input["url"])
        if isinstance(address, Unreadable):
            raise Execution(_NAME, address.reason)
        seconds = limits.web_seconds
        try:
            async with asyncio.timeout(seconds):
                found = await addresses_of(address.endpoint, ctx.facts.resolvers.host)
                if not found:
                    raise Transport(_NAME, "the host name does not resolve")
                fetching = _Fetching(
                    method=input.get("method") or "GET",
                    address=address,
                    headers={
                        "accept-encoding": _ENCODINGS,
                        **{name.lower(): value for name, value in headers.items()},
                        "host": address.authority,
                    },
                    limits=limits,
                    tls=tls or _usual_trust(),
                )
                return await fetching.first_answer(found, input)
        except (httpx2.TimeoutException, TimeoutError) as error:
            raise Timeout(
                _NAME, f"no answer within {seconds:g} seconds", seconds=seconds
            ) from error
        except EncodingProblem as error:
            raise Transport(_NAME, f"the body cannot be read: {error}") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise Transport(_NAME, f"the server cannot be used: {type(error).__name__}") from error

    return run


@cache
def _usual_trust() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context(trust_env=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetching:
    """One request, to the first of the judged addresses that can be connected to."""

    method: str
    address: WebAddress
    headers: Mapping[str, str]
    limits: Limits
    tls: ssl.SSLContext

    async def first_answer(self, found: tuple[str, ...], input: Mapping[str, Any]) -> _Answer:
        """Return the answer of the first address that can be connected to."""
        import httpx2

        *others, last = found
        for address in others:
            try:
                return await self._fetched(address, input)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._fetched(last, input)

    async def _fetched(self, address: str, input: Mapping[str, Any]) -> _Answer:
        import httpx2

        async with (
            # No proxies or credentials from the environment: they would connect elsewhere.
            httpx2.AsyncClient(
                trust_env=False, timeout=self.limits.web_seconds, verify=self.tls
            ) as client,
            client.stream(
                self.method,
                self.address.at(address),
                headers=dict(self.headers),
                # The name that the server's certificate must have.
                extensions={"sni_hostname": self.address.endpoint.host},
                follow_redirects=False,
            ) as response,
        ):
            return await self._output(response, input)

    async def _output(self, response: httpx2.Response, input: Mapping[str, Any]) -> _Answer:
        location = response.headers.get("location")
        summary = {
            "status": response.status_code,
            "url": self.address.text,
            "location": location,
            "content_type": response.headers.get("content-type"),
        }
        then = next_call(input, self.address.text, status=response.status_code, location=location)
        if then is not None:
            return ToolOutput(value={**summary, "body": "", "truncated": False}, then=then)
        body, cut = await read_body(
            response.aiter_raw(),
            response.headers.get("content-encoding", ""),
            most=self.limits.body,
        )
        text = body.decode(_charset(response.charset_encoding), "replace")
        return {**summary, "body": text, "truncated": cut}


def _charset(named: str | None) -> str:
    try:
        charset = codecs.lookup(named or "utf-8").name
        "".encode(charset)
    except (LookupError, ValueError):
        return "utf-8"
    return "utf-8" if charset in _NO_CHARSETS else charset

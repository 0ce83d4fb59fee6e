"""One HTTP request of code that has no network, over a connection that was judged for it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from policy.sandbox.network.connecting import Peer
from policy.sandbox.network.http_messages import end_to_end, with_host
from policy.sandbox.network.relaying import CHUNK
from policy.sandbox.network.target import Target

if TYPE_CHECKING:
    import h11  # by those who make requests

_HEAD = 32_768  # bytes of the header of an answer
# The body is sent as a whole, and the connection is used once.
_OURS = frozenset({b"content-length", b"transfer-encoding", b"expect"})


class NoAnswer(Exception):
    """A server did not answer as HTTP servers do; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request to `target`; `path` begins with `/` and may have a query."""

    target: Target
    path: str
    method: str = "GET"
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """An answer; the names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def answer_to(request: HttpRequest, peer: Peer, *, most: int) -> HttpAnswer:
    """Return the answer to a request, with at most `most` bytes of body; raise NoAnswer.

    The certificate of an `https` server must be for its name. A redirect is an answer like others.
    """
    import h11

    try:
        if request.target.scheme == "https":
            await peer.writer.start_tls(_trust(), server_hostname=request.target.host)
        http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD)
        for part in _parts(request):
            data = http.send(part)
            if data:
                peer.writer.write(data)
        await peer.writer.drain()
        return await _answer(http, peer, most=most)
    except h11.LocalProtocolError as error:
        raise NoAnswer(f"it is no request that can be sent: {error}") from error
    except h11.RemoteProtocolError as error:
        raise NoAnswer("the server does not answer in HTTP") from error
    except ssl.SSLCertVerificationError as error:
        raise NoAnswer(f"its certificate is not valid: {error.verify_message}") from error
    except OSError as error:
        raise NoAnswer("the server has closed the connection") from error


def _parts(request: HttpRequest) -> list[Any]:
    import h11

    given = [
        (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace"))
        for name, value in request.headers.items()
    ]
    headers = with_host(
        [(name, value) for name, value in end_to_end(given) if name not in _OURS], request.target
    )
    headers.append((b"connection", b"close"))
    if request.body or request.method not in ("GET", "HEAD"):
        headers.append((b"content-length", str(len(request.body)).encode()))
    asked = h11.Request(
        method=request.method.encode("latin-1", "replace"),
        target=request.path.encode("latin-1", "replace"),
        headers=headers,
    )
    return [asked, *([h11.Data(data=request.body)] if request.body else []), h11.EndOfMessage()]


async def _answer(http: h11.Connection, peer: Peer, *, most: int) -> HttpAnswer:
    import h11

    status, headers, body = 0, dict[str, str](), bytearray()
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            http.receive_data(await peer.reader.read(CHUNK))
        elif isinstance(event, h11.InformationalResponse):
            if event.status_code == 101:
                raise NoAnswer("the server wants to speak something else")
        elif isinstance(event, h11.Response):
            status = event.status_code
            for name, value in event.headers:
                key, text = name.decode("latin-1"), value.decode("latin-1")
                headers[key] = f"{headers[key]}, {text}" if key in headers else text
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > most:
                raise NoAnswer(f"its answer has more than {most:,} bytes")
        elif isinstance(event, h11.EndOfMessage):
            return HttpAnswer(status=status, headers=headers, body=bytes(body))
        else:
            raise NoAnswer("the server has closed the connection")


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()

"""What programs are told of the proxy: all of them that use one read some of these variables."""

from __future__ import annotations

from collections.abc import Mapping

from policy.sandbox.network.inside_listener import PORT
from policy.values import (
    Endpoint,
    HostPattern,
    Unreadable,
    host_in,
    is_localhost,
    read_address,
    read_host_pattern,
)

_PROXY = f"http://127.0.0.1:{PORT}"
# What listens inside the sandbox itself, such as the server of a test, is reached directly.
_DIRECTLY = ("localhost", "127.0.0.1", "::1")


def proxy_environment() -> Mapping[str, str]:
    """Return the variables; they replace those that the program would have had.

    `ALL_PROXY` is the same URL, since some clients fail to start without support for SOCKS.
    """
    named = {
        **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), _PROXY),
        "no_proxy": ",".join(_DIRECTLY),
    }
    # Node.js reads the others only where it is told to (22.21, 24.5 and later).
    return {**named, **{name.upper(): value for name, value in named.items()}, **_NODE}


def note_of_own_address(host: str) -> str | None:
    """Return what to know of a permitted host that names this machine; None for any other."""
    pattern = read_host_pattern(host)
    if isinstance(pattern, Unreadable):
        return None
    named = pattern.name is not None and is_localhost(pattern.name)
    if not named and not any(_covers(pattern, address) for address in _DIRECTLY):
        return None
    return (
        f"{host} is reached by programs that name the proxy {_PROXY}: `NO_PROXY` has this machine, "
        "for what listens in the sandbox"
    )


def _covers(pattern: HostPattern, address: str) -> bool:
    """Return whether an address is in the networks of a pattern."""
    read = read_address(address)
    if read is None or not pattern.networks:
        return False
    pattern = HostPattern(networks=pattern.networks)
    endpoint = Endpoint(scheme="http", host=address, port=80, path=None, address=read)
    return host_in(endpoint, (pattern,), (), None) is True


_NODE = {"NODE_USE_ENV_PROXY": "1"}

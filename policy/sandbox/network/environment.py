"""What programs are told of the proxy: all of them that use one read some of these variables."""

from __future__ import annotations

from collections.abc import Mapping

from policy.sandbox.network.inside_listener import PORT

_PROXY = f"http://127.0.0.1:{PORT}"
# What listens inside the sandbox itself, such as the server of a test, is reached directly.
_DIRECTLY = "localhost,127.0.0.1,::1"


def proxy_environment() -> Mapping[str, str]:
    """Return the variables; they replace those that the program would have had.

    `ALL_PROXY` is the same URL, since some clients fail to start without support for SOCKS.
    """
    named = {
        **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), _PROXY),
        "no_proxy": _DIRECTLY,
    }
    # Node.js reads the others only where it is told to (22.21, 24.5 and later).
    return {**named, **{name.upper(): value for name, value in named.items()}, **_NODE}


_NODE = {"NODE_USE_ENV_PROXY": "1"}

"""HTTP clients that read no certificates: there is nothing to be trusted where TLS is not spoken.

Reading those of the system takes 30 ms for each client.
"""

from __future__ import annotations

import ssl
from typing import Any

import httpx2

_TRUSTS_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def plain_client(**options: Any) -> httpx2.AsyncClient:
    """Return a client that connects by `http:` alone."""
    return httpx2.AsyncClient(verify=_TRUSTS_NOBODY, **options)

"""Bytes in, digests as `hashlib` makes them out.

Importing `hashlib` loads OpenSSL, which takes a quarter of the time that Python does to start, and
is the faster one from a few hundred thousand bytes on.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashlib import _Hash

__all__ = ["blake2b", "sha256"]

_LARGE = 250_000  # bytes


def _first_of(*modules: str, name: str) -> Any:
    """Return a function from the first of some modules that there is; the last is always there."""
    for module in modules[:-1]:
        try:
            return getattr(import_module(module), name)
        except ImportError:
            continue
    return getattr(import_module(modules[-1]), name)


# What `hashlib` itself has where there is no OpenSSL, by its names in one Python and the next.
blake2b = _first_of("_blake2", "hashlib", name="blake2b")
_sha256 = _first_of("_sha256", "_sha2", "hashlib", name="sha256")


def sha256(content: bytes | memoryview = b"", *, expected: int = 0) -> _Hash:
    """Return the digest of some bytes, to which others may be added: `expected` of them."""
    if "hashlib" in sys.modules or max(len(content), expected) > _LARGE:
        import hashlib

        return hashlib.sha256(content)
    made: _Hash = _sha256(content)
    return made

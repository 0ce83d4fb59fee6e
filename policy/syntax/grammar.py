"""Read the packaged grammar files.

This module and `tables` read packaged files, which are always the same; nothing else in the core
reads any.
"""

from __future__ import annotations

import posixpath
from functools import cache
from typing import Any, Literal

Start = Literal["header", "statement"]
STARTS: tuple[Start, ...] = ("header", "statement")

_FILES = ("policy.lark", "terminals.lark")


@cache
def grammar_text() -> str:
    """Return the grammar with its terminals, as Lark reads them."""
    # The loader of this module, so that a package in an archive is read from there; the functions
    # for packaged files import more than all the rest that reading a policy needs.
    loader: Any = __spec__.loader
    package = posixpath.dirname(posixpath.dirname(__file__))
    try:
        read = [loader.get_data(f"{package}/grammar/{name}") for name in _FILES]
    except OSError:
        # An editable install has the grammar where the repository keeps it.
        root = posixpath.dirname(package)
        read = [loader.get_data(f"{root}/grammar/{name}") for name in _FILES]
    return "\n".join(data.decode().replace("\r\n", "\n") for data in read)

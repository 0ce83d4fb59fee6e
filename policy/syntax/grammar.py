"""The grammar files -> their text, and what tells it from another's.

This is the one module of the core that reads a file: a packaged one, always the same.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Literal

Start = Literal["header", "statement"]
STARTS: tuple[Start, ...] = ("header", "statement")


@cache
def grammar_text() -> str:
    """Return the grammar with its terminals, as Lark reads them."""
    folder = _folder()
    return "\n".join(
        folder.joinpath(name).read_text("utf-8") for name in ("policy.lark", "terminals.lark")
    )


def digest(grammar: str) -> str:
    """Return what tells the text of one grammar from another's."""
    return hashlib.sha256(grammar.encode()).hexdigest()


def _folder() -> Traversable:
    package = files("policy")
    beside = package.joinpath("grammar")
    if beside.joinpath("policy.lark").is_file():
        return beside
    # An editable install has the grammar where the repository keeps it.
    return package.joinpath("..", "grammar")

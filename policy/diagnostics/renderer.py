"""Renders diagnostics in a format given by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, assert_never

from policy.diagnostics.diagnostic import Diagnostic, in_order
from policy.diagnostics.formats.json import to_json
from policy.diagnostics.formats.sarif import to_sarif
from policy.diagnostics.formats.text import to_text
from policy.model import Source

Format: TypeAlias = Literal["text", "json", "sarif"]

_NO_SOURCES: Mapping[str, Source] = MappingProxyType({})


def render(
    diagnostics: Iterable[Diagnostic],
    format: Format = "text",
    *,
    sources: Mapping[str, Source] = _NO_SOURCES,
    root: str = "",
) -> str:
    """Return the diagnostics in order, written out in a format, with a final newline.

    `sources` maps a file's name to its text, for the lines that `text` shows. `root` (`rules/`)
    goes before the names in `text` and `sarif`, which lead a reader from the working directory.
    """
    ordered = in_order(diagnostics)
    match format:
        case "text":
            return to_text(ordered, sources, root=root)
        case "json":
            return to_json(ordered)
        case "sarif":
            return to_sarif(ordered, root=root)
        case _:
            assert_never(format)

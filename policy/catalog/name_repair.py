"""Repairs a misspelled tool name of a model, if it can mean only one known tool.

Spellings differ in case, in separators and in style (`getMP3File` for `get_mp3_file`), and by one
slip of a letter. A name is repaired only if exactly one known tool matches. All later steps use the
repaired name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from policy.values import normalise

# Longer strings are not names: models sometimes write a paragraph there.
LONGEST = 256

ALIASES = {"bash": "bash_exec"}

# What models put around a name: quotes, the brackets of a call, the comma before its arguments.
_AROUND = " \t\r\n`'\",:;()"
_SEPARATORS = str.maketrans({".": "_", "-": "_", " ": "_"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairedName:
    """The name of a known tool, and how it was repaired; `how` is empty if it was not."""

    name: str
    how: str = ""


class NamedTools(Protocol):
    """The interface of a catalogue that name repair needs."""

    def get(self, flat_name: str) -> Any:
        """Return the tool of this name, or None."""
        ...

    def spelled(self, style: str, key: str) -> tuple[str, ...]:
        """Return the names whose spelling in `style`, one of `STYLES`, is `key`."""
        ...

    def slips(self, key: str) -> tuple[str, ...]:
        """Return the names whose spelling in snake_case is one slip of a letter from `key`."""
        ...


def snake_case(name: str) -> str:
    """Return `name` in snake_case, in NFC; digits stay with the letters before them."""
    text = normalise(name)
    parts: list[str] = []
    for i, char in enumerate(text):
        if i and char.isupper() and _starts_word(text, i):
            parts.append("_")
        parts.append(char)
    return normalise("".join(parts).lower())


def _starts_word(text: str, i: int) -> bool:
    before = text[i - 1]
    if before.islower() or before.isdecimal():
        return True
    return before.isupper() and i + 1 < len(text) and text[i + 1].islower()


def _folded(name: str) -> str:
    return normalise(normalise(name).lower())


def _joined(name: str) -> str:
    return _folded(name).strip(_AROUND).translate(_SEPARATORS)


def _snaked(name: str) -> str:
    return snake_case(name.strip(_AROUND).translate(_SEPARATORS))


# From strict to loose. Names equal in one style are equal in later ones, except those split by
# capitals only.
STYLES = {"case": _folded, "separators": _joined, "snake_case": _snaked}
LOOSEST = "snake_case"


def spellings(name: str) -> tuple[tuple[str, str], ...]:
    """Return a name's key in every style, as (style, key)."""
    return tuple((style, key(name)) for style, key in STYLES.items())


def repair_name(name: str, catalog: NamedTools) -> RepairedName | None:
    """Return the one tool `name` can mean; None if there is none or more than one."""
    if catalog.get(name) is not None:
        return RepairedName(name=name)
    if not name or len(name) > LONGEST:
        return None
    alias = ALIASES.get(name)
    if alias is not None and catalog.get(alias) is not None:
        return RepairedName(name=alias, how="alias")
    for style, key in spellings(name):
        found = catalog.spelled(style, key)
        if len(found) > 1:
            return None
        if found:
            # `filePath` equals `filepath` except for case, and `file_path` by its parts: ambiguous.
            loosest = catalog.spelled(LOOSEST, _snaked(name))
            is_meant = not loosest or found[0] in loosest
            return RepairedName(name=found[0], how=style) if is_meant else None
    slipped = catalog.slips(_snaked(name))
    return RepairedName(name=slipped[0], how="one letter") if len(slipped) == 1 else None

r"""Compiles a segment of a shell glob to a test of names.

A test may match more names than a shell would, never fewer: `[…]` matches any one character. A
backslash makes the character after it literal.
"""

from __future__ import annotations

from functools import lru_cache

from policy.values.globs import Test, compile_name_glob, escape_glob

# Any number of folders, as a recursive search visits them; no shell glob is spelled so.
ANY_DEPTH = "**/"


def step_text(step: str) -> str | None:
    """Return the one name that a segment stands for; None where it has a wildcard."""
    pieces: list[str] = []
    position = 0
    while position < len(step):
        char = step[position]
        if char == "\\" and position + 1 < len(step):
            position += 1
            char = step[position]
        elif char in "*?[":
            return None
        pieces.append(char)
        position += 1
    return "".join(pieces)


@lru_cache(maxsize=4096)
def compile_step(step: str, *, loose: bool = False) -> Test:
    """Return the test of a name; if `loose`, it also matches hidden names and other letter case."""
    matches = compile_name_glob(_as_glob(step.casefold() if loose else step))
    if loose:
        return lambda name: matches(name.casefold())
    if step.startswith((".", "\\.")):
        return matches
    return lambda name: not name.startswith(".") and matches(name)


def _as_glob(step: str) -> str:
    pieces: list[str] = []
    position = 0
    while position < len(step):
        char = step[position]
        if char == "\\" and position + 1 < len(step):
            position += 1
            pieces.append(escape_glob(step[position]))
        elif char in "*?":
            pieces.append(char)
        elif char == "[" and (end := set_end(step, position)) is not None:
            pieces.append("?")
            position = end
        else:
            pieces.append(escape_glob(char))
        position += 1
    return "".join(pieces)


def set_end(text: str, start: int) -> int | None:
    """Return the end of the bracket expression that begins at a `[`; None where it has no end."""
    position = start + 1
    if text[position : position + 1] in ("!", "^"):
        position += 1
    first = position
    while position < len(text):
        char = text[position]
        if char == "]" and position > first:
            return position
        if char == "[" and text[position + 1 : position + 2] in (":", ".", "="):
            closed = text.find(text[position + 1] + "]", position + 2)
            position = closed + 1 if closed > 0 else position
        elif char == "\\":
            position += 1
        position += 1
    return None

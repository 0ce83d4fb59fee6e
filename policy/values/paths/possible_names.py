r"""Tests whether a wildcard in a command may stand for a name that a floating pattern matches.

A `*` alone spells no part of a name: it stands for the folder, as a recursive listing would. `.e*`
spells a part of `.env`, and `*.pem` the ending of `**/*.pem`.
"""

from __future__ import annotations

import re

from policy.values.globs import compile_name_glob, literal_text, path_segments

_BEFORE = re.compile(r"(?:[^*?\\]|\\.)*", re.DOTALL)
_AFTER = re.compile(r"[^*?\\]*\Z")


def expansion_may_match(names: str, pattern: str) -> bool:
    """Return whether the glob `names` of a relative path may expand to a match of `pattern`."""
    wanted = path_segments(pattern)
    given = path_segments(names)
    asked = [segment for segment in wanted if segment != "**"]
    if not given or not asked:
        return False
    below = wanted[-1] == "**"
    return any(_may_be(one, asked[-1]) for one in (given if below else given[-1:]))


def _may_be(given: str, asked: str) -> bool:
    if not given.strip("*"):
        return False
    spelled = literal_text(given)
    if spelled is not None:
        return compile_name_glob(asked)(spelled)
    literal = literal_text(asked)
    if literal is not None:
        return compile_name_glob(given)(literal)
    return (
        _agree(_before(given), _before(asked), ends=False)
        or _agree(_after(given), _after(asked), ends=True)
        or _has_a_part(given, _after(asked))
    )


def _has_a_part(given: str, ending: str) -> bool:
    """Return whether some of the ending is spelled in the middle: the `.p` of `k*.p*`."""
    pieces = [piece for piece in re.split(r"[*?]", given)[1:] if len(piece) > 1]
    return any(ending.startswith(piece) for piece in pieces)


def _agree(one: str, other: str, *, ends: bool) -> bool:
    """Return whether both spell something here, one of them a part of the other."""
    if not one or not other:
        return False
    if ends:
        return one.endswith(other) or other.endswith(one)
    return one.startswith(other) or other.startswith(one)


def _before(glob: str) -> str:
    found = _BEFORE.match(glob)
    return re.sub(r"\\(.)", r"\1", found[0], flags=re.DOTALL) if found else ""


def _after(glob: str) -> str:
    found = _AFTER.search(glob)
    return found[0] if found else ""

"""The tests of searches like `find`: which names they exclude.

A found path is passed on only if all tests before the first action hold. A test of names that is
not simple is disregarded, and so are tests joined in any other way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from policy.model import Exclusions
from policy.programs.arguments.exclusions import is_portable_glob
from policy.programs.arguments.items import Item, OptionItem
from policy.programs.profiles.profile import UNTIL_THE_END

_ACTING = frozenset({"null-ended", "guarded", "write"}) | UNTIL_THE_END
_NAMES = frozenset("-name -iname -path -ipath -wholename -iwholename -regex -iregex".split())
# The path ends like this, with anything before.
_REGEX_ENDING = re.compile(r"(?:[^|]*[^|\\])?\\\.([A-Za-z0-9]+)")
_FOLDER = re.compile(r"\*/([^/]+)(/\*)?")


def search_exclusions(items: Sequence[Item]) -> Exclusions | None:
    """Return the names that a search does not pass on; None where there may be none."""
    tests = [each for each in items if isinstance(each, OptionItem)]
    acts = [place for place, each in enumerate(tests) if _acts(each)]
    if not acts or any(each.option is None or each.loose for each in tests):
        return None
    before, behind = tests[: acts[0]], tests[acts[0] :]
    if any(each.spelled in ("-o", "-or", ",", ")") for each in behind):
        return None
    if any(each.spelled == "," for each in before):
        return None
    terms = _last_branch(before)
    return None if terms is None else _left(terms)


def _acts(item: OptionItem) -> bool:
    return item.option is not None and (bool(item.words) or item.option.role in _ACTING)


def _last_branch(tests: Sequence[OptionItem]) -> list[list[OptionItem]] | None:
    """Return the terms of the last alternative outside brackets: each a test, or a bracket."""
    branches: list[list[list[OptionItem]]] = [[]]
    depth = 0
    for each in tests:
        spelled = each.spelled
        if depth:
            branches[-1][-1].append(each)
        elif spelled in ("-o", "-or"):
            branches.append([])
        else:
            branches[-1].append([each])
        depth += (spelled == "(") - (spelled == ")")
        if depth < 0:
            return None
    return branches[-1] if depth == 0 else None


def _left(terms: Sequence[list[OptionItem]]) -> Exclusions | None:
    kept: tuple[str, ...] | None = None
    files: list[str] = []
    folders: list[str] = []
    hidden = False
    negated = False
    for term in terms:
        spelled = term[0].spelled
        if spelled in ("!", "-not"):
            negated = not negated
            continue
        value = term[0].value
        text = value.text if value is not None and value.known else ""
        if negated and spelled == "-name" and is_portable_glob(text):
            files.append(text)
        elif negated and spelled in ("-path", "-wholename"):
            hidden = hidden or text == "*/.*"
            below = _FOLDER.fullmatch(text)
            if below is not None and is_portable_glob(below[1]):
                (folders if below[2] else files).append(below[1])
        elif not negated and kept is None:
            kept = _names(term)
        negated = False
    if not (kept or files or folders or hidden):
        return None
    return Exclusions(
        hidden=hidden,
        included=kept or (),
        all_others=kept is not None,
        files=tuple(files),
        folders=tuple(folders),
    )


def _name(spelled: str, text: str) -> str:
    """Return a glob of the names that a test of names or paths matches; empty if not known."""
    if spelled in ("-name", "-iname"):
        return text
    if spelled in ("-regex", "-iregex"):
        ending = _REGEX_ENDING.fullmatch(text)
        return f"*.{ending[1]}" if ending else ""
    # In paths a wildcard may match slashes too: only the part after the last one ends the name.
    wild = max(map(text.rfind, "*?]\\"))
    _, slash, name = text[wild + 1 :].rpartition("/")
    return name if slash or wild < 0 else f"*{name}"


def _names(term: list[OptionItem]) -> tuple[str, ...] | None:
    """Return the names that a test, or each alternative in brackets, matches; None if any."""
    inner = term[1:-1] if term[0].spelled == "(" else term
    found: list[str] = []
    named = False
    for each in inner:
        spelled = each.spelled
        if spelled in ("-o", "-or"):
            if not named:
                return None
            named = False
        elif spelled in ("(", ")", "!", "-not", ","):
            return None
        elif spelled in _NAMES and not named:
            value = each.value
            name = _name(spelled, value.text) if value is not None and value.known else ""
            if not is_portable_glob(name):
                return None
            found.append(name)
            named = True
    return tuple(found) if named else None

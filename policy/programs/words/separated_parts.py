"""Words that consist of parts: `src:dst` of git, `host:path`, `KEY=VALUE`, `-v folder:folder`.

A wildcard in a pattern stands for characters of one part: what separates two parts has to be
spelled in the pattern.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from policy.shell import Word
from policy.values import compile_name_glob

REFSPEC = "refspec"
# The words of a program without a profile: some are options or variables with their values.
SETTING = "setting"
_BRANCHES = "refs/heads/"


class _Form(NamedTuple):
    """What separates the parts: group 1 of each match, or of the first `most` matches.

    After a beginning that `settled` matches, no separator can follow.
    """

    separator: re.Pattern[str]
    most: int | None = None
    settled: re.Pattern[str] | None = None


_REFSPEC = _Form(re.compile(r"(\A[+^]|:)"))
_MAPPING = _Form(re.compile(r"([:,=])"))
_PAIR = _Form(re.compile(r"([:?+!]*=)"), 1, re.compile(r"[^=]*="))
# The host in front of `:` or `::` contains no slash.
_PLACE = _Form(re.compile(r"\A[^/:]*(::?)"), 1, re.compile(r"[^/:]*(?:/|::?[^:])"))
_SETTING = _Form(
    re.compile(r"\A(?:--?)?[A-Za-z_*?][A-Za-z0-9_.*?-]*(\+?=)"),
    1,
    re.compile(r"[^=]*(?:=|[^A-Za-z0-9_.=-])"),
)
_FORMS = {
    REFSPEC: _REFSPEC,
    SETTING: _SETTING,
    "mount": _MAPPING,
    "ports": _MAPPING,
    "place-read": _PLACE,
    "place-write": _PLACE,
    "remote": _PLACE,
    "source-remote": _PLACE,
    "clone-source": _PLACE,
    "fetch-source": _PLACE,
    "variable": _PAIR,
    "assignment": _PAIR,
    "target": _PAIR,
    "client-variable": _PAIR,
    "config": _PAIR,
    "config-or-read": _PAIR,
    "keyed-read": _PAIR,
    "keyed-read-tree": _PAIR,
    "keyed-write": _PAIR,
}


def has_parts(role: str) -> bool:
    """Return whether a word in this role may consist of parts."""
    return role in _FORMS


def matches_by_parts(role: str, given: Word, wanted: Word) -> bool:
    """Return whether a glob that matches a word does so with each wildcard within one part."""
    form = _FORMS[role]
    if not given.known:
        # What the shell puts in place of a variable may contain a separator.
        settled = given.number or (form.settled is not None and form.settled.match(given.text))
        separators = _split(form, given.text)[1::2]
        return bool(settled) and separators == _split(form, wanted.text)[1::2]
    parts, globs = _split(form, given.text), _split(form, wanted.text)
    return len(parts) == len(globs) and all(
        compile_name_glob(glob)(part) for part, glob in zip(parts, globs, strict=True)
    )


def destination(word: Word) -> Word | None:
    """Return the branch that a refspec writes, if it is spelled otherwise: `+refs/heads/main`."""
    if not word.known:
        return None
    name = word.text.rpartition(":")[2].removeprefix("+").removeprefix(_BRANCHES)
    return Word(name) if name and name != word.text else None


def _split(form: _Form, text: str) -> list[str]:
    """Return the parts of a text, and the separators between them."""
    found: list[str] = []
    end = 0
    for match in islice(form.separator.finditer(text), form.most):
        found += (text[end : match.start(1)], match[1])
        end = match.end(1)
    return [*found, text[end:]]

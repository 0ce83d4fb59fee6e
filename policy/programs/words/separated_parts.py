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
_TUNNEL = _Form(re.compile(r"(:)"))
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
    "tunnel": _TUNNEL,
}
_PLACES = frozenset(role for role, form in _FORMS.items() if form is _PLACE)
_HOSTS = _PLACES | {
    "host", "connect", "address", "fetched", "url", "user-at-host", "at-host", "database",
}  # fmt: skip
# The scheme, and what stands between it and the path: users and hosts. A `?` in a glob is no query.
_AUTHORITY = re.compile(r"([A-Za-z0-9+.*?-]*://)?([^/?#]*)(.?)", re.DOTALL)
_AUTHORITY_GLOB = re.compile(r"([A-Za-z0-9+.*?-]*://)?([^/#]*)(.?)", re.DOTALL)


def has_parts(role: str) -> bool:
    """Return whether a word in this role may consist of parts."""
    return role in _FORMS or role in _HOSTS


def matches_by_parts(role: str, given: Word, wanted: Word) -> bool:
    """Return whether a glob that matches a word does so with each wildcard within one part."""
    if role in _HOSTS and (role not in _PLACES or "://" in given.text):
        return _matches_by_host(given, wanted)
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


def _matches_by_host(given: Word, wanted: Word) -> bool:
    """Return whether the hosts of a word match the glob of the host: `build*` no `build@evil`."""
    told, asked = _AUTHORITY.match(given.text), _AUTHORITY_GLOB.match(wanted.text)
    assert told is not None
    assert asked is not None
    scheme, authority, end = told.groups(default="")
    wanted_scheme, glob = asked[1] or "", asked[2].rpartition("@")[2]
    start = wanted.text.partition("*")[0]
    if scheme and not wanted_scheme and start and scheme.startswith(start):
        return True  # `http*` asks for no host
    if not given.known and not end and not given.number:
        # What the shell puts in place of a variable may contain a `@`.
        return glob == "*"
    hosts = [authority] if "," in glob else authority.split(",")
    return all(compile_name_glob(glob)(host.rpartition("@")[2]) for host in hosts)


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

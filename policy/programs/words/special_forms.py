"""Words that select among names, or name a file in a special form.

Harmless values are listed; any other value may be harmful.
"""

from __future__ import annotations

import re

from policy.programs.embedded.embedded_program import (
    NOTHING,
    AccessedResource,
    ProgramEffects,
    unknown_effects,
)
from policy.shell import Word

_SOMETHING = ProgramEffects(accesses=(AccessedResource("reads", None),))
_FORMATS = frozenset(
    """
    json yaml wide name jsonpath jsonpath-as-json custom-columns go-template template kyaml
    """.split()
)
_TEMPLATED = frozenset({"jsonpath", "jsonpath-as-json", "custom-columns", "go-template"})
# `m` for `libm.so`, or a colon and the name of a file in one of the folders of libraries.
_LIBRARY = re.compile(r":?[A-Za-z0-9_+.-]*")
_NAME = re.compile(r"[A-Za-z0-9_]*(?:[+-][A-Za-z0-9_]+)*")
# Harmless variables of a client: others may run SQL or commands of the client.
_VARIABLE = re.compile(r"(?!PROMPT|HISTFILE|EDITOR)[A-Za-z_][A-Za-z0-9_]*(?:=[\w.,:/@+ -]*)?")
_FILTER = re.compile(
    r"!|(?:[-+HSPR]|include|exclude|hide|show|protect|risk)(?:,?[/!Csrpx]*)[ _].*|clear\b.*",
    re.DOTALL,
)
_MERGED = re.compile(r"(?:\.|merge)(?:,?[-+CenwsrpxS/!]*)[ _](.+)", re.DOTALL)
_MERGED_BELOW = re.compile(r"(?::|dir-merge)(?:,?[-+CenwsrpxS/!]*)[ _][^/]+", re.DOTALL)


def read_listing_format(word: Word) -> ProgramEffects:
    """Return the file of a format of kubectl: `go-template-file=a.txt`."""
    name, equals, given = word.text.partition("=")
    if equals and name in _TEMPLATED:
        return NOTHING
    if word.known and name in _FORMATS:
        return NOTHING
    if word.known and equals and name.endswith("file"):
        return ProgramEffects(accesses=(AccessedResource("reads", given),))
    return NOTHING if word.known and not word.text else _SOMETHING


def read_password_source(word: Word) -> ProgramEffects:
    """Return the file that a password of openssl is read from: `file:a.txt`."""
    kind, colon, rest = word.text.partition(":")
    if (colon and kind in ("pass", "env", "fd")) or (word.known and word.text == "stdin"):
        return NOTHING
    if word.known and kind == "file":
        return ProgramEffects(accesses=(AccessedResource("reads", rest),))
    return _SOMETHING


def read_clock(word: Word) -> ProgramEffects:
    """Return the effects of an operand of `date`: a format (`+…`), or a time for the clock."""
    return NOTHING if word.text.startswith("+") else unknown_effects("a time for the system clock")


def read_name_or_script(word: Word) -> ProgramEffects:
    """Return the effects of a format that is given by name or as a script."""
    if word.known and _NAME.fullmatch(word.text):
        return NOTHING
    named = word.text if word.known else None
    return ProgramEffects(
        accesses=(AccessedResource("reads", named),), gap="a script in place of a name"
    )


def read_name_or_file(word: Word) -> ProgramEffects:
    """Return the file that may be given in place of a name."""
    if word.known and _NAME.fullmatch(word.text):
        return NOTHING
    return ProgramEffects(accesses=(AccessedResource("reads", word.text if word.known else None),))


def read_library(word: Word) -> ProgramEffects:
    """Return the file that a name of a library leads to, if it is not one of a library folder."""
    return NOTHING if word.known and _LIBRARY.fullmatch(word.text) else _SOMETHING


def read_client_variable(word: Word) -> ProgramEffects:
    """Return the effects of a variable of psql, whose value is put into lines that it runs."""
    if word.known and _VARIABLE.fullmatch(word.text):
        return NOTHING
    return unknown_effects("a variable that may be a command of its own")


def read_filter_rule(word: Word) -> ProgramEffects:
    """Return the file that a rule of rsync names: `merge a.txt`."""
    if not word.known:
        return _SOMETHING
    if _FILTER.fullmatch(word.text) or _MERGED_BELOW.fullmatch(word.text):
        return NOTHING
    merged = _MERGED.fullmatch(word.text)
    return ProgramEffects(accesses=(AccessedResource("reads", merged[1] if merged else None),))


def read_page(word: Word) -> ProgramEffects:
    """Return the file in place of a page of the manual; it may include others."""
    if word.known and "/" not in word.text:
        return NOTHING
    named = (AccessedResource("reads", word.text),) if word.known else ()
    return ProgramEffects(accesses=(*named, *_SOMETHING.accesses))


def read_mailbox(word: Word) -> ProgramEffects:
    """Return the recipient of a message; `|command` and `/a/file` are not persons."""
    if not word.known or word.text.startswith("|"):
        gap = "" if word.text[:1] not in ("", "|") else "a recipient that may be a command"
        return ProgramEffects(
            accesses=(AccessedResource("sends", None), AccessedResource("writes", None)), gap=gap
        )
    if "/" in word.text or word.text.startswith("+"):
        return ProgramEffects(
            accesses=(AccessedResource("sends", word.text), AccessedResource("writes", None))
        )
    return ProgramEffects(accesses=(AccessedResource("sends", word.text),))

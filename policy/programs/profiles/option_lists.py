"""Lists of options in a profile file: `-b|--blanks -d`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from policy.programs.profiles.profile import MANY_WORDS, NUMBER, Option, Style, Takes
from policy.programs.profiles.roles import ROLES, WORDLESS, is_harmful_role
from policy.values import quote

_GNU = re.compile(r"-[^-\s|]|-[^-=\s|][^=\s|]+|--[^-=\s|][^=\s|]*")
_PLAIN = re.compile(r"[^=\s|]+")


@dataclass(frozen=True, slots=True)
class OptionListError:
    """Why a list or a role is not valid, and what to write instead."""

    message: str
    help: str = ""


# The spellings of an option, and its glued value if there is one (`?` any text, `#` digits).
Group: TypeAlias = tuple[tuple[str, ...], Takes | None]
# Marks after a role: `guarded` and `spelled` (whether a `*` covers the option), `last`.
_MARKS = frozenset({"guarded", "spelled", "last"})
_GLUED: dict[str, Takes] = {"?": "glued", "#": "number"}


def read_groups(text: str, style: Style) -> tuple[Group, ...] | OptionListError:
    """Return the options of a list."""
    groups = []
    for group in text.split():
        read = _read_group(group, style)
        if isinstance(read, OptionListError):
            return read
        groups.append(read)
    return tuple(groups)


def _read_group(group: str, style: Style) -> Group | OptionListError:
    parts = group.split("|")
    marks = {part[-1] for part in parts if len(part) > 2 and part[-1] in _GLUED}
    takes: Takes | None = _GLUED[marks.pop()] if len(marks) == 1 else None
    spellings = tuple(part[:-1] if len(part) > 2 and part[-1] in _GLUED else part for part in parts)
    for spelling in spellings:
        if not _is_spelling(spelling, style):
            return OptionListError(
                f"{quote(spelling)} is no option of the style `{style}`", _SPELLED[style]
            )
    return spellings, takes


_SPELLED = {
    "gnu": 'write `-x` or `--long`, or `-NUM`; `style = "words"` has options like `-name`',
    "posix": 'write `-x` or `--long`, or `-NUM`; `style = "words"` has options like `-name`',
    "words": "write whole words without `=`, blank or `|`",
    "listed": "write whole words without `=`, blank or `|`",
    "pairs": "write the names before the `=`",
}


def _is_spelling(spelling: str, style: Style) -> bool:
    if style in ("words", "listed", "pairs"):
        return _PLAIN.fullmatch(spelling) is not None
    return spelling == NUMBER or _GNU.fullmatch(spelling) is not None


def option(spellings: tuple[str, ...], *, takes: Takes, guarded: bool = False) -> Option:
    """Return an option without effects; or, if `guarded`, with unknown harmful ones."""
    return Option(
        name=spellings[-1],
        spellings=spellings,
        takes=takes,
        role="guarded" if guarded else "text",
        guarded=guarded,
        text="?" if guarded and takes == "nothing" else "",
    )


def read_option(
    spellings: tuple[str, ...], role: str, *, glued: Takes | None
) -> Option | OptionListError:
    """Return an option with an explicit role: `write`, `code last`, `flag read-tree .`."""
    words = role.split()
    flag = words[:1] == ["flag"]
    words = words[1:] if flag else words
    marks = {word for word in words[1:] if word in _MARKS}
    rest = [word for word in words[1:] if word not in marks]
    more = () if flag or glued else tuple(rest)
    name = words[0] if words else ""
    if flag and name in _MARKS:
        marks, name = {*marks, name}, "text"
    if name == "text" and not more and "guarded" in marks:
        # A guarded option without a role has unknown effects.
        name = "guarded"
    for role in (name, *more):
        wrong = _wrong_role(role, flag=flag)
        if wrong is not None:
            return wrong
    if glued and rest:
        return OptionListError(
            "an option with a glued value takes no further values", "leave out the other roles"
        )
    takes: Takes = "nothing" if flag else glued or "value"
    return Option(
        name=spellings[-1],
        spellings=spellings,
        takes=takes,
        role=name,
        guarded=bool(marks & {"guarded", "spelled"}) or any(map(is_harmful_role, (name, *more))),
        text=(" ".join(rest) or "?") if flag else "",
        more=more,
        last="last" in marks,
    )


def _wrong_role(name: str, *, flag: bool) -> OptionListError | None:
    if name not in ROLES:
        return OptionListError(
            f"{quote(name)} is not a role", f"roles are {', '.join(sorted(ROLES))}"
        )
    if flag and name in MANY_WORDS:
        return OptionListError(f"the role `{name}` takes words, so that the option is no flag")
    if flag:
        return None
    if name in WORDLESS:
        return OptionListError(f"`{name}` takes no value", f"write `flag {name}`")
    return None


def read_effect(text: str) -> tuple[str, str] | OptionListError:
    """Return the role and the text of an effect: `read-tree .`, `connect ?`."""
    role, _, what = text.strip().partition(" ")
    if role not in ROLES or role in MANY_WORDS:
        return OptionListError(
            f"{quote(role)} is not a role of an effect",
            "write a role and a text, or `?` where it is not known which: `connect ?`",
        )
    return role, what.strip() or "?"

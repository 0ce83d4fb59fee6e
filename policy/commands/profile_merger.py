"""What several files say of one program in; the `Profile` that they make together out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from policy.commands.profile import Option, Profile
from policy.commands.section import Section

_T = TypeVar("_T")


def profile_of(name: str, sections: Sequence[Section]) -> Profile:
    """Return the profile of a program; what a later section says goes before or is added."""
    return _profile(name, sections, above=MappingProxyType({}))


def _profile(name: str, sections: Sequence[Section], *, above: Mapping[str, Option]) -> Profile:
    options = dict(above)
    for section in sections:
        _override(options, section.options)
    everywhere = _last([section.everywhere for section in sections]) is True
    names = tuple(dict.fromkeys(each for section in sections for each in section.names))
    operands = _last([section.operands for section in sections])
    return Profile(
        name=name,
        names=names,
        style=_last([section.style for section in sections]) or "gnu",
        options=MappingProxyType(options),
        operands=operands or (),
        bare=tuple(pair for section in sections for pair in section.bare),
        always=tuple(pair for section in sections for pair in section.always),
        variants=tuple(variant for section in sections for variant in section.variants),
        means=MappingProxyType(
            {glob: means for section in sections for glob, means in section.means.items()}
        ),
        subcommands=_subcommands(sections, options if everywhere else {}),
        stdin=_last([section.stdin for section in sections]) or "text",
        bundled_first=_last([section.bundled_first for section in sections]) is True,
        unseen=_last([section.unseen for section in sections]) is True,
        free=_last([section.free for section in sections]) is True,
        hides=_last([section.hides for section in sections]) is True,
    )


def _subcommands(sections: Sequence[Section], above: Mapping[str, Option]) -> Mapping[str, Profile]:
    parts: dict[str, list[Section]] = {}
    for section in sections:
        style = section.style
        for name, sub in section.subcommands.items():
            inherited = sub if sub.style is not None else replace(sub, style=style)
            parts.setdefault(name, []).append(inherited)
    found: dict[str, Profile] = {}
    for name, subs in parts.items():
        profile = _profile(name, subs, above=above)
        found[name] = profile
        for alias in profile.names:
            found.setdefault(alias, profile)
    return MappingProxyType(found)


def _override(options: dict[str, Option], later: Mapping[str, Option]) -> None:
    """Put the later options in place of those of the same spelling."""
    for option in later.values():
        for spelling in option.spellings:
            options[spelling] = option


def _last(said: Sequence[_T | None]) -> _T | None:
    return next((one for one in reversed(said) if one is not None), None)

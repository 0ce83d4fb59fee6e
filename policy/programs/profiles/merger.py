"""Merges the declarations of several files about one program into its `Profile`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from policy.programs.profiles.lazy_mapping import LazyMapping
from policy.programs.profiles.profile import Follows, Implication, Links, Option, Profile, Variant
from policy.programs.profiles.section import Pairs, Section, inherited_style

_T = TypeVar("_T")
# Depth of subcommands that are `like` others, which are `like` others.
_DEEPEST = 4
_NO_SUBCOMMANDS: Mapping[str, Profile] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Above:
    """Values that a subcommand inherits from the enclosing program unless it sets its own."""

    options: Mapping[str, Option] = field(default_factory=dict)
    always: Pairs = ()
    settings: tuple[str, ...] = ()
    unseen: bool = False
    hides: bool = False
    everywhere: bool = False
    links: Links = "trees"
    links_at: tuple[str, ...] = ()
    follows_links: Follows = "always"
    sources: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    uses_folder: bool | None = None
    only_reads: bool = False


def profile_of(name: str, sections: Sequence[Section]) -> Profile:
    """Return the profile of a program; a later section overrides or extends earlier ones."""
    return _profile(name, sections, above=_Above())


def _profile(name: str, sections: Sequence[Section], *, above: _Above) -> Profile:
    options = dict(above.options)
    for section in sections:
        _override(options, section.options)
    plus = _last([section.plus for section in sections]) is True
    if plus:
        _override(options, _with_plus(options))
    everywhere = _last([above.everywhere, *(section.everywhere for section in sections)]) is True
    always = (*above.always, *(pair for section in sections for pair in section.always))
    settings = (*above.settings, *(one for section in sections for one in section.settings))
    unseen = _last([above.unseen, *(section.unseen for section in sections)]) is True
    hides = _last([above.hides, *(section.hides for section in sections)]) is True
    own = _last([section if section.links else None for section in sections])
    links: Links = above.links if own is None else own.links or above.links
    links_at = above.links_at if own is None else own.links_at
    follows: Follows = _last([one.follows_links for one in sections]) or above.follows_links
    uses_folder = _last([above.uses_folder, *(one.uses_folder for one in sections)])
    only_reads = _last([above.only_reads, *(one.only_reads for one in sections)]) is True
    sources = _last([above.sources, *(one.sources for one in sections)]) or ()
    skipped = _last([above.skipped, *(one.skipped for one in sections)]) or ()
    outputs = _last([above.outputs, *(one.outputs for one in sections)]) or ()
    inherited = _Above(
        options=options if everywhere else {},
        everywhere=everywhere,
        always=always,
        settings=settings,
        unseen=unseen,
        hides=hides,
        links=links,
        links_at=links_at,
        follows_links=follows,
        uses_folder=uses_folder,
        only_reads=only_reads,
        sources=sources,
        skipped=skipped,
        outputs=outputs,
    )
    names = tuple(dict.fromkeys(each for section in sections for each in section.names))
    operands = _last([section.operands for section in sections])
    return Profile(
        name=name,
        names=names,
        siblings=frozenset(
            name for section in sections for each in section.siblings for name in each
        ),
        style=_last([section.style for section in sections]) or "gnu",
        options=MappingProxyType(options),
        operands=operands or (),
        bare=tuple(pair for section in sections for pair in section.bare),
        always=always,
        variants=tuple(_variant(one, options) for part in sections for one in part.variants),
        means=MappingProxyType(
            {glob: _name(one, options) for part in sections for glob, one in part.means.items()}
        ),
        implies=tuple(_implication(one, options) for part in sections for one in part.implies),
        overrides=tuple(_implication(one, options) for part in sections for one in part.overrides),
        same=MappingProxyType({k: v for part in sections for k, v in part.same.items()}),
        alone=_name(next((each.alone for each in reversed(sections) if each.alone), ""), options),
        alone_unless=frozenset(
            _name(one, options) for section in sections for one in section.alone_unless
        ),
        subcommands=_subcommands(sections, inherited),
        settings=settings,
        stdin=_last([section.stdin for section in sections]) or "text",
        plus=plus,
        at_options=_last([section.at_options for section in sections]) is True,
        bundled_first=_last([section.bundled_first for section in sections]) is True,
        unseen=unseen,
        free=_last([section.free for section in sections]) is True,
        hides=hides,
        links=links,
        links_at=links_at,
        follows_links=follows,
        kept_links=_last([one.kept_links for one in sections]) or (),
        leaves_out=_last([one.leaves_out for one in sections]) or "nothing",
        whole_repository=_last([one.whole_repository for one in sections]) or "nothing",
        paths_with=frozenset(
            _name(one, options) for one in _last([each.paths_with for each in sections]) or ()
        ),
        passes_lines=_passes_lines(sections, options),
        uses_folder=uses_folder,
        sources=sources,
        skipped=skipped,
        outputs=outputs,
        prints_paths=_last([section.prints_paths for section in sections]) is True,
        only_reads=only_reads,
    )


def _subcommands(sections: Sequence[Section], above: _Above) -> Mapping[str, Profile]:
    models = [section.subcommands for section in sections]
    names = dict.fromkeys(name for own in models for name in own)
    if not names:
        return _NO_SUBCOMMANDS

    def parts(name: str) -> list[Section]:
        found: list[Section] = []
        for section in sections:
            sub = section.subcommands.get(name)
            if sub is not None:
                style = section.style
                own = sub if sub.style or not style else replace(sub, style=inherited_style(style))
                found += (*_models(sub, models), own)
        return found

    def others() -> Mapping[str, Profile]:
        found: dict[str, Profile] = {}
        for name in names:
            profile = subcommands[name]
            for alias in profile.names:
                found.setdefault(alias, profile)
            for sibling in (each for sub in parts(name) for each in sub.siblings):
                alike = replace(profile, name=sibling[0], names=sibling[1:])
                for alias in sibling:
                    found.setdefault(alias, alike)
        return found

    subcommands = LazyMapping(names, lambda name: _profile(name, parts(name), above=above), others)
    return subcommands


def _models(
    sub: Section, siblings: Sequence[Mapping[str, Section]], *, depth: int = 0
) -> tuple[Section, ...]:
    """Return the options of the subcommand that another is `like`."""
    found: tuple[Section, ...] = ()
    if sub.like is None or depth > _DEEPEST:
        return found
    for each in siblings:
        model = each.get(sub.like)
        if model is not None:
            found += _models(model, siblings, depth=depth + 1)
            own = Section(
                style=model.style,
                options=model.options,
                means=model.means,
                implies=model.implies,
                overrides=model.overrides,
            )
            found += (own,)
    return found


def _with_plus(options: Mapping[str, Option]) -> Mapping[str, Option]:
    """Return the one-letter options in their spelling with a `+`."""
    return {
        "+" + spelling[1]: replace(option, name="+" + spelling[1], spellings=("+" + spelling[1],))
        for spelling, option in options.items()
        if len(spelling) == 2 and spelling[0] == "-"
    }


def _variant(variant: Variant, options: Mapping[str, Option]) -> Variant:
    """Return a variant with options by their canonical names."""
    others = {
        _name(spelling, options): replace(
            options.get(spelling, other),
            role=other.role,
            text=other.text,
            more=other.more,
            guarded=other.guarded,
        )
        for spelling, other in variant.options.items()
    }
    return replace(
        variant,
        given=frozenset(_name(one, options) for one in variant.given),
        also=frozenset(_name(one, options) for one in variant.also),
        options=MappingProxyType(others),
    )


def _implication(one: Implication, options: Mapping[str, Option]) -> Implication:
    """Return an implication with options by their canonical names."""
    return Implication(
        given=tuple(replace(each, name=_name(each.name, options)) for each in one.given),
        implied=tuple(replace(each, name=_name(each.name, options)) for each in one.implied),
    )


def _passes_lines(
    sections: Sequence[Section], options: Mapping[str, Option]
) -> frozenset[str] | None:
    listed = _last([section.passes_lines for section in sections])
    return None if listed is None else frozenset(_name(one, options) for one in listed)


def _name(spelling: str, options: Mapping[str, Option]) -> str:
    """Return the canonical name of an option, with the value that is spelled with it."""
    option, sign, value = spelling.partition("=")
    known = options.get(option)
    return spelling if known is None else f"{known.name}{sign}{value}"


def _override(options: dict[str, Option], later: Mapping[str, Option]) -> None:
    """Replace options by later ones with the same spelling."""
    for option in later.values():
        for spelling in option.spellings:
            options[spelling] = option


def _last(said: Sequence[_T | None]) -> _T | None:
    return next((one for one in reversed(said) if one is not None), None)

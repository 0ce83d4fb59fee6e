"""Reads one table of a profile file, and records its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, get_args

from policy.programs.profiles.faults import Faults
from policy.programs.profiles.option_lists import (
    Group,
    OptionListError,
    option,
    read_effect,
    read_groups,
    read_option,
)
from policy.programs.profiles.profile import (
    Follows,
    Implication,
    Leaves,
    Links,
    Option,
    OptionMention,
    Style,
    Takes,
    Variant,
    WholeRepository,
)
from policy.programs.profiles.roles import ROLES, WORDLESS, bare_role, takes_many
from policy.values import quote

Pairs = tuple[tuple[str, str], ...]
Path = tuple[str, ...]

_DEEPEST = 5  # subcommands of subcommands
_STYLES: tuple[Style, ...] = get_args(Style)
_LINKS: tuple[Links, ...] = get_args(Links)
_FOLLOWS: tuple[Follows, ...] = get_args(Follows)
_LEAVES: tuple[Leaves, ...] = get_args(Leaves)
_WHOLE: tuple[WholeRepository, ...] = get_args(WholeRepository)
_NO_OPTIONS: Mapping[str, Option] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One table about a program or subcommand; None and empty where it sets nothing."""

    names: tuple[str, ...] = ()
    # Other programs with the same profile; for subcommands, each with its other names.
    siblings: tuple[tuple[str, ...], ...] = ()
    style: Style | None = None
    options: Mapping[str, Option] = field(default_factory=lambda: _NO_OPTIONS)
    operands: tuple[str, ...] | None = None
    bare: Pairs = ()
    always: Pairs = ()
    variants: tuple[Variant, ...] = ()
    means: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    implies: tuple[Implication, ...] = ()
    overrides: tuple[Implication, ...] = ()
    # Subcommands of subcommands that are others under another name.
    same: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    alone: str = ""
    alone_unless: frozenset[str] = frozenset()
    subcommands: Mapping[str, Section] = field(default_factory=lambda: MappingProxyType({}))
    settings: tuple[str, ...] = ()
    stdin: str | None = None
    like: str | None = None
    bundled_first: bool | None = None
    plus: bool | None = None
    at_options: bool | None = None
    unseen: bool | None = None
    free: bool | None = None
    hides: bool | None = None
    everywhere: bool | None = None
    uses_folder: bool | None = None
    prints_paths: bool | None = None
    only_reads: bool | None = None
    paths_with: tuple[str, ...] | None = None
    passes_lines: tuple[str, ...] | None = None
    follows_links: Follows | None = None
    kept_links: tuple[str, ...] | None = None
    leaves_out: Leaves | None = None
    whole_repository: WholeRepository | None = None
    links: Links | None = None
    links_at: tuple[str, ...] = ()
    sources: tuple[str, ...] | None = None
    skipped: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Here:
    """The position of a table in a file, and the style of the enclosing table."""

    faults: Faults
    path: Path
    style: Style

    def wrong(self, key: str, message: str, *, help: str = "") -> None:
        self.faults.add((*self.path, key) if key else self.path, message, help=help)


def read_section(
    table: Mapping[str, Any], faults: Faults, *, path: Path = (), style: Style = "gnu"
) -> Section:
    """Return the contents of a table, recording every mistake; top-level keys are skipped."""
    style = _style(table, _Here(faults=faults, path=path, style=style))
    here = _Here(faults=faults, path=path, style=style)
    for key in table:
        if key not in _KEYS and key != "sub":
            here.wrong(key, f"{quote(key)} is not a key of a profile", help=_KEYS_HELP)
    return Section(
        names=_texts(table, "names", here),
        siblings=_siblings(table, here),
        style=style if "style" in table else None,
        options=_options(table, here),
        operands=_operands(table, here) if "operands" in table else None,
        bare=_effects(table, "bare", here),
        always=_effects(table, "always", here),
        variants=_variants(table, here),
        means=_means(table, here),
        implies=_implies(table, "implies", here),
        overrides=_implies(table, "overrides", here),
        same=_same(table, here),
        alone=_text(table, "alone", here),
        alone_unless=_any_of(table, "alone_unless", here),
        subcommands=_subcommands(table, here),
        settings=tuple(_text(table, "settings", here).lower().split()),
        stdin=_stdin(table, here),
        like=_text(table, "like", here) or None,
        links=_links(table, here),
        links_at=_links_at(table, here),
        follows_links=_follows(table, here),
        kept_links=_file_names(table, "kept_links", here, paths=True),
        leaves_out=_leaves(table, here),
        whole_repository=_whole_repository(table, here),
        paths_with=_spellings(table, "paths_with", here),
        passes_lines=_spellings(table, "passes_lines", here),
        sources=_file_names(table, "sources", here),
        skipped=_file_names(table, "skipped", here),
        outputs=_file_names(table, "outputs", here, paths=True),
        **{key: _flag(table, key, here) for key in _FLAGS},
    )


def inherited_style(style: Style) -> Style:
    """Return the style of subcommands that do not set their own."""
    return "gnu" if style == "posix" else style


_FLAGS = (
    "bundled_first", "plus", "at_options", "unseen", "free", "hides", "everywhere", "uses_folder",
    "prints_paths", "only_reads",
)  # fmt: skip
_KEYS = (
    "names siblings style flags values operands bare always guarded settings like stdin options "
    "variant means alone alone_unless implies overrides links links_at follows_links kept_links "
    "leaves_out whole_repository sources skipped outputs paths_with passes_lines same "
    + " ".join(_FLAGS)
).split()
_KEYS_HELP = f"keys are {', '.join(_KEYS)}, replace, [sub.NAME] and [[examples]]"
_VARIANT_KEYS = tuple(
    (
        "given also options operands bare always unseen hides stdin links links_at follows_links"
        " kept_links leaves_out whole_repository"
    ).split()
)


def _siblings(table: Mapping[str, Any], here: _Here) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(each.split("|")) for each in _texts(table, "siblings", here))


def _style(table: Mapping[str, Any], here: _Here) -> Style:
    if "style" not in table:
        return here.style
    for style in _STYLES:
        if table["style"] == style:
            return style
    here.wrong("style", "this is not a style", help=f"styles are {', '.join(_STYLES)}")
    return here.style


def _options(table: Mapping[str, Any], here: _Here) -> Mapping[str, Option]:
    found: dict[str, Option] = {}

    def keep(new: Option, key: str, *path: str) -> None:
        for spelling in new.spellings:
            if spelling in found:
                inner = _Here(faults=here.faults, path=(*here.path, *path), style=here.style)
                inner.wrong(key, f"the option {quote(spelling)} is defined twice")
            found[spelling] = new

    for key in ("flags", "values", "guarded"):
        for spellings, glued in _groups(_text(table, key, here), key, here):
            takes: Takes = "value" if key == "values" else "nothing"
            keep(option(spellings, takes=glued or takes, guarded=key == "guarded"), key)
    for key, role in _table(table, "options", here).items():
        inner = _Here(faults=here.faults, path=(*here.path, "options"), style=here.style)
        for new in _option(key, role, inner):
            keep(new, key, "options")
    return MappingProxyType(found)


def _option(key: str, role: object, here: _Here) -> list[Option]:
    if not isinstance(role, str):
        here.wrong(key, "the role of an option must be a string")
        return []
    found = []
    for spellings, glued in _groups(key, key, here):
        new = read_option(spellings, role, glued=glued)
        if isinstance(new, OptionListError):
            here.wrong(key, new.message, help=new.help)
        else:
            found.append(new)
    return found


def _groups(text: str, key: str, here: _Here) -> tuple[Group, ...]:
    groups = read_groups(text, here.style)
    if isinstance(groups, OptionListError):
        here.wrong(key, groups.message, help=groups.help)
        return ()
    return groups


def _operands(table: Mapping[str, Any], here: _Here) -> tuple[str, ...]:
    roles = tuple(_text(table, "operands", here).split())
    for role in roles:
        plain = bare_role(role)
        if plain not in ROLES or plain in WORDLESS:
            here.wrong(
                "operands",
                f"{quote(role)} is not a role",
                help=f"roles: {', '.join(sorted(ROLES))}",
            )
            return ()
    if sum(map(takes_many, roles)) > 1:
        here.wrong("operands", "only one role can take any number of operands")
        return ()
    return roles


def _effects(table: Mapping[str, Any], key: str, here: _Here) -> Pairs:
    return _each(_texts(table, key, here), read_effect, key, here)


def _each(
    texts: tuple[str, ...], read: Callable[[str], Any], key: str, here: _Here
) -> tuple[Any, ...]:
    found = []
    for text in texts:
        one = read(text)
        if isinstance(one, OptionListError):
            here.wrong(key, one.message, help=one.help)
        else:
            found.append(one)
    return tuple(found)


def _stdin(table: Mapping[str, Any], here: _Here) -> str | None:
    role = _text(table, "stdin", here)
    if role and role not in ROLES:
        here.wrong("stdin", f"{quote(role)} is not a role", help="such as `command`, `code`, `sql`")
        return None
    return role or None


def _variants(table: Mapping[str, Any], here: _Here) -> tuple[Variant, ...]:
    found = []
    listed = table.get("variant", [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        here.wrong("variant", "variants must be tables", help="write `[[variant]]`")
        return ()
    inner = _Here(faults=here.faults, path=(*here.path, "variant"), style=here.style)
    for one in listed:
        for key in one:
            if key not in _VARIANT_KEYS:
                inner.wrong(
                    key,
                    f"{quote(key)} is not a key of a variant",
                    help=f"keys are {', '.join(_VARIANT_KEYS)}",
                )
        given = _any_of(one, "given", inner)
        if not given:
            inner.wrong(
                "", "a variant needs the options with which it applies", help='given = "-e|-f"'
            )
        found.append(_variant(one, given, here=inner))
    return tuple(found)


def _any_of(one: Mapping[str, Any], key: str, here: _Here) -> frozenset[str]:
    return frozenset(_text(one, key, here).replace("|", " ").split())


def _variant(one: Mapping[str, Any], given: frozenset[str], *, here: _Here) -> Variant:
    return Variant(
        given=given,
        also=_any_of(one, "also", here),
        options=_options({"options": _table(one, "options", here)}, here),
        operands=_operands(one, here) if "operands" in one else None,
        bare=_effects(one, "bare", here) if "bare" in one else None,
        always=_effects(one, "always", here) if "always" in one else None,
        unseen=_flag(one, "unseen", here),
        hides=_flag(one, "hides", here),
        stdin=_stdin(one, here),
        links=_links(one, here),
        links_at=_links_at(one, here),
        follows_links=_follows(one, here),
        kept_links=_file_names(one, "kept_links", here, paths=True) or (),
        leaves_out=_leaves(one, here),
        whole_repository=_whole_repository(one, here),
    )


def _links(table: Mapping[str, Any], here: _Here) -> Links | None:
    if "links" not in table:
        return None
    for links in _LINKS:
        if table["links"] == links:
            return links
    here.wrong(
        "links", "`links` is not one of the known words", help=f"such as {', '.join(_LINKS)}"
    )
    return None


def _links_at(table: Mapping[str, Any], here: _Here) -> tuple[str, ...]:
    globs = tuple(_text(table, "links_at", here).split())
    if globs and table.get("links") != "below":
        here.wrong("links_at", '`links_at` goes with `links = "below"`')
    if any(glob.startswith("/") or ".." in glob.split("/") for glob in globs):
        here.wrong("links_at", "`links_at` has globs of paths below what is written")
    return globs


def _spellings(table: Mapping[str, Any], key: str, here: _Here) -> tuple[str, ...] | None:
    """Return the spellings of options; None where the table has none."""
    return tuple(_text(table, key, here).split()) if key in table else None


def _file_names(
    table: Mapping[str, Any], key: str, here: _Here, *, paths: bool = False
) -> tuple[str, ...] | None:
    """Return globs of names, or of relative paths; None where the table has none."""
    if key not in table:
        return None
    globs = tuple(_text(table, key, here).split())
    if not paths and any("/" in glob for glob in globs):
        here.wrong(key, f"`{key}` has globs of names, without `/`")
    if any(glob.startswith("/") or ".." in glob.split("/") for glob in globs):
        here.wrong(key, f"`{key}` has globs of paths below what is written")
    return globs


def _follows(table: Mapping[str, Any], here: _Here) -> Follows | None:
    if "follows_links" not in table:
        return None
    for follows in _FOLLOWS:
        if table["follows_links"] == follows:
            return follows
    message = "`follows_links` is not one of the known words"
    here.wrong("follows_links", message, help=f"such as {', '.join(_FOLLOWS)}")
    return None


def _leaves(table: Mapping[str, Any], here: _Here) -> Leaves | None:
    if "leaves_out" not in table:
        return None
    for leaves in _LEAVES:
        if table["leaves_out"] == leaves:
            return leaves
    message = "`leaves_out` is not one of the known words"
    here.wrong("leaves_out", message, help=f"such as {', '.join(_LEAVES)}")
    return None


def _whole_repository(table: Mapping[str, Any], here: _Here) -> WholeRepository | None:
    if "whole_repository" not in table:
        return None
    for verb in _WHOLE:
        if table["whole_repository"] == verb:
            return verb
    message = "`whole_repository` is not one of the known words"
    here.wrong("whole_repository", message, help=f"such as {', '.join(_WHOLE)}")
    return None


def _means(table: Mapping[str, Any], here: _Here) -> Mapping[str, str]:
    found = {}
    for glob, name in _table(table, "means", here).items():
        if isinstance(name, str) and name:
            found[glob] = name
        else:
            here.wrong(
                "means", "a value of `means` must be an option", help='such as "+*" = "--force"'
            )
    return MappingProxyType(found)


_COUNTS = frozenset("123456789")


def _implies(table: Mapping[str, Any], key: str, here: _Here) -> tuple[Implication, ...]:
    found = []
    for given, others in _table(table, key, here).items():
        implied = _mentions(others) if isinstance(others, str) else ()
        if _mentions(given) and implied and all(one.times for one in implied):
            found.append(Implication(given=_mentions(given), implied=implied))
        else:
            here.wrong(
                key,
                f"a value of `{key}` must be options",
                help='such as "-D" = "-d -f"; a count is a number (`-q*2`), and `!` stands on the '
                "left alone",
            )
    return tuple(found)


def _mentions(options: str) -> tuple[OptionMention, ...]:
    """Return options with values and counts, `-a -d=recurse -u*2 !-X`; none if one is not valid."""
    found = []
    for text in options.split():
        spelled, _, value = text.partition("=")
        name, star, times = spelled.removeprefix("!").partition("*")
        if not name or (star and (text.startswith("!") or times not in _COUNTS)):
            return ()
        count = 0 if text.startswith("!") else int(times) if star else 1
        found.append(OptionMention(name=name, value=value, times=count))
    return tuple(found)


def _same(table: Mapping[str, Any], here: _Here) -> Mapping[str, str]:
    found = {}
    for words, others in _table(table, "same", here).items():
        if isinstance(others, str) and others.split() and words.split():
            found[" ".join(words.split())] = " ".join(others.split())
        else:
            here.wrong(
                "same", "a value of `same` must be a subcommand", help='such as "image rm" = "rmi"'
            )
    return MappingProxyType(found)


def _subcommands(table: Mapping[str, Any], here: _Here) -> Mapping[str, Section]:
    found = {}
    for name, sub in _table(table, "sub", here).items():
        path = (*here.path, "sub", name)
        if not isinstance(sub, dict) or len(path) > 2 * _DEEPEST:
            here.faults.add(path, "a subcommand must be a table, nested at most five deep")
            continue
        found[name] = read_section(sub, here.faults, path=path, style=inherited_style(here.style))
        if found[name].like and found[name].like not in _table(table, "sub", here):
            here.faults.add((*path, "like"), f"there is no subcommand {quote(sub['like'])} here")
    return MappingProxyType(found)


def _text(table: Mapping[str, Any], key: str, here: _Here) -> str:
    value = table.get(key, "")
    if isinstance(value, str):
        return value
    here.wrong(key, f"`{key}` must be a string")
    return ""


def _texts(table: Mapping[str, Any], key: str, here: _Here) -> tuple[str, ...]:
    value = table.get(key, [])
    if isinstance(value, list) and all(isinstance(one, str) and one for one in value):
        return tuple(value)
    here.wrong(key, f"`{key}` must be a list of strings")
    return ()


def _table(table: Mapping[str, Any], key: str, here: _Here) -> Mapping[str, Any]:
    value = table.get(key, {})
    if isinstance(value, dict):
        return value
    here.wrong(key, f"`{key}` must be a table")
    return {}


def _flag(table: Mapping[str, Any], key: str, here: _Here) -> bool | None:
    value = table.get(key)
    if value is None or isinstance(value, bool):
        return value
    here.wrong(key, f"`{key}` must be true or false")
    return None

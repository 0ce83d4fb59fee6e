"""`Catalog`: the one set of tools that policies, admission and the service share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from policy.catalog.name_prefixes import NamePrefixes
from policy.catalog.name_repair import LOOSEST, spellings
from policy.catalog.pattern import ToolSelector
from policy.catalog.schemas.view import SchemaViews
from policy.catalog.tool import VERSION_MARK, Origin, ToolSpec, full_name
from policy.diagnostics import one_edit_from

# How many selectors are cached with the tools they match.
_MOST_MATCHING = 50_000

_VERSIONED = re.compile(rf".+{VERSION_MARK}[0-9]+", re.S)


class CatalogError(Exception):
    """Tools that cannot be in one catalogue; the message names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """The known tools. `complete` is whether there are no others.

    A flat name belongs to exactly one origin, which the name determines: otherwise a server could
    register a tool that a rule takes for another server's. Versions of one tool coexist under their
    full names; the shared name means the newest.
    """

    specs: tuple[ToolSpec, ...] = ()
    complete: bool = False
    _by_name: Mapping[str, ToolSpec] = field(init=False, repr=False, compare=False)
    _versions: Mapping[str, tuple[ToolSpec, ...]] = field(init=False, repr=False, compare=False)
    _spelled: Mapping[tuple[str, str], tuple[str, ...]] | None = field(
        default=None, init=False, repr=False, compare=False
    )
    _matching: dict[ToolSelector, tuple[ToolSpec, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _beginnings: NamePrefixes = field(init=False, repr=False, compare=False)
    _views: SchemaViews = field(default_factory=SchemaViews, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_name: dict[str, ToolSpec] = {}
        for spec in self.specs:
            _require_sound(spec)
            other = by_name.get(spec.name)
            if other is not None:
                raise CatalogError(
                    f"two tools are called `{spec.name}`: one of {owner(other.origin)}, "
                    f"one of {owner(spec.origin)}"
                )
            by_name[spec.name] = spec
        versions = _versions(self.specs, by_name)
        by_name |= {base: specs[-1] for base, specs in versions.items()}
        object.__setattr__(self, "_by_name", MappingProxyType(by_name))
        object.__setattr__(self, "_versions", MappingProxyType(versions))
        object.__setattr__(self, "_beginnings", NamePrefixes(self.specs))

    def get(self, flat_name: str) -> ToolSpec | None:
        """Return the tool agents call by this very name: the newest of several versions."""
        return self._by_name.get(flat_name)

    def answering(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        """Return the tools that answer to one of these names, each once, ordered by name.

        To the name that versions share, all of them do.
        """
        found: dict[str, ToolSpec] = {}
        for name in names:
            spec = self._by_name.get(name)
            if spec is not None:
                found |= {one.name: one for one in self._versions.get(name, (spec,))}
        return tuple(found[name] for name in sorted(found))

    def matching(self, selector: ToolSelector) -> tuple[ToolSpec, ...]:
        """Return the tools that a selector matches, in the order of the catalogue or by name.

        Results are cached, because every build over this catalogue needs the same ones.
        """
        found = self._matching.get(selector)
        if found is None:
            names = selector.exact_names()
            if names is not None:
                candidates = self.answering(names)
            else:
                candidates = self._beginnings.of(selector.beginnings())
            found = tuple(spec for spec in candidates if selector.matches(spec))
            if len(self._matching) >= _MOST_MATCHING:
                self._matching.clear()
            self._matching[selector] = found
        return found

    def beginning(self, text: str) -> tuple[ToolSpec, ...]:
        """Return the tools whose full name begins with a text, in the order of the catalogue."""
        return self._beginnings.of((text,))

    @property
    def views(self) -> SchemaViews:
        """The views of the tools' schemas, which cache their answers."""
        return self._views

    def is_settled(self, name: str) -> bool:
        """Return whether exactly one tool answers to this name, whatever tools are added later."""
        spec = self._by_name.get(name)
        return spec is not None and spec.name == name

    def spelled(self, style: str, key: str) -> tuple[str, ...]:
        """Return the names whose spelling in `style` is `key`; see `names.STYLES`."""
        return self._spellings.get((style, key), ())

    def slips(self, key: str) -> tuple[str, ...]:
        """Return the names whose spelling in the loosest style is one slip from `key`, sorted."""
        loosest = [spelled for style, spelled in self._spellings if style == LOOSEST]
        near = one_edit_from(key, loosest)
        found = (name for each in near for name in self.spelled(LOOSEST, each))
        return tuple(sorted(found))

    @property
    def _spellings(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """The names by style and spelling, computed for the first unknown name."""
        if self._spelled is None:
            spelled: dict[tuple[str, str], tuple[str, ...]] = {}
            for name in self._by_name:
                for key in spellings(name):
                    spelled[key] = (*spelled.get(key, ()), name)
            object.__setattr__(self, "_spelled", spelled)
            return spelled
        return self._spelled

    def find(self, origin: str, path: str) -> ToolSpec | None:
        """Return the tool of origin `mcp`, `ext` or `host` at `SERVER/TOOL` (host: `TOOL`).

        `TOOL` may end in a version; without it, the newest is meant.
        """
        server, slash, tool = path.partition("/") if origin != "host" else ("", "/", path)
        for spec in self.specs:
            place = (spec.origin.kind, spec.origin.server)
            if slash and place == (origin, server) and tool in spec.names_at_origin:
                return spec if tool != spec.origin.tool else self._by_name[spec.base]
        return None

    def with_tools(self, specs: Iterable[ToolSpec], *, converting: bool = False) -> Catalog:
        """Return a catalogue with these tools, which replace those of the same origin and version.

        `converting` lets versions of a tool replace one without a version, and the other way
        round. Raises CatalogError where a flat name would belong to two origins, or stands twice
        in `specs`, and where a tool without a version would stand beside versions of it.
        """
        added = tuple(specs)
        replaced = {(spec.origin, spec.version) for spec in added}
        if converting:
            replaced |= {(spec.origin, None) for spec in added if spec.version is not None}
        plain = {spec.origin for spec in added if converting and spec.version is None}
        kept = tuple(
            spec
            for spec in self.specs
            if (spec.origin, spec.version) not in replaced and spec.origin not in plain
        )
        return Catalog(specs=kept + added, complete=self.complete)

    @property
    def names(self) -> tuple[str, ...]:
        """The flat names of all tools, in the order of the catalogue, then the shared ones."""
        return tuple(self._by_name)

    @property
    def categories(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the tools of each category; tools without one are left out."""
        found: dict[str, tuple[str, ...]] = {}
        for spec in self.specs:
            if spec.category is not None:
                found[spec.category] = (*found.get(spec.category, ()), spec.name)
        return MappingProxyType(found)

    @property
    def servers(self) -> frozenset[str]:
        """The identifiers of the MCP servers that have tools here."""
        return frozenset(s.origin.server for s in self.specs if s.origin.kind == "mcp")

    @property
    def plugins(self) -> frozenset[str]:
        """The identifiers of the extensions that have tools here."""
        return frozenset(s.origin.server for s in self.specs if s.origin.kind == "ext")


def owner(origin: Origin) -> str:
    """Return the name of the origin for people."""
    if origin.kind == "host":
        return "the host"
    kind = "the server" if origin.kind == "mcp" else "the extension"
    return f"{kind} `{origin.server}`"


def identifier_problem(origin: Origin) -> str | None:
    """Return why a server or extension cannot have this identifier; None if it can."""
    if origin.kind == "host":
        return None
    server = origin.server
    if not server:
        return "a server or extension without an identifier"
    if "__" in server:
        return f"`{server}` contains `__`, which separates a server from its tool"
    if origin.kind == "mcp" and server == "ext":
        return "`ext` is reserved as the prefix of extension names"
    if any(char in "/\\*?" or char.isspace() or not char.isprintable() for char in server):
        return f"{server!a} contains white space, a control character, or one of `/ \\ * ?`"
    return None


def _require_sound(spec: ToolSpec) -> None:
    problem = identifier_problem(spec.origin)
    if problem is not None:
        raise CatalogError(f"{owner(spec.origin)} cannot have tools here: {problem}")
    flat, version = spec.origin.flat_name(), spec.version
    if version is not None and (isinstance(version, bool) or version < 1):
        raise CatalogError(f"the version of `{flat}` must be a whole number from 1 on")
    tool = spec.origin.tool
    if spec.origin.kind == "host" and VERSION_MARK in tool and _VERSIONED.fullmatch(tool):
        raise CatalogError(
            f"the host application cannot call a tool `{flat}`: `{VERSION_MARK}` and a number "
            "stand for its "
            "version, which is declared beside the name"
        )
    expected = full_name(flat, version)
    if not spec.origin.tool or spec.name != expected:
        raise CatalogError(
            f"the tool `{spec.name}` of {owner(spec.origin)} must be called `{expected}`"
        )


def _versions(
    specs: Iterable[ToolSpec], by_name: Mapping[str, ToolSpec]
) -> dict[str, tuple[ToolSpec, ...]]:
    """Return the versions of each tool that has some, the oldest first, by their shared name."""
    found: dict[str, tuple[ToolSpec, ...]] = {}
    for spec in sorted(specs, key=lambda spec: spec.version or 0):
        if spec.version is None:
            continue
        others = found.get(spec.base, ())
        if others and others[0].origin != spec.origin:
            raise CatalogError(
                f"two tools are called `{spec.base}`: one of {owner(others[0].origin)}, "
                f"one of {owner(spec.origin)}"
            )
        if spec.base in by_name:
            raise CatalogError(
                f"a tool called `{spec.base}` without a version cannot coexist with `{spec.name}`"
            )
        found[spec.base] = (*others, spec)
    return found

"""`Confinement`: what the code that a call starts may touch, drawn from the rules that allow it.

Pure data, as it is shown to people and recorded. `policy.values` judges single paths and hosts by
it, and recognises sets that are plain folders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

# The effects of code that a sandbox can bound.
ConfinedVerb: TypeAlias = Literal["reads", "writes", "connects"]
CONFINED_VERBS: Final[tuple[ConfinedVerb, ...]] = ("reads", "writes", "connects")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSet:
    """The resources that some included item covers, and no excluded one.

    Paths are globs, absolute or beginning with `**/`: `~`, the workspace and relative items are
    spelled out. Hosts are patterns as rules spell them.
    """

    included: tuple[ResourceItem, ...]
    excluded: tuple[ResourceItem, ...] = ()


ResourceItem: TypeAlias = str | ResourceSet


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedResources:
    """The resources that a condition of a rule names; `rule` is the rule's name."""

    rule: str
    resources: ResourceSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The bound of one verb.

    A resource is inside if each union of `within` covers it by one of its sets (an empty union
    covers nothing), and none in `without` does. There is a union for each layer, and each caller of
    the chain, whose rules set a limit; `without` is what rules that deny or ask name.
    """

    within: tuple[tuple[NamedResources, ...], ...] = ()
    without: tuple[NamedResources, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether it is certain that no resource is inside."""
        return any(not any(one.resources.included for one in union) for union in self.within)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What the code that a call starts may read, write and connect to.

    None: no rule bounds the verb. `relied_on` are the verbs of which a rule allows the call only
    because the sandbox keeps the code within their bound.
    """

    reads: Bound | None = None
    writes: Bound | None = None
    connects: Bound | None = None
    relied_on: tuple[ConfinedVerb, ...] = ()

    def bound(self, verb: ConfinedVerb) -> Bound | None:
        """Return the bound of a verb."""
        match verb:
            case "reads":
                return self.reads
            case "writes":
                return self.writes
            case "connects":
                return self.connects

    def bounds(self) -> Iterator[tuple[ConfinedVerb, Bound]]:
        """Yield each verb that is bounded, with its bound."""
        for verb in CONFINED_VERBS:
            bound = self.bound(verb)
            if bound is not None:
                yield verb, bound

    def as_json(self, *, most: int | None = None) -> dict[str, Any]:
        """Return the confinement for records and for people; a verb that is not bounded is null.

        Of longer lists of items, the first `most` are listed and the `more` counted.
        """
        shown: dict[str, Any] = dict.fromkeys(CONFINED_VERBS)
        for verb, bound in self.bounds():
            shown[verb] = {
                "within": [[_named_json(one, most) for one in union] for union in bound.within],
                "without": [_named_json(one, most) for one in bound.without],
            }
        return {**shown, "relied_on": list(self.relied_on)}


def _named_json(named: NamedResources, most: int | None) -> dict[str, Any]:
    return {"rule": named.rule, **_set_json(named.resources, most)}


def _set_json(resources: ResourceSet, most: int | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"items": [_item_json(one, most) for one in resources.included[:most]]}
    if most is not None and len(resources.included) > most:
        shown["more"] = len(resources.included) - most
    if resources.excluded:
        shown["except"] = [_item_json(one, most) for one in resources.excluded[:most]]
        if most is not None and len(resources.excluded) > most:
            shown["except_more"] = len(resources.excluded) - most
    return shown


def _item_json(item: ResourceItem, most: int | None) -> str | dict[str, Any]:
    return item if isinstance(item, str) else _set_json(item, most)

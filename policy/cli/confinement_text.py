"""What the code of a call may touch, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from policy.diagnostics import visible
from policy.model import CONFINED_VERBS, Bound, Confinement, NamedResources, ResourceSet

_MOST_ITEMS = 6
_LONGEST_ITEM = 200


def confinement_lines(confinement: Confinement) -> Iterator[str]:
    """Yield what the code may do by the rules, verb by verb, with those that bound it."""
    for verb in CONFINED_VERBS:
        bound = confinement.bound(verb)
        to = "to " if verb == "connects" else ""
        relied = "; the call is allowed because of that" if verb in confinement.relied_on else ""
        yield f"{verb} {f'{to}anything' if bound is None else _bound(bound, to)}{relied}"
    if any(bound.without for verb, bound in confinement.bounds() if verb != "connects"):
        yield "note: what is made after the code has started is neither hidden nor read-only"
    if confinement.reads is not None and any(
        map(_begins_with_wildcards, confinement.reads.without)
    ):
        yield (
            "note: what begins with wildcards is not looked for in /usr and the like, nor in the "
            "folders of /etc"
        )


def _begins_with_wildcards(named: NamedResources) -> bool:
    return any(map(_is_unplaced, named.resources.included))


def _is_unplaced(item: str | ResourceSet) -> bool:
    if isinstance(item, ResourceSet):
        return any(map(_is_unplaced, item.included))
    return item != "/**" and item.lstrip("/").startswith("*")


def _bound(bound: Bound, to: str) -> str:
    parts = [_within(union, to) for union in bound.within]
    parts += [f"{to}nothing of {_named(one)}" for one in bound.without if _has_items(one)]
    return " and ".join(parts)


def _within(union: tuple[NamedResources, ...], to: str) -> str:
    only = "only " if any(map(_has_items, union)) else ""
    return f"{only}{to}{' or '.join(map(_named, union)) or 'nothing'}"


def _has_items(named: NamedResources) -> bool:
    return any(True for _ in _flat(named.resources))


def _named(named: NamedResources) -> str:
    return f"{_items(named.resources)} ({visible(named.rule, _LONGEST_ITEM)})"


def _items(resources: ResourceSet) -> str:
    included = tuple(_flat(resources))
    if len(included) == 1 and isinstance(included[0], ResourceSet) and not resources.excluded:
        return _items(included[0])
    shown = [
        visible(item, _LONGEST_ITEM) if isinstance(item, str) else f"({_items(item)})"
        for item in included[:_MOST_ITEMS]
    ]
    more = len(included) - len(shown)
    text = ", ".join(shown) + (f" and {more} more" if more else "") if shown else "nothing"
    if not resources.excluded:
        return text
    return f"{text} except {_items(ResourceSet(included=resources.excluded))}"


def _flat(resources: ResourceSet) -> Iterator[str | ResourceSet]:
    """Yield what a set includes; a set in it that excludes nothing is no more than its items."""
    for item in resources.included:
        if isinstance(item, ResourceSet) and not item.excluded:
            yield from _flat(item)
        else:
            yield item

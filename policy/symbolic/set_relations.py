"""Whether one set of resources includes another one, or shares nothing with it.

False where that is not known.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network

from policy.checks import checked
from policy.values import (
    HostPattern,
    PathPattern,
    Unreadable,
    compile_path_glob,
    read_host_pattern,
    read_path_pattern,
)

# Items of two sets that are compared with each other; beyond that, nothing is known of the sets.
_MOST_PAIRS = 40_000
_ANYTHING = "\x01"  # in no pattern: patterns have no control characters


@lru_cache(maxsize=8192)
def includes(larger: checked.ValueSet, smaller: checked.ValueSet) -> bool:
    """Return whether everything in the smaller set is certainly in the larger one."""
    if larger.kind != smaller.kind:
        return False
    if larger == smaller:
        return True
    kept = [part for part in larger.excluded if part not in smaller.excluded]
    if kept and larger.kind != "paths":
        # A name may have an address of any network, and a command match patterns unlike its own.
        return False
    exceptions = _items(checked.ValueSet(kind=larger.kind, included=tuple(kept)))
    items, others = _items(smaller), _items(larger)
    same = frozenset(others)
    more = [item for item in items if item not in same]
    if len(more) * len(others) + len(items) * len(exceptions) > _MOST_PAIRS:
        return False
    return all(
        any(_includes_item(larger.kind, other, item) for other in others) for item in more
    ) and all(_are_apart(item, exception) for item in items for exception in exceptions)


@lru_cache(maxsize=8192)
def shares_nothing(one: checked.ValueSet, other: checked.ValueSet) -> bool:
    """Return whether certainly no path is in both of two sets of paths."""
    if one.kind != "paths" or other.kind != "paths":
        return False
    items, others = _items(one), _items(other)
    if len(items) * len(others) > _MOST_PAIRS:
        return False
    return all(_are_apart(left, right) for left in items for right in others)


def _items(values: checked.ValueSet) -> tuple[checked.SetPart, ...]:
    """Return the items of a set; a named set with exceptions is one item."""
    found: list[checked.SetPart] = []
    for part in values.included:
        if isinstance(part, checked.ValueSet) and not part.excluded:
            found.extend(_items(part))
        else:
            found.append(part)
    return tuple(found)


def _includes_item(kind: str, larger: checked.SetPart, smaller: checked.SetPart) -> bool:
    if larger == smaller:
        return True
    if isinstance(larger, checked.ValueSet):  # a set with exceptions
        return includes(larger, checked.ValueSet(kind=larger.kind, included=(smaller,)))
    if not isinstance(larger, str) or not isinstance(smaller, str):
        return False
    if kind == "hosts":
        return _includes_host(read_host_pattern(larger), read_host_pattern(smaller))
    if kind != "paths":
        return False
    outer, inner = _pattern(larger), _pattern(smaller)
    if outer is None or inner is None:
        return False
    # An item that begins with `**/` meets a tree or a wildcard of a call only as it is spelled, or
    # by what the disk holds, and so it may miss what another item meets that says less.
    if outer.base != inner.base or outer.base == "floating":
        return False
    return _includes_glob(outer.glob, inner.glob)


def _includes_host(larger: HostPattern | Unreadable, smaller: HostPattern | Unreadable) -> bool:
    """Return whether one pattern of hosts matches all that another one does."""
    if isinstance(larger, Unreadable) or isinstance(smaller, Unreadable):
        return False
    parts = (
        (larger.scheme, smaller.scheme),
        (larger.port, smaller.port),
        (larger.path, smaller.path),
    )
    if any(wide is not None and wide != narrow for wide, narrow in parts):
        return False
    if larger.networks:
        return bool(smaller.networks) and all(
            any(_is_within(network, other) for other in larger.networks)
            for network in smaller.networks
        )
    if larger.name is None or smaller.name is None:
        return False
    if larger.below:
        return smaller.name.endswith(f".{larger.name}") or (
            smaller.below and smaller.name == larger.name
        )
    return smaller.name == larger.name and not smaller.below


def _is_within(network: IPv4Network | IPv6Network, other: IPv4Network | IPv6Network) -> bool:
    match network, other:
        case (IPv4Network(), IPv4Network()) | (IPv6Network(), IPv6Network()):
            return network.subnet_of(other)  # type: ignore[arg-type]
        case _:
            return False


def _includes_glob(outer: str, inner: str) -> bool:
    """Return whether one glob matches all that another one does.

    The wildcards of the inner one are replaced by a character that only wildcards of the outer one
    match. A `?` of the outer one would match too little of what a `*` stands for.
    """
    if inner.endswith("/**"):
        inner = inner.removesuffix("/**")
        if not outer.endswith("**"):
            return False
    if "**" in inner or ("?" in outer and "*" in inner):
        return False
    return compile_path_glob(outer)(inner.replace("*", _ANYTHING).replace("?", _ANYTHING))


def _are_apart(one: checked.SetPart, other: checked.SetPart) -> bool:
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    left, right = _pattern(one), _pattern(other)
    return left is not None and right is not None and not _meet(_segments(left), _segments(right))


def _segments(pattern: PathPattern) -> tuple[str, ...]:
    """Return the segments of a glob; what it is below may be any folder.

    Some file systems do not distinguish letter case, so that none is distinguished here.
    """
    below = "" if pattern.base in ("root", "floating") else "**/"
    return tuple(f"{below}{pattern.glob.removeprefix('/')}".casefold().split("/"))


@lru_cache(maxsize=8192)
def _pattern(item: str) -> PathPattern | None:
    found = read_path_pattern(item)
    return found if isinstance(found, PathPattern) and "\\" not in found.glob else None


@lru_cache(maxsize=8192)
def _meet(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Return whether some path matches both globs, segment by segment."""
    if not left or not right:
        return all(part == "**" for part in (*left, *right))
    if left[0] == "**":
        return _meet(left[1:], right) or _meet(left, right[1:])
    if right[0] == "**":
        return _meet(left, right[1:]) or _meet(left[1:], right)
    return _segments_meet(left[0], right[0]) and _meet(left[1:], right[1:])


@lru_cache(maxsize=8192)
def _segments_meet(left: str, right: str) -> bool:
    if not left or not right:
        return all(sign == "*" for sign in left + right)
    if left[0] == "*":
        return _segments_meet(left[1:], right) or _segments_meet(left, right[1:])
    if right[0] == "*":
        return _segments_meet(left, right[1:]) or _segments_meet(left[1:], right)
    same = left[0] == right[0] or "?" in (left[0], right[0])
    return same and _segments_meet(left[1:], right[1:])

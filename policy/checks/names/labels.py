"""Labels: which statements a name means, and what they mark."""

from __future__ import annotations

from collections.abc import Iterator

from policy.checks.names.scopes import LabelSource, Scope


def labels_in(scope: Scope) -> tuple[LabelSource, ...]:
    """Return the labels of a layer, of the packs that it uses, and of the layer of every agent."""
    return tuple(dict.fromkeys(_labels_in(scope)))


def label_names(scope: Scope) -> Iterator[str]:
    """Yield the names by which a layer may refer to labels, those of packs with their alias."""
    yield from scope.labels
    for alias, pack in scope.packs.items():
        yield from (f"{alias}.{name}" for name in label_names(pack))
    if scope.above is not None:
        yield from label_names(scope.above)


def _labels_in(scope: Scope) -> Iterator[LabelSource]:
    for sources in scope.labels.values():
        yield from sources
    for pack in scope.packs.values():
        yield from _labels_in(pack)
    if scope.above is not None:
        yield from _labels_in(scope.above)

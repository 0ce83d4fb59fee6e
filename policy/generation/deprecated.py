"""Deprecated parameters, accepted for one release: they have no effect, or another name."""

from __future__ import annotations

import warnings

from policy.syntax import Engine


def accept_cache(cache: object) -> None:
    """Warn a caller who asks for the cache of checked rules on disk, which no longer exists."""
    if cache:
        warnings.warn(
            "`cache` has no effect, as checked rules are no longer kept on disk; "
            "the parameter will be removed in the next release",
            DeprecationWarning,
            stacklevel=3,
        )


def chosen_engine(engine: Engine, *, plain: bool) -> Engine:
    """Return the engine that parses statements; warn a caller who uses Lark's former name."""
    if not plain:
        return engine
    warnings.warn(
        '`plain=True` is now `engine="lark"`; the old name will be removed in the next release',
        DeprecationWarning,
        stacklevel=3,
    )
    return "lark"

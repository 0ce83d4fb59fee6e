"""Parameters that are still accepted for one release: they do nothing, or have another name."""

from __future__ import annotations

import warnings

from policy.syntax import Engine


def accept_cache(cache: object) -> None:
    """Warn whoever asks for the cache of checked rules on disk, which was removed in 0.1."""
    if cache:
        warnings.warn(
            "`cache` has no effect: checked rules are no longer kept on disk",
            DeprecationWarning,
            stacklevel=3,
        )


def chosen_engine(engine: Engine, *, plain: bool) -> Engine:
    """Return what reads statements, and warn a caller who asks for Lark by the former name."""
    if not plain:
        return engine
    warnings.warn('`plain=True` is now `engine="lark"`', DeprecationWarning, stacklevel=3)
    return "lark"

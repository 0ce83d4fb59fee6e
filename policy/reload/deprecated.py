"""Parameters that are still accepted and no longer do anything, for one release."""

from __future__ import annotations

import warnings


def accept_cache(cache: object) -> None:
    """Warn whoever asks for the cache of checked rules on disk, which was removed in 0.1."""
    if cache:
        warnings.warn(
            "`cache` has no effect: checked rules are no longer kept on disk",
            DeprecationWarning,
            stacklevel=3,
        )

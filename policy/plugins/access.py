"""What a plugin may touch when it runs: what its manifest needs and the configuration grants."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from policy.capabilities import ANY_PATH, PluginAccess
from policy.generation import Reach


def shared_access(needed: PluginAccess, granted: Reach) -> Reach:
    """Return the part of a grant that the manifest asks for; never more than either."""
    return replace(
        granted,
        reads=tuple(dict.fromkeys(_shared(needed.reads, granted.reads))),
        writes=tuple(dict.fromkeys(_shared(needed.writes, granted.writes))),
        network=granted.network if needed.network == "all" else "none",
    )


def _shared(needed: Iterable[str], granted: Iterable[str]) -> Iterator[str]:
    wanted = [path if path == ANY_PATH else os.path.normpath(path) for path in needed]
    for path in map(os.path.normpath, granted):
        if any(one == ANY_PATH or _is_within(path, one) for one in wanted):
            yield path
        else:
            yield from (one for one in wanted if one != ANY_PATH and _is_within(one, path))


def _is_within(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it; those below the home folder are apart."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")

"""A path in, its generation out, once and for all; `PolicyStore` is for policies that change."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from policy.catalog import Catalog, builtin_catalog
from policy.program import ALL_SHORTCUTS, Shortcuts
from policy.reload.builder import Builder, Built
from policy.reload.cache import Where, cache_folders, open_cache
from policy.reload.folder import read_folder
from policy.reload.generation import Generation
from policy.reload.pause import no_collecting


def read_policy(
    path: str | os.PathLike[str],
    *,
    catalog: Catalog | None = None,
    cache: Where = False,
    remembering: bool = True,
    plain: bool = False,
    shortcuts: Shortcuts = ALL_SHORTCUTS,
    linting: bool = True,
) -> Built:
    """Read and check a policy folder or file; what is wrong is in the diagnostics.

    With a `cache`, a folder or True for this user's own, what was found out of its rules is kept
    there, and rules that are known from there are not checked again: see `Cache`. `remembering`,
    `plain` and `shortcuts` as in `PolicyStore`. Without `linting`, for who looks at errors alone,
    warnings of what is no mistake are left out where there is no cache.
    """
    builder = Builder(
        guarded_folders=cache_folders(cache),
        remembering=remembering,
        once=cache is False,
        plain=plain,
        shortcuts=shortcuts,
        linting=linting,
    )
    with no_collecting():
        return _read_policy(path, builder, catalog=catalog or builtin_catalog(), cache=cache)


def _read_policy(
    path: str | os.PathLike[str], builder: Builder, *, catalog: Catalog, cache: Where
) -> Built:
    snapshot = read_folder(path)
    kept = open_cache(cache, snapshot)
    remembered = builder.remembered
    if kept is not None and remembered is not None:
        kept.read(remembered)
    built = builder.build(snapshot, catalog=catalog, number=1, now=datetime.now(UTC))
    if kept is not None and remembered is not None and built.generation is not None:
        kept.write(remembered)
    return built


def load(
    path: str | os.PathLike[str],
    *,
    catalog: Catalog | None = None,
    cache: Where = False,
    remembering: bool = True,
    plain: bool = False,
    shortcuts: Shortcuts = ALL_SHORTCUTS,
) -> Generation:
    """Return the generation of a policy folder or file; the rest as in `read_policy`.

    Raises PolicyInvalid with all diagnostics if any is an error.
    """
    built = read_policy(
        path,
        catalog=catalog,
        cache=cache,
        remembering=remembering,
        plain=plain,
        shortcuts=shortcuts,
    )
    if built.generation is None:
        from policy.errors import PolicyInvalid  # most processes have no error to tell

        raise PolicyInvalid(built.diagnostics)
    return built.generation

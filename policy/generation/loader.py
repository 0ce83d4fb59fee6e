"""Loads a policy once; `PolicyStore` is for policies that change."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime

from policy.catalog import Catalog, builtin_catalog
from policy.generation.builder import Builder, Proving
from policy.generation.built import Built
from policy.generation.collector_pause import no_collecting
from policy.generation.deprecated import accept_cache, chosen_engine
from policy.generation.folder import read_folder
from policy.generation.generation import Generation
from policy.generation.protected_files import ProtectedFiles, state_protected
from policy.program import ALL_SHORTCUTS, Shortcuts
from policy.syntax import Engine


def read_policy(
    path: str | os.PathLike[str],
    *,
    catalog: Catalog | None = None,
    engine: Engine = "tables",
    shortcuts: Shortcuts = ALL_SHORTCUTS,
    root: str | None = None,
    proving: Proving | None = None,
) -> Built:
    """Read and check a policy folder or file; problems are in the diagnostics.

    `engine` and `shortcuts` as in `PolicyStore`, `proving` as in `Builder`. With `root`, relative
    paths in the configuration are taken relative to that folder, as for a copy of what is in it.
    """
    builder = Builder(
        remembering=False,
        guarded=state_protected() if os.fspath(path) else ProtectedFiles(),
        engine=engine,
        shortcuts=shortcuts,
        proving=proving,
    )
    snapshot = read_folder(path)
    if root is not None:
        snapshot = replace(snapshot, root=root, real_root=os.path.realpath(root))
    with no_collecting():
        return builder.build(
            snapshot,
            catalog=catalog or builtin_catalog(),
            number=1,
            now=datetime.now(UTC),
        )


def load(
    path: str | os.PathLike[str],
    *,
    catalog: Catalog | None = None,
    cache: object = None,
    remembering: bool = True,
    engine: Engine = "tables",
    plain: bool = False,
    shortcuts: Shortcuts = ALL_SHORTCUTS,
) -> Generation:
    """Return the generation of a policy folder or file; parameters as in `read_policy`.

    Raises PolicyInvalid with all diagnostics if any is an error. `cache` and `remembering`
    have no effect here, and `plain=True` is the former name of `engine="lark"`.
    """
    accept_cache(cache)
    built = read_policy(
        path,
        catalog=catalog,
        engine=chosen_engine(engine, plain=plain),
        shortcuts=shortcuts,
    )
    if built.generation is None:
        from policy.model import PolicyInvalid  # most processes have no error to report

        raise PolicyInvalid(built.diagnostics)
    return built.generation

"""A path in, its generation out, once and for all; `PolicyStore` is for policies that change."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from policy.catalog import Catalog, builtin_catalog
from policy.errors import PolicyInvalid
from policy.reload.builder import Built, build
from policy.reload.folder import read_folder
from policy.reload.generation import Generation


def read_policy(path: str | os.PathLike[str], *, catalog: Catalog | None = None) -> Built:
    """Read and check a policy folder or file; what is wrong is in the diagnostics."""
    return build(
        read_folder(path),
        catalog=builtin_catalog() if catalog is None else catalog,
        number=1,
        now=datetime.now(UTC),
    )


def load(path: str | os.PathLike[str], *, catalog: Catalog | None = None) -> Generation:
    """Return the generation of a policy folder or file.

    Raises PolicyInvalid with all diagnostics if any is an error.
    """
    built = read_policy(path, catalog=catalog)
    if built.generation is None:
        raise PolicyInvalid(built.diagnostics)
    return built.generation

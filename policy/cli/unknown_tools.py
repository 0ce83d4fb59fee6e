"""Names of tools that somebody typed, and that a policy does not know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from policy.catalog import Catalog, builtin_catalog
from policy.cli.loading import build_at
from policy.diagnostics import did_you_mean
from policy.values import compile_name_glob

# Tools of MCP servers are often known only while a server is connected.
_OF_SERVERS = ("mcp ", "mcp__")


def unknown_names(names: Iterable[str], path: Path) -> Iterator[str]:
    """Yield a warning for each name or pattern that matches no tool the policy at `path` knows.

    Only the built-in tools are known where the policy does not load.
    """
    typed = [name for name in names if not name.startswith(_OF_SERVERS)]
    if not typed:
        return
    known = _names(_catalog(path))
    for name in typed:
        if not any(map(compile_name_glob(name), known)):
            help = (
                did_you_mean(name, known) or "a tool of a program of yours is frozen all the same"
            )
            yield f"these rules know no tool called `{name}`: {help}"


def _catalog(path: Path) -> Catalog:
    try:
        built = build_at(path, None)
    except click.UsageError:  # of the environment; what was typed has taken effect
        return builtin_catalog()
    generation = built.generation or built.failing
    return builtin_catalog() if generation is None else generation.catalog


def _names(catalog: Catalog) -> list[str]:
    return list(
        dict.fromkeys(name for spec in catalog.specs for name in (spec.name, *spec.names_in_rules))
    )

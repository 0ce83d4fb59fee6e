"""Sets of rules as a sandbox is given them, and which of them it can keep code within."""

from __future__ import annotations

from collections.abc import Iterator

from policy.checks import checked
from policy.evaluation.call_sandbox import sandbox_of
from policy.evaluation.evaluation import Evaluation
from policy.model import ResourceItem, ResourceSet
from policy.values import (
    REDIRECTED,
    PathContext,
    PathPattern,
    absolute_glob,
    folder_pattern,
    plain_paths,
    read_path_pattern,
)


def sandbox_enforces(verb: str, call: Evaluation) -> bool:
    """Return whether a sandbox bounds what the programs of a call do with this verb."""
    sandbox = sandbox_of(call.spec, call.facts)
    return sandbox is not None and verb in sandbox.enforces


def is_enforceable(values: checked.ValueSet, paths: PathContext) -> bool:
    """Return whether a sandbox that enforces the verb of a set can keep code within it.

    Of paths, it mounts files and folders: no other wildcards, and no exceptions.
    """
    if values.kind == "hosts":
        return True
    return values.kind == "paths" and plain_paths(resource_set(values, paths)) is not None


def is_as_enforceable(small: checked.ValueSet, large: checked.ValueSet, paths: PathContext) -> bool:
    """Return whether a sandbox that keeps code within a set also makes a larger one hold."""
    return is_enforceable(large, paths) or not is_enforceable(small, paths)


def resource_set(
    values: checked.ValueSet, paths: PathContext, *, at_least: bool = False
) -> ResourceSet:
    """Return a set of paths or hosts, with the folders of its items spelled out.

    Where such a folder is not known, the set holds less than it should, or with `at_least`, more.
    Items that name no resource are left out: `inline_code` and `redirected`.
    """
    return ResourceSet(
        included=tuple(_items(values.included, values.kind, paths, at_least=at_least)),
        excluded=tuple(_items(values.excluded, values.kind, paths, at_least=not at_least)),
    )


def _items(
    parts: tuple[checked.SetPart, ...], kind: str, paths: PathContext, *, at_least: bool
) -> Iterator[ResourceItem]:
    for part in parts:
        if isinstance(part, checked.ValueSet):
            yield resource_set(part, paths, at_least=at_least)
        elif kind == "hosts":
            if isinstance(part, str) and part != REDIRECTED:
                yield part
        elif isinstance(part, str | checked.WorkspaceItem):
            glob = _glob(part, paths)
            if glob is not None:
                yield glob
            elif at_least:
                yield ANY_PATH


def _glob(part: str | checked.WorkspaceItem, paths: PathContext) -> str | None:
    """Return an item of paths as a glob; None where the folder that it is below is not known."""
    if isinstance(part, checked.WorkspaceItem):
        return None if paths.workspace is None else folder_pattern(paths.workspace).glob
    pattern = read_path_pattern(part)
    # The checker has parsed every item and rejected invalid ones.
    return absolute_glob(pattern, paths) if isinstance(pattern, PathPattern) else None


# What every path, and every host, is in.
ANY_PATH, ANY_HOST = "/**", "*"

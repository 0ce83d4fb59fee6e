"""A judged call in, what it would touch out: one canonical line a resource, for approvers.

The lines are part of what an approval is bound to: a path that leads elsewhere by the time of the
answer is another call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policy.call import ToolCall
from policy.catalog import Resource, ToolSpec
from policy.diagnostics import visible
from policy.facts import Facts
from policy.values import PathContext, Unreadable, read_endpoint, read_path

_LONGEST = 500
_MOST = 50


def resource_lines(call: ToolCall, spec: ToolSpec | None, facts: Facts) -> tuple[str, ...]:
    """Return what the tool's declared arguments touch, as `VERB WHAT`, bounded and escaped."""
    if spec is None:
        return ()
    lines = [
        f"{resource.verb} {_canonical(resource, value, call, facts)}"
        for resource in spec.resources
        for value in _at(call.input, resource.steps)
    ]
    shown = [visible(line, _LONGEST) for line in lines[:_MOST]]
    more = len(lines) - len(shown)
    return (*shown, f"and {more} more") if more else tuple(shown)


def _at(value: Any, steps: tuple[str, ...]) -> Iterator[Any]:
    """Yield every value at `steps`; `*` is each element of a list."""
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    if step == "*" and isinstance(value, tuple):
        for item in value:
            yield from _at(item, rest)
    elif isinstance(value, Mapping) and step in value:
        yield from _at(value[step], rest)


def _canonical(resource: Resource, value: Any, call: ToolCall, facts: Facts) -> str:
    if not isinstance(value, str):
        return f"{value}"
    if resource.verb in ("reads", "writes"):
        tree = resource.tree or bool(call.input.get(resource.tree_field or ""))
        return _path(value, facts, tree=tree)
    if resource.verb == "connects":
        endpoint = read_endpoint(value)
        if isinstance(endpoint, Unreadable):
            return f"{value} (cannot be read: {endpoint.reason})"
        path = endpoint.path if endpoint.path is not None else "/… (unclear)"
        return f"{endpoint.scheme}://{endpoint.host}:{endpoint.port}{path}"
    return value


def _path(text: str, facts: Facts, *, tree: bool) -> str:
    context = PathContext(
        cwd=facts.cwd,
        home=facts.home,
        workspace=facts.workspace,
        resolve=facts.resolvers.path,
        folds=facts.resolvers.folds,
        other_names=facts.resolvers.other_names,
    )
    path = read_path(text, context, tree=tree)
    if isinstance(path, Unreadable):
        return f"{text} (cannot be read: {path.reason})"
    below = " and all below" if tree else ""
    if path.resolved is not None and path.resolved != path.lexical:
        return f"{path.resolved}{below} (by way of {path.lexical})"
    return f"{path.lexical}{below}"

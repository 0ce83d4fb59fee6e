"""The resources of a tool as a list of tools declares them.

`{"reads": ["path"], "writes": [{"path": "folder", "tree": true}], "complete": true}`: each
verb has a list of arguments, each a dotted path of names, or an object with a path and options.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from policy.catalog.tool import VERBS, Resource, Verb
from policy.values import quote

_FLAGS = ("complete", "unseen")
_MORE = ("path", "tree", "listed", "tree_field", "only_for", "uri", "open_path")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedResources:
    """The resources that a list declares for one tool."""

    resources: tuple[Resource, ...] = ()
    complete: bool = False
    unseen: bool = False


class BadResources(Exception):
    """Resources that cannot be parsed; the message is the reason, as the end of a sentence."""


def read_resources(declared: Any) -> ListedResources:
    """Read what stands at `resources`; raises BadResources, so that no declaration gets lost."""
    if declared is None:
        return ListedResources()
    if not isinstance(declared, Mapping):
        raise BadResources("`resources` is not an object")
    for key in declared:
        if key not in (*VERBS, *_FLAGS):
            raise BadResources(f"`resources` cannot have {quote(str(key))}")
    for flag in _FLAGS:
        if not isinstance(declared.get(flag, False), bool):
            raise BadResources(f"`resources.{flag}` is neither true nor false")
    return ListedResources(
        resources=tuple(
            _resource(verb, entry) for verb in VERBS for entry in _entries(declared, verb)
        ),
        complete=declared.get("complete") is True,
        unseen=declared.get("unseen") is True,
    )


def write_resources(found: ListedResources) -> dict[str, Any]:
    """Return the resources as `read_resources` reads them; empty if there is nothing to say."""
    written: dict[str, Any] = {}
    for verb in VERBS:
        entries = [_entry(one) for one in found.resources if one.verb == verb]
        written |= {verb: entries} if entries else {}
    for flag in _FLAGS:
        written |= {flag: True} if getattr(found, flag) else {}
    return written


def _entries(declared: Mapping[str, Any], verb: Verb) -> Iterable[Any]:
    entries = declared.get(verb, ())
    if not isinstance(entries, (list, tuple)):
        raise BadResources(f"`resources.{verb}` is not a list of arguments")
    return entries


def _resource(verb: Verb, entry: Any) -> Resource:
    more = entry if isinstance(entry, Mapping) else {"path": entry}
    steps, only_for = _steps(more.get("path")), more.get("only_for")
    tree, tree_field = more.get("tree"), more.get("tree_field")
    flags = {name: more.get(name, False) for name in ("listed", "uri", "open_path")}
    if (
        not steps
        or not isinstance(tree, bool | None)
        or not all(isinstance(flag, bool) for flag in flags.values())
        or not isinstance(tree_field, str | None)
        or any(key not in _MORE for key in more)
    ):
        raise BadResources(
            f"`resources.{verb}` has an entry that is neither the path of an argument nor an "
            "object with `path`, and `tree`, `listed`, `tree_field`, `only_for`, `uri` or "
            "`open_path`"
        )
    return Resource(
        verb=verb,
        steps=steps,
        tree=tree,
        tree_field=tree_field,
        only_for=_only_for(verb, only_for),
        **flags,
    )


def _steps(path: Any) -> tuple[str, ...]:
    steps = path.split(".") if isinstance(path, str) else path
    if not isinstance(steps, (list, tuple)) or not all(isinstance(s, str) and s for s in steps):
        return ()
    return tuple(steps)


def _only_for(verb: Verb, given: Any) -> tuple[str, tuple[str, ...]] | None:
    if given is None:
        return None
    if isinstance(given, Mapping) and len(given) == 1:
        ((field, values),) = given.items()
        if isinstance(values, (list, tuple)) and all(isinstance(value, str) for value in values):
            return field, tuple(values)
    raise BadResources(
        f"`resources.{verb}` has an `only_for` that is not a field with a list of its values"
    )


def _entry(resource: Resource) -> Any:
    steps = resource.steps
    dotted = ".".join(steps)
    more: dict[str, Any] = {"path": dotted if _steps(dotted) == steps else list(steps)}
    if resource.tree is not None:
        more["tree"] = resource.tree
    if resource.listed:
        more["listed"] = True
    if resource.tree_field is not None:
        more["tree_field"] = resource.tree_field
    if resource.only_for is not None:
        field, values = resource.only_for
        more["only_for"] = {field: list(values)}
    if resource.uri:
        more["uri"] = True
    if resource.open_path:
        more["open_path"] = True
    return dotted if more == {"path": dotted} else more

"""The markers `Reads`, `Writes`, `Runs`, … that declare an argument to be a resource.

A marker without a position in the input would hide an access of the tool from rules, so it raises a
TypeError when the tool is created.
"""

from __future__ import annotations

import collections
import collections.abc
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import AliasChoices, BaseModel, RootModel, Secret, SecretBytes, SecretStr
from pydantic.fields import FieldInfo

from policy.catalog.tool import Resource, Verb


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marker:
    verb: Verb
    tree: bool | None = None
    tree_field: str | None = None
    open_path: bool = False


def Reads(*, tree: bool | None = None, tree_field: str | None = None) -> _Marker:  # noqa: N802
    """Mark a path that the tool reads.

    `tree`: with everything below it (True), or as one file (False); see `Resource`.
    """
    return _Marker(verb="reads", tree=tree, tree_field=tree_field)


def Writes(*, tree: bool | None = None, tree_field: str | None = None) -> _Marker:  # noqa: N802
    """Mark a path that the tool creates, changes or deletes."""
    return _Marker(verb="writes", tree=tree, tree_field=tree_field)


def Runs() -> _Marker:  # noqa: N802
    """Mark a command line that the tool runs."""
    return _Marker(verb="runs")


def Connects(*, open_path: bool = False) -> _Marker:  # noqa: N802
    """Mark a URL or host that the tool connects to.

    `open_path`: the argument names the host alone, and not what is asked there.
    """
    return _Marker(verb="connects", open_path=open_path)


def Sends() -> _Marker:  # noqa: N802
    """Mark someone the tool sends to."""
    return _Marker(verb="sends")


_HIDDEN = (Secret, SecretStr, SecretBytes)
_UNIONS = (Union, UnionType)
_MAKERS = (Reads, Writes, Runs, Connects, Sends)
_LISTS = frozenset(
    {
        list,
        tuple,
        set,
        frozenset,
        collections.deque,
        collections.abc.Sequence,
        collections.abc.MutableSequence,
        collections.abc.Collection,
        collections.abc.Iterable,
        collections.abc.Set,
        collections.abc.MutableSet,
    }
)


def resources_of(model: type[BaseModel]) -> Iterator[Resource]:
    """Yield the resources that the markers on a model's fields declare.

    Raises TypeError for a marker that leads to no argument: in a model that holds itself, in a
    mapping, in a type that is not a pydantic model, or where it has no effect.
    """
    yield from _of_model(model, (), ())


def field_key(name: str, info: FieldInfo) -> str:
    """Return the name of a field in the input; TypeError if its input and output names differ."""
    alias = info.validation_alias
    if isinstance(alias, AliasChoices):
        alias = alias.choices[0]
    read, written = alias or name, info.serialization_alias or name
    if not isinstance(read, str) or read != written:
        raise TypeError(f"the field `{name}` has different names for input and output: use `alias`")
    return read


def _of_model(
    model: type[BaseModel], steps: tuple[str, ...], around: tuple[type, ...]
) -> Iterator[Resource]:
    if model in around:
        kinds = around[around.index(model) :]
        if any(_marks(each, set()) for kind in kinds for each in _beneath(kind)):
            raise TypeError(f"`{model.__name__}` contains itself, so it cannot have resources")
        return
    for name, info in model.model_fields.items():
        # The wrapped value is the input itself.
        here = steps if issubclass(model, RootModel) else (*steps, field_key(name, info))
        if isinstance(info.default, _Marker):
            raise TypeError(f"a marker is the default of `{name}`: write `Annotated[…, marker]`")
        yield from _of_metadata(info.metadata, here)
        yield from _inside(info.annotation, here, (*around, model))


def _of_metadata(metadata: Any, steps: tuple[str, ...]) -> Iterator[Resource]:
    for said in metadata:
        if isinstance(said, _Marker):
            yield Resource(
                verb=said.verb,
                steps=steps,
                tree=said.tree,
                tree_field=said.tree_field,
                open_path=said.open_path,
            )
        elif any(said is maker for maker in _MAKERS):
            raise TypeError(f"the marker of `{'.'.join(steps)}` must be called: `{_said(said)}()`")


def _inside(kind: Any, steps: tuple[str, ...], around: tuple[type, ...]) -> Iterator[Resource]:
    kind = _unnamed(kind)
    origin = get_origin(kind)
    if any(isinstance(each, type) and issubclass(each, _HIDDEN) for each in (origin, kind)):
        raise TypeError(
            f"`{'.'.join(steps)}` hides its value, so no rule could judge it: use `str`"
        )
    if _is_model(kind):
        yield from _of_model(kind, steps, around)
    elif origin is Annotated:
        inner, *metadata = get_args(kind)
        yield from _of_metadata(metadata, steps)
        yield from _inside(inner, steps, around)
    elif origin in _LISTS:
        for inner in get_args(kind):
            yield from _inside(inner, (*steps, "*"), around)
    elif origin not in _UNIONS and (isinstance(origin, type) or _has_fields(kind)):
        if _marks(kind, set()):
            raise TypeError(
                f"the marked value within `{'.'.join(steps)}` cannot be found in a call: use "
                "pydantic models, and lists of them"
            )
    else:
        for inner in get_args(kind):
            yield from _inside(inner, steps, around)


def _marks(kind: Any, seen: set[int]) -> bool:
    """Return whether a type contains a marker anywhere."""
    kind = _unnamed(kind)
    if isinstance(kind, _Marker):
        return True
    if id(kind) in seen:
        return False
    seen.add(id(kind))
    return any(_marks(each, seen) for each in _beneath(kind))


def _beneath(kind: Any) -> list[Any]:
    """Return the types of which a type consists, and their annotations."""
    if _is_model(kind):
        fields = kind.model_fields.values()
        return [each for info in fields for each in (*info.metadata, info.annotation)]
    found = [*get_args(kind)]
    named = kind if get_origin(kind) is None else get_origin(kind)
    if _has_fields(named):
        found += _hints(named)
    return found


def _hints(kind: Any) -> list[Any]:
    try:
        return [*get_type_hints(kind, include_extras=True).values()]
    except (NameError, TypeError):
        return []


def _unnamed(kind: Any) -> Any:
    """Return the type behind an alias, by `type X = …` or `NewType`."""
    for _ in range(20):
        named = get_origin(kind) or kind
        inner = getattr(named, "__value__", None) or getattr(named, "__supertype__", None)
        if inner is None or isinstance(named, type):
            break
        given = get_args(kind)
        kind = inner[given] if given else inner
    return kind


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _has_fields(kind: Any) -> bool:
    return isinstance(kind, type) and (
        is_dataclass(kind) or hasattr(kind, "__required_keys__") or hasattr(kind, "_fields")
    )


def _said(maker: Any) -> str:
    return str(getattr(maker, "__name__", maker))

"""A marker declares its argument as a resource, or the tool is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, NamedTuple, NewType, TypeVar

import pytest
import typing_extensions
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, create_model

from policy.catalog import Arguments, Reads, Resource, Writes, resources_of

_Path = Annotated[str, Reads()]
_T = TypeVar("_T")


class _Wrapped(RootModel[_Path]):
    pass


class _Box(BaseModel, Generic[_T]):
    item: _T


class _Typed(typing_extensions.TypedDict):
    path: _Path


@dataclasses.dataclass
class _Data:
    path: _Path


class _Tuple(NamedTuple):
    path: _Path


class _Inner(Arguments):
    path: _Path


_Named = typing_extensions.TypeAliasType("_Named", _Path)
_ListOf = typing_extensions.TypeAliasType("_ListOf", list[_T], type_params=(_T,))
_New = NewType("_New", _Inner)


def _model(kind: Any, default: Any = ...) -> type[BaseModel]:
    made: type[BaseModel] = create_model("Given", __base__=Arguments, at=(kind, default))
    return made


@pytest.mark.parametrize(
    ("kind", "steps"),
    [
        (_Path, ("at",)),
        (_Path | None, ("at",)),
        (_Path | int, ("at",)),
        (Annotated[str | None, Reads()], ("at",)),
        (list[_Path] | None, ("at", "*")),
        (Sequence[_Path], ("at", "*")),
        (tuple[_Path, ...], ("at", "*")),
        (_Wrapped, ("at",)),
        (list[_Wrapped], ("at", "*")),
        (_Box[_Path], ("at", "item")),
        (_Named, ("at",)),
        (_ListOf[_Path], ("at", "*")),
        (_New, ("at", "path")),
    ],
)
def test_a_marker_leads_to_where_its_argument_stands(kind: Any, steps: tuple[str, ...]) -> None:
    assert tuple(resources_of(_model(kind))) == (Resource(verb="reads", steps=steps),)


@pytest.mark.parametrize(
    "kind",
    [
        dict[str, _Path],
        Mapping[str, list[_Path]],
        dict[str, _Inner],
        list[dict[str, _Inner]],
        _Typed,
        _Data,
        _Tuple,
        list[_Typed] | None,
        _Box[dict[str, _Path]],
    ],
)
def test_a_marker_that_cannot_be_followed_is_an_error(kind: Any) -> None:
    with pytest.raises(TypeError, match="cannot be found in a call"):
        tuple(resources_of(_model(kind)))


def test_what_is_not_marked_may_be_of_any_kind() -> None:
    for kind in (dict[str, str], Mapping[str, list[int]], list[dict[str, int]]):
        assert not tuple(resources_of(_model(kind)))


def test_a_marker_that_is_not_called_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"`at` must be called: `Writes\(\)`"):
        tuple(resources_of(_model(Annotated[str, Writes])))


def test_a_marker_in_the_place_of_a_default_is_an_error() -> None:
    with pytest.raises(TypeError, match="a marker is the default of `at`"):
        tuple(resources_of(_model(str, Reads())))


def test_an_alias_is_the_name_in_the_input() -> None:
    class Upper(Arguments):
        model_config = ConfigDict(alias_generator=str.upper)
        path: _Path

    assert [r.steps for r in resources_of(Upper)] == [("PATH",)]
    both = Field(validation_alias="file", serialization_alias="file")
    assert [r.steps for r in resources_of(_model(Annotated[_Path, both]))] == [("file",)]


@pytest.mark.parametrize(
    "field",
    [
        Field(validation_alias="file"),
        Field(serialization_alias="file"),
        Field(validation_alias=AliasChoices("file", "path")),
    ],
)
def test_unlike_names_for_reading_and_writing_are_an_error(field: Any) -> None:
    with pytest.raises(TypeError, match="`at` has different names for input and output"):
        tuple(resources_of(_model(Annotated[str, field])))

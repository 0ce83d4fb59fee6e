"""The input of a chain's step, made of the chain's arguments and earlier outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from policy.model import EMPTY


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The arguments of a chain, and the outputs of the steps that have run, by name and in order.

    Both are JSON values.
    """

    arguments: Mapping[str, Any]
    results: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the chain, or a value within it, by further keys and indices."""

    name: str
    path: tuple[str | int, ...] = ()

    def __init__(self, name: str, *path: str | int) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "path", path)

    def of(self, progress: Progress) -> Any:
        """Return the value; raise ValueError if there is none."""
        return _found(progress.arguments, (self.name, *self.path), f"argument `{self.name}`")


@dataclass(frozen=True, slots=True)
class Result:
    """The output of an earlier step, or a value within it, by further keys and indices."""

    step: str
    path: tuple[str | int, ...] = ()

    def __init__(self, step: str, *path: str | int) -> None:
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "path", path)

    def of(self, progress: Progress) -> Any:
        """Return the value; raise ValueError if there is none."""
        return _found(progress.results, (self.step, *self.path), f"output of `{self.step}`")


Reference: TypeAlias = Argument | Result
# An object with references in it, or a function that makes one.
Making: TypeAlias = Mapping[str, Any] | Callable[[Progress], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a chain: the tool, what its input is made of, and the name of its output.

    The name of a step defaults to that of its tool.
    """

    tool: str
    input: Making = field(default_factory=lambda: EMPTY)
    name: str = ""

    @property
    def called(self) -> str:
        """The name by which other steps refer to its output."""
        return self.name or self.tool


def made(value: Any, progress: Progress) -> Any:
    """Return a value with its references resolved; raise ValueError if one has no value."""
    if isinstance(value, Argument | Result):
        return value.of(progress)
    if isinstance(value, Mapping):
        return {key: made(item, progress) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [made(item, progress) for item in value]
    return value


def references(value: Any) -> Iterator[Reference]:
    """Yield the references in a value."""
    if isinstance(value, Argument | Result):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from references(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from references(item)


def _found(value: Any, path: tuple[str | int, ...], what: str) -> Any:
    for key in path:
        is_there = (
            key in value
            if isinstance(value, Mapping)
            else isinstance(value, (list, tuple))
            and isinstance(key, int)
            and -len(value) <= key < len(value)
        )
        if not is_there:
            raise ValueError(f"the {what} has no value at the given path")
        value = value[key]
    return value

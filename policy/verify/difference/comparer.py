"""Compares two policies: for each tool and layer, whether calls are decided differently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from policy.checks import LayerKey
from policy.decision import GenerationId
from policy.program import Program
from policy.verify.difference.changes import (
    Change,
    changed_profiles,
    changes_of,
    profile_changes,
)
from policy.verify.difference.definition_changes import definition_changes, spec_of
from policy.verify.difference.difference import (
    Difference,
    ToolDifference,
    digest_of,
)
from policy.verify.difference.statements import ChangedLayer, changed_layers
from policy.verify.difference.tightening import only_tightens
from policy.verify.difference.tool_comparer import compare_tool, profiles_of
from policy.verify.difference.unknown_tools import concerns_unknown_tools, unknown_tool_changes
from policy.verify.proof.proof import STEPS, Progress

_EVERYBODY = LayerKey(kind="every")


class Compared(Protocol):
    """A generation, as far as it is compared."""

    @property
    def id(self) -> GenerationId:
        """The generation's number, and the digest of its files."""
        ...

    @property
    def program(self) -> Program:
        """Its rules, compiled."""
        ...

    def changes_since(self, before: Any) -> Iterator[Change]:
        """Yield what differs from an earlier generation besides rules, tools and profiles."""
        ...


def compare(
    old: Compared, new: Compared, *, steps: int = STEPS, progress: Progress | None = None
) -> Difference:
    """Return what the new generation decides differently from the old one, and what else changed.

    `steps` bounds the conflicts of the solver for each question. What cannot be decided within
    them is undecided. `progress` is told how many tools are compared.
    """
    layers = changed_layers(old.program, new.program)
    concerned = _concerned(old.program, new.program, layers)
    tightens = only_tightens(old.program, new.program) and not changed_profiles(
        old.program, new.program
    )
    tools: list[ToolDifference] = []
    for number, (name, rows) in enumerate(concerned.items()):
        if progress is not None:
            progress(number, len(concerned))
        tools += compare_tool(name, rows, old.program, new.program, steps=steps, tightens=tightens)
    unknown = tuple(unknown_tool_changes(layers, old.program, new.program, steps=steps))
    return _difference(old, new, layers, tools, unknown, concerned=len(concerned))


def compare_statements(old: Compared, new: Compared) -> Difference:
    """Return what changed besides verdicts, as statements and settings show: no call is decided."""
    return _difference(old, new, changed_layers(old.program, new.program), (), (), concerned=0)


def concerns_calls(old: Program, new: Program) -> bool:
    """Return whether anything changed on which the verdict on some call may depend."""
    # Which tools a profile concerns is found out where calls are compared.
    layers = changed_layers(old, new)
    return bool(
        changed_profiles(old, new)
        or _concerned(old, new, layers)
        or concerns_unknown_tools(layers, old, new)
    )


def digest_of_unknown(old: Compared, new: Compared) -> str:
    """Return the digest of a difference of which nothing is known."""
    return digest_of(old.id.digest, new.id.digest, "undecided")


def _difference(
    old: Compared,
    new: Compared,
    layers: tuple[ChangedLayer, ...],
    tools: Iterable[ToolDifference],
    unknown: tuple[Change, ...],
    *,
    concerned: int,
) -> Difference:
    tools, names = tuple(tools), _tools(old.program, new.program)
    changes = (
        *(
            change
            for name in names
            for change in definition_changes(name, old.program, new.program)
        ),
        *(change for layer in layers for change in changes_of(layer)),
        *unknown,
        *profile_changes(old.program, new.program),
        *new.changes_since(old),
    )
    return Difference(
        tools=tools,
        changes=changes,
        same=len(names) - concerned,
        digest=digest_of(
            old.id.digest,
            new.id.digest,
            [(one.tool, one.layer.title, one.status, one.approvals) for one in tools],
            [(one.kind, one.direction, one.what, one.layer) for one in changes],
        ),
    )


def _concerned(
    old: Program, new: Program, layers: tuple[ChangedLayer, ...]
) -> dict[str, tuple[LayerKey, ...]]:
    """Return the tools that something which changed concerns, each with the layers of it."""
    rows = {name: tuple(_rows(name, old, new, layers)) for name in _tools(old, new)}
    return {name: keys for name, keys in rows.items() if keys}


def _tools(old: Program, new: Program) -> tuple[str, ...]:
    names = (spec.name for program in (old, new) for spec in program.catalog.specs)
    return tuple(sorted(dict.fromkeys(names)))


def _rows(
    name: str, old: Program, new: Program, layers: tuple[ChangedLayer, ...]
) -> Iterator[LayerKey]:
    """Yield the layers in which a changed statement concerns a tool."""
    before, after = spec_of(old, name), spec_of(new, name)
    changed = [layer.key for layer in layers if layer.concerns(before, after)]
    if (
        before is None
        or after is None
        or (before is not after and before != after)
        or profiles_of(name, old, new)
    ):
        # Everybody's calls may be decided differently, whatever the rules are.
        changed = [_EVERYBODY]
    yield from changed

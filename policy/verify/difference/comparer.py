"""Compares two policies: for each tool and layer, whether calls are decided differently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from policy.catalog import ToolSpec
from policy.checks import LayerKey
from policy.decision import GenerationId
from policy.model import Verdict
from policy.program import Program
from policy.verify.difference.changes import (
    Change,
    changed_profiles,
    changes_of,
    profile_changes,
)
from policy.verify.difference.difference import (
    Answer,
    Difference,
    ToolDifference,
    digest_of,
)
from policy.verify.difference.statements import ChangedLayer, changed_layers
from policy.verify.difference.unknown_tools import unknown_tool_changes
from policy.verify.proof.proof import STEPS, Progress, because_of

if TYPE_CHECKING:
    from policy.verify.difference.formula import Way
    from policy.verify.difference.question import Question
    from policy.verify.difference.sides import Side

_EVERYBODY = LayerKey(kind="every")
_NOT_FOUND = Answer(found="no")
_REWRITTEN = "rewrites of the tool changed"
_MOST_NAMED = 5  # programs


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
    tools: list[ToolDifference] = []
    for number, (name, rows) in enumerate(concerned.items()):
        if progress is not None:
            progress(number, len(concerned))
        tools += _of_tool(name, rows, old.program, new.program, steps=steps)
    return _difference(old, new, layers, tools, concerned=len(concerned))


def compare_statements(old: Compared, new: Compared) -> Difference:
    """Return what changed besides verdicts, as statements and settings show: no call is decided."""
    return _difference(old, new, changed_layers(old.program, new.program), (), concerned=0)


def concerns_calls(old: Program, new: Program) -> bool:
    """Return whether anything changed on which the verdict on some call may depend."""
    # Which tools a profile concerns is found out where calls are compared.
    return bool(changed_profiles(old, new) or _concerned(old, new, changed_layers(old, new)))


def digest_of_unknown(old: Compared, new: Compared) -> str:
    """Return the digest of a difference of which nothing is known."""
    return digest_of(old.id.digest, new.id.digest, "undecided")


def _difference(
    old: Compared,
    new: Compared,
    layers: tuple[ChangedLayer, ...],
    tools: Iterable[ToolDifference],
    *,
    concerned: int,
) -> Difference:
    tools, names = tuple(tools), _tools(old.program, new.program)
    changes = (
        *(change for name in names for change in _tool_changes(name, old.program, new.program)),
        *(change for layer in layers for change in changes_of(layer)),
        *(
            change
            for layer in layers
            for change in unknown_tool_changes(layer, old.program, new.program)
        ),
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
    before, after = _spec(old, name), _spec(new, name)
    changed = [layer.key for layer in layers if layer.concerns(before, after)]
    if (
        before is None
        or after is None
        or (before is not after and before != after)
        or _profiles_of(name, old, new)
    ):
        # Everybody's calls may be decided differently, whatever the rules are.
        changed = [_EVERYBODY]
    yield from changed


def _profiles_of(name: str, old: Program, new: Program) -> tuple[str, ...]:
    """Return the programs whose profiles changed, if verdicts on a tool may depend on them."""
    found = changed_profiles(old, new)
    if not found:
        return ()
    from policy.verify.difference.command_tools import reads_commands
    from policy.verify.difference.sides import Side

    return found if any(reads_commands(Side.of(each, name)) for each in (old, new)) else ()


def _spec(program: Program, name: str) -> ToolSpec | None:
    found = program.catalog.get(name)
    return found if found is not None and found.name == name else None


def _of_tool(
    name: str, rows: tuple[LayerKey, ...], old: Program, new: Program, *, steps: int
) -> tuple[ToolDifference, ...]:
    try:
        return tuple(_compared(name, rows, old, new, steps=steps))
    except Exception as error:  # noqa: BLE001 — a mistake of ours leaves one tool open, no more
        unknown = Answer(found="undecided", because=because_of(error))
        return tuple(
            ToolDifference(tool=name, layer=key, looser=unknown, tighter=unknown, approval=unknown)
            for key in rows
        )


def _compared(
    name: str, rows: tuple[LayerKey, ...], old: Program, new: Program, *, steps: int
) -> Iterator[ToolDifference]:
    # With them comes the solver, which a policy that is not compared does without.
    from policy.verify.difference.question import Question
    from policy.verify.difference.sides import Side

    before, after = Side.of(old, name), Side.of(new, name)
    profiles = _profiles_of(name, old, new)
    because = _changed(profiles) if profiles else ""
    alike = (
        not profiles
        and before.spec is not None
        and after.spec is not None
        and _as_conditions_read(before.spec) == _as_conditions_read(after.spec)
        and old.open_fields(before.spec) == new.open_fields(after.spec)
    )
    approvals = _asks_certain_people(before) or _asks_certain_people(after)
    with Question(before, after, rows=rows, alike=alike, steps=steps) as question:
        for key in rows:
            yield ToolDifference(
                tool=name,
                layer=key,
                looser=_answer(question, "looser", key, because=because),
                tighter=_answer(question, "tighter", key, because=because),
                approval=(
                    _answer(question, "approval", key, because=because) if approvals else _NOT_FOUND
                ),
            )


def _answer(question: Question, way: Way, key: LayerKey, *, because: str) -> Answer:
    """Return whether calls differ in a way: by a proof, or by a call; the likelier one first.

    `because` is why neither may be found.
    """
    if way in question.left_open(key):
        shown = question.witness(way, key) or question.rewritten_witness(way, key)
        if shown is None:
            return Answer(found="undecided", because=because or _REWRITTEN)
        return Answer(found="yes", witness=shown)
    shown = question.witness(way, key) if question.is_large else None
    if shown is None:
        if question.is_surely_excluded(way, key):
            return _NOT_FOUND
        # With values that the attempt of a proof suggests.
        shown = question.witness(way, key)
    if shown is not None:
        return Answer(found="yes", witness=shown)
    if question.is_excluded(way, key):
        return _NOT_FOUND
    return Answer(found="undecided", because=because)


def _changed(profiles: tuple[str, ...]) -> str:
    """Return why it is not known what calls get, where profiles of programs changed."""
    names = ", ".join(f"`{name}`" for name in profiles[:_MOST_NAMED])
    more = len(profiles) - _MOST_NAMED
    what = "the profile of" if len(profiles) == 1 else "the profiles of"
    return f"{what} {names}{f' and {more} more' if more > 0 else ''} changed"


def _as_conditions_read(spec: ToolSpec) -> ToolSpec:
    """Return a definition without what no condition reads, or verdicts take from it directly."""
    return replace(
        spec,
        description="",
        requires_confirmation=False,
        pinned=False,
        unreviewed=Verdict.ASK,
        definition_digest="",
        resources=(),
        complete=False,
        unseen=False,
    )


def _asks_certain_people(side: Side) -> bool:
    """Return whether an approval of some call is more than that of anybody, once."""
    terms = [
        plan.reason.terms
        for layer in side.layers
        for plan in layer.restricting
        if plan.verdict is Verdict.ASK
    ]
    return any(one is not None and (not one.plain or one.remember is not None) for one in terms)


def _tool_changes(name: str, old: Program, new: Program) -> Iterator[Change]:
    """Yield how a tool's definition changed; what that does is in its verdicts."""
    before, after = _spec(old, name), _spec(new, name)
    if before is None or after is None:
        verb = "added" if before is None else "removed"
        yield Change(kind="tool", direction="none", what=f"{verb}: the tool `{name}`")
        return
    if before.schema != after.schema or before.open_fields != after.open_fields:
        yield Change(kind="schema", direction="none", what=f"changed: the fields of `{name}`")
    if (before.resources, before.complete, before.unseen) != (
        after.resources,
        after.complete,
        after.unseen,
    ):
        what = f"changed: what `{name}` declares that it accesses"
        yield Change(kind="resources", direction="none", what=what)

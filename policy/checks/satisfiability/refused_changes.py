"""Reports changes of a rewrite after which every call would be denied.

A rewritten call must match the tool's schema, so a change to a value that the schema never accepts
is a `deny` in disguise.
"""

from __future__ import annotations

from jsonschema_rs import validator_for

from policy.catalog import Schema, mapping
from policy.checks.checked import CheckedChange, Constant
from policy.checks.conditions.fields import tool_names
from policy.checks.names.known_tools import KnownTool
from policy.checks.report import Report
from policy.diagnostics import Severity
from policy.model import thaw


def check_changes_accepted(
    changes: tuple[CheckedChange, ...], tools: tuple[KnownTool, ...], report: Report
) -> None:
    """Report changes that the schemas of known tools never accept: a warning if only some do so."""
    for change in changes:
        found = [(tool.spec.name, _objection(change, tool)) for tool in tools]
        refusing = [(name, why) for name, why in found if why is not None]
        if not refusing:
            continue
        report.add(
            "bad-change",
            f"{tool_names([name for name, _ in refusing])}: {refusing[0][1]}",
            span=change.span,
            help="use a value that the schema accepts, or write a `deny`",
            severity=None if len(refusing) == len(found) else Severity.WARNING,
        )


def _objection(change: CheckedChange, tool: KnownTool) -> str | None:
    """Return why the change is useless for every call of the tool, None if it is not."""
    steps = tuple(step for step in change.steps if isinstance(step, str))
    if len(steps) != len(change.steps) or not tool.view.lookup(steps).known:
        return None
    there = tool.is_always_there(steps)
    match change.kind:
        case "remove" if tool.view.lookup(steps).required and not _has_default(tool, steps):
            return "the field is required, so every call would be denied without it"
        case "set if absent" if there:
            return "the field is never absent, so the change has no effect"
        case "set" | "set if absent" | "at most" | "at least" if _is_refused(change, tool, steps):
            return "the schema never accepts this value, so every changed call would be denied"
        case _:
            return None


def _has_default(tool: KnownTool, steps: tuple[str, ...]) -> bool:
    return tool.default(steps) is not None


def _is_refused(change: CheckedChange, tool: KnownTool, steps: tuple[str, ...]) -> bool:
    """Return whether the schema rejects the constant or bound of the change."""
    node = tool.node(steps)
    if node is None or not isinstance(change.value, Constant) or change.value.value is None:
        return False
    return accepts(node, tool.view.schema, change.value.value) is False


def accepts(node: Schema, root: Schema, value: object) -> bool | None:
    """Return whether a node of a schema accepts a value; None if unknown."""
    named = {key: thaw(mapping(root.get(key))) for key in ("$defs", "definitions")}
    alone = {**named, "allOf": [thaw(node)]}
    if _refers_beyond(alone):
        return None
    try:
        return bool(validator_for(alone, offline=True).is_valid(thaw(value)))
    except Exception:  # noqa: BLE001  (whatever a stranger's schema or value makes it raise)
        return None


def _refers_beyond(schema: object) -> bool:
    """Return whether a reference points to another part of the tool's schema."""
    todo = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            reference = part.get("$ref", "#/$defs/")
            known = ("#/$defs/", "#/definitions/")
            if not isinstance(reference, str) or not reference.startswith(known):
                return True
            todo.extend(part.values())
        elif isinstance(part, list):
            todo.extend(part)
    return False

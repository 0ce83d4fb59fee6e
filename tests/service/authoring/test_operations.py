"""A tool with several operations under real rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from policy import PolicyStore
from policy.approvals import Approved, ScriptedApprover
from policy.audit import JsonlSink
from policy.catalog import Arguments, Reads, Writes
from policy.model import PermissionDenied, ValidationFailed
from policy.service import GovernedService, build_tool_service
from policy.tools import ExecutionContext, Traits, tool


class Copy(Arguments):
    """Copy a file."""

    type: Literal["copy"] = "copy"
    source: Annotated[str, Reads()]
    path: Annotated[str, Writes()]


class Show(Arguments):
    """Show a file."""

    type: Literal["show"] = "show"
    path: Annotated[str, Reads()]
    lines: int = 5


class Say(Arguments):
    """Say something."""

    type: Literal["say"] = "say"
    text: str
    lines: str | None = None


@tool(traits=Traits(complete=True, strict_schema=True, examples=({"type": "say", "text": "a"},)))
def desk(args: Copy | Show | Say, ctx: ExecutionContext) -> dict[str, Any]:
    """Do one of three things."""
    assert ctx.workspace is not None
    match args:
        case Copy():
            return {"copied": args.source}
        case Show():
            return {"shown": args.path, "lines": args.lines}
        case Say():
            return {"said": args.text}


RULES = """
policy for every agent
default deny

files: allow desk when reads only workspace and writes only workspace
asked: ask desk when input.type == "copy"
quiet: deny desk when input.type == "say" and input.text == "boo"
"""


@pytest.fixture
def made(tmp_path: Path) -> tuple[PolicyStore, GovernedService, ScriptedApprover, Path]:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "global.policy").write_text(RULES)
    (tmp_path / "work").mkdir()
    store = PolicyStore(tmp_path / "rules")
    approver = ScriptedApprover(Approved(by="ada"))
    service = build_tool_service(
        store,
        tools=[desk],
        workspace=tmp_path / "work",
        approver=approver,
        audit=JsonlSink(tmp_path / "audit.jsonl"),
    )
    return store, service, approver, tmp_path


Made = tuple[PolicyStore, GovernedService, ScriptedApprover, Path]


async def test_only_the_resources_of_the_operation_are_judged(made: Made) -> None:
    store, service, approver, _ = made
    async with store.watch():
        shown = await service.execute("desk", {"type": "show", "path": "a"})
        assert shown.value == {"shown": "a", "lines": 5}
        said = await service.execute("desk", {"type": "say", "text": "hi"})
        assert said.value == {"said": "hi"}
        await service.execute("desk", {"type": "copy", "source": "a", "path": "b"})
        for bad in (
            {"type": "show", "path": "/etc/passwd"},
            {"type": "copy", "source": "/etc/passwd", "path": "b"},
            {"type": "copy", "source": "a", "path": "../b"},
            {"type": "say", "text": "boo"},
        ):
            with pytest.raises(PermissionDenied):
                await service.execute("desk", bad)
    (request,) = approver.requests
    lines = " ".join(request.resources)
    assert "reads " in lines and "/work/a" in lines
    assert "writes " in lines and "/work/b" in lines


async def test_the_call_that_is_judged_is_the_operations_own(made: Made) -> None:
    store, service, _, folder = made
    nulls = dict.fromkeys(("source", "path", "text", "lines"))
    async with store.watch():
        shown = await service.execute("desk", {**nulls, "type": "show", "path": "a"})
        assert shown.value == {"shown": "a", "lines": 5}
        # Another operation's field cannot be smuggled in, nor one's default come along.
        with pytest.raises(ValidationFailed, match="`source` is not a field of type `show`"):
            await service.execute("desk", {"type": "show", "path": "a", "source": "/etc/passwd"})
        await service.execute("desk", {"type": "say", "text": "hi"})
    records = [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]
    text = json.dumps(records[-1])
    assert '"lines"' not in text
    assert '"text": "hi"' in text


async def test_a_type_that_does_not_fit_its_operation_is_refused(made: Made) -> None:
    store, service, _, _ = made
    async with store.watch():
        with pytest.raises(ValidationFailed, match="`lines`"):
            await service.execute("desk", {"type": "show", "path": "a", "lines": "many"})
        with pytest.raises(ValidationFailed, match="must be one of `copy`, `show`, `say`"):
            await service.execute("desk", {"type": "burn", "path": "a"})


def test_models_see_one_flat_object(made: Made) -> None:
    _, service, _, _ = made
    desk_ = service.describe("desk")
    assert desk_ is not None
    text = json.dumps(dict(desk_.parameters), default=dict)
    for word in ("$ref", "oneOf", "allOf", "$defs", "discriminator", "const"):
        assert word not in text
    properties = desk_.parameters["properties"]
    assert tuple(properties["type"]["enum"]) == ("copy", "show", "say")
    assert list(desk_.parameters["required"]) == ["type", "source", "path", "lines", "text"]
    assert "(Required by `copy`.)" in properties["source"]["description"]

"""`redact results` in a service: what agents, records and clients get of what a tool returns."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import policy
from policy.audit import AuditRecord, MemorySink, ResultRedaction, record_line
from policy.model import Caller, Execution, PermissionDenied, ToolError
from policy.program import UNSEARCHED
from policy.service import (
    CoreDispatch,
    ExecutionContext,
    FollowUp,
    GovernedService,
    PermissionLayer,
    ToolOutput,
    tool,
)
from policy.tools import RelayedResult
from policy.values import redact_text

KEY = "AKIA1234"
RULES = """policy for every agent

default allow
keys: redact results of * matching /AKIA[0-9]{4}/ with "[key]"
private: redact results of records when result.kind == "private" matching /\\w+@\\w+/
soon: shadow redact results of * matching /secret/
"""
# Without a rule that asks for a field of the result.
PLAIN_RULES = RULES.replace("private:", "# private:")


class Client:
    """A client that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[str | None] = []
        self.requests = None
        self.watch = None
        self.origin = "a client"

    @property
    def progress(self) -> Any:
        async def progress(progress: float, total: float | None, message: str | None) -> None:
            self.heard.append(message)

        return progress


def service_of(
    folder: Path, returned: Callable[[], Any], *more: Any, rules: str = RULES, **settings: Any
) -> tuple[GovernedService, MemorySink]:
    """Return a service whose tool `records` returns what the function does, or raises it."""

    @tool
    def records(path: str = "") -> Any:
        """Return records."""
        return returned()

    (folder / "rules").mkdir(exist_ok=True)
    (folder / "rules" / "all.policy").write_text(rules)
    store = policy.PolicyStore(folder / "rules")
    sink = MemorySink()
    (folder / "work").mkdir()
    service = policy.build_tool_service(
        store, tools=[records, *more], workspace=folder / "work", audit=sink, **settings
    )
    return service, sink


def run(service: GovernedService, name: str = "records", **input: Any) -> ToolOutput:
    return asyncio.run(service.execute(name, input))


def last(sink: MemorySink) -> AuditRecord:
    return sink.records[-1]


def raising(error: Exception) -> Callable[[], Any]:
    def returned() -> Any:
        raise error

    return returned


# ------------------------------------------------------------------ values


@pytest.mark.parametrize(
    ("returned", "got"),
    [
        (f"a {KEY} b", "a [key] b"),
        ({"a": [KEY, {"b": KEY}], KEY: 1}, {"a": ["[key]", {"b": "[key]"}], "[key]": 1}),
        ({"n": 3, "x": None, "y": True, "z": 1.5}, {"n": 3, "x": None, "y": True, "z": 1.5}),
        (["nothing"], ["nothing"]),
    ],
)
def test_values_are_redacted(tmp_path: Path, returned: Any, got: Any) -> None:
    service, _ = service_of(tmp_path, lambda: returned, rules=PLAIN_RULES)
    assert run(service).value == got


def test_the_record_counts_places_and_never_has_the_text(tmp_path: Path) -> None:
    service, sink = service_of(tmp_path, lambda: {"a": f"{KEY} {KEY}", "b": "secret", "c": KEY})
    run(service)
    assert last(sink).redactions == (
        ResultRedaction(rule="soon", places=1, shadow=True),
        ResultRedaction(rule="keys", places=3),
    )
    assert KEY.encode() not in record_line(last(sink))
    assert json.loads(record_line(last(sink)))["redactions"][1] == {
        "rule": "keys",
        "places": 3,
        "unsearched": 0,
        "shadow": False,
        "withheld": None,
    }


def test_conditions_read_the_result(tmp_path: Path) -> None:
    service, _ = service_of(tmp_path, lambda: {"kind": "private", "to": "a@b"})
    assert run(service).value == {"kind": "private", "to": "[redacted]"}


def test_a_condition_that_is_indeterminate_withholds_the_result(tmp_path: Path) -> None:
    service, sink = service_of(tmp_path, lambda: "a@b")
    with pytest.raises(Execution) as caught:
        run(service)
    assert caught.value.code == "result-withheld"
    assert "a@b" not in str(caught.value)
    record = last(sink)
    assert (record.verdict, record.outcome, record.code) == ("allow", "withheld", "result-withheld")
    why = '`result.kind == "private"` is indeterminate'
    assert record.redactions == (ResultRedaction(rule="private", withheld=why),)


@pytest.mark.parametrize("strange", [b"bytes", {"a": object()}, {1: "a"}, "\ud800"])
def test_what_cannot_be_searched_is_withheld(tmp_path: Path, strange: Any) -> None:
    rules = "policy for every agent\n\ndefault allow\nkeys: redact results of * matching /key/\n"
    service, sink = service_of(tmp_path, lambda: ToolOutput(value=strange), rules=rules)
    with pytest.raises(ToolError) as caught:
        run(service)
    assert caught.value.code == "result-withheld"
    assert last(sink).redactions[0].withheld is not None


def test_a_result_that_is_too_deep_or_too_large_is_withheld(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    rules = "policy for every agent\n\ndefault allow\nkeys: redact results of * matching /key/\n"
    results: list[Any] = [deep, "x" * 20_000_001, [0] * 500_001]
    service, _ = service_of(tmp_path, lambda: ToolOutput(value=results.pop()), rules=rules)
    for _ in range(3):
        with pytest.raises(ToolError) as caught:
            run(service)
        assert caught.value.code == "result-withheld"


def test_others_do_not_wait_while_a_large_result_is_searched(tmp_path: Path) -> None:
    lines = [f"line {number} of {KEY}" for number in range(20_000)]
    service, _ = service_of(tmp_path, lambda: lines, rules=PLAIN_RULES)

    async def both() -> tuple[Any, int]:
        turns, searching = 0, asyncio.create_task(service.execute("records", {}))
        while not searching.done():
            turns += 1
            await asyncio.sleep(0)
        return searching.result().value, turns

    value, turns = asyncio.run(both())
    assert value == [f"line {number} of [key]" for number in range(20_000)]
    assert turns > 100


# ------------------------------------------------------------------ errors and progress


def test_the_text_of_an_exception_is_redacted(tmp_path: Path) -> None:
    service, sink = service_of(tmp_path, raising(RuntimeError(f"no {KEY} here")))
    with pytest.raises(Execution) as caught:
        run(service)
    assert (
        str(caught.value) == caught.value.message == "records failed: RuntimeError: no [key] here"
    )
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert last(sink).message == caught.value.message
    assert last(sink).redactions == (ResultRedaction(rule="keys", places=1),)


def test_conditions_on_the_result_are_not_asked_of_an_error(tmp_path: Path) -> None:
    service, _ = service_of(tmp_path, raising(RuntimeError("ask a@b")))
    with pytest.raises(Execution, match=r"ask \[redacted\]"):
        run(service)


def test_an_error_that_cannot_be_redacted_is_withheld(tmp_path: Path) -> None:
    rules = (
        'policy for every agent\n\ndefault allow\ngone: redact results of * matching /ab/ with ""\n'
    )
    service, _ = service_of(tmp_path, raising(RuntimeError("aabb")), rules=rules)
    with pytest.raises(Execution) as caught:
        run(service)
    assert caught.value.code == "result-withheld"


def test_messages_of_progress_are_redacted(tmp_path: Path) -> None:
    @tool
    async def slow(ctx: ExecutionContext) -> str:
        """Take time."""
        assert ctx.client is not None and ctx.client.progress is not None
        await ctx.client.progress(1, 2, f"at {KEY}")
        await ctx.client.progress(2, 2, None)
        return "done"

    service, _ = service_of(tmp_path, lambda: None, slow)
    client = Client()
    run(service.bound_to(Caller(), client=client), "slow")
    assert client.heard == ["at [key]", None]


MARKS = "a" + "\u0323\u0301" * 1_000


def test_long_keys_of_a_result_are_redacted_beside_other_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_main_thread: list[bool] = []

    def noting(text: str, *args: Any, **more: Any) -> Any:
        in_main_thread.append(threading.current_thread() is threading.main_thread())
        return redact_text(text, *args, **more)

    monkeypatch.setattr("policy.program.result_changes.redact_text", noting)
    service, _ = service_of(tmp_path, lambda: {MARKS: 1}, rules=PLAIN_RULES)
    run(service)
    assert in_main_thread
    assert not any(in_main_thread)


def test_what_takes_long_to_redact_is_redacted_beside_other_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[tuple[str, bool]] = []

    def noting(text: str, *args: Any, **more: Any) -> Any:
        searched.append((text, threading.current_thread() is threading.main_thread()))
        return redact_text(text, *args, **more)

    monkeypatch.setattr("policy.program.result_changes.redact_text", noting)

    @tool
    async def tells(ctx: ExecutionContext, what: str) -> str:
        """Tell something, in each way."""
        assert ctx.client is not None and ctx.client.progress is not None
        await ctx.client.progress(1, 2, f"{KEY} progress {what}")
        raise RuntimeError(f"{KEY} error {what}")

    async def calls() -> None:
        bound = service.bound_to(Caller(), client=client)
        for what in ("short", MARKS):
            with pytest.raises(Execution, match=r"\[key\] error"):
                await bound.execute("tells", {"what": what})
            await bound.execute("records", {})

    results = iter((f"{KEY} result short", f"{KEY} result {MARKS}"))
    service, _ = service_of(tmp_path, lambda: next(results), tells, rules=PLAIN_RULES)
    client = Client()
    asyncio.run(calls())
    assert [str(one).startswith("[key] progress") for one in client.heard] == [True, True]
    for place in ("progress", "error", "result"):
        waited = {MARKS in text: waits for text, waits in searched if f" {place} " in text}
        assert waited == {False: True, True: False}, place


# ------------------------------------------------------------------ results of MCP servers


def relayed(*blocks: dict[str, Any], **more: Any) -> Callable[[], ToolOutput]:
    result = RelayedResult(content=blocks, **more)
    value = more.get("structured")
    if value is None:
        value = list(blocks)
    return lambda: ToolOutput(value=value, relayed=result)


PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n\xff").decode()


@pytest.mark.parametrize(
    ("block", "got"),
    [
        ({"type": "text", "text": KEY}, {"type": "text", "text": "[key]"}),
        (
            {"type": "text", "text": "a", "annotations": {"x.y/note": KEY}, "_meta": {KEY: 1}},
            {
                "type": "text",
                "text": "a",
                "annotations": {"x.y/note": "[key]"},
                "_meta": {"[key]": 1},
            },
        ),
        (
            {"type": "image", "data": PICTURE, "mimeType": "image/png"},
            {"type": "text", "text": UNSEARCHED},
        ),
        (
            {"type": "audio", "data": PICTURE, "mimeType": "audio/wav"},
            {"type": "text", "text": UNSEARCHED},
        ),
        (
            {"type": "resource_link", "uri": f"file:///{KEY}", "name": KEY, "x-vendor": 1},
            {"type": "resource_link", "uri": "file:///[key]", "name": "[key]", "x-vendor": 1},
        ),
        (
            {"type": "resource", "resource": {"uri": "a:b", "text": KEY}},
            {"type": "resource", "resource": {"uri": "a:b", "text": "[key]"}},
        ),
        (
            {"type": "resource", "resource": {"uri": "a:b", "blob": PICTURE, "mimeType": "x/y"}},
            {
                "type": "resource",
                "resource": {"uri": "a:b", "mimeType": "text/plain", "text": UNSEARCHED},
            },
        ),
        (
            {
                "type": "resource",
                "resource": {
                    "uri": "a:b",
                    "blob": base64.b64encode(f"a {KEY}".encode()).decode(),
                    "mimeType": "text/csv",
                },
            },
            {
                "type": "resource",
                "resource": {
                    "uri": "a:b",
                    "mimeType": "text/csv",
                    "blob": base64.b64encode(b"a [key]").decode(),
                },
            },
        ),
        ({"type": "x-new", "body": [KEY]}, {"type": "x-new", "body": ["[key]"]}),
    ],
)
def test_content_of_every_type_is_redacted(tmp_path: Path, block: Any, got: Any) -> None:
    service, _ = service_of(tmp_path, relayed(block), rules=PLAIN_RULES)
    output = run(service)
    assert output.relayed is not None
    assert (output.relayed.content, output.value) == ((got,), [got])


def test_all_parts_of_a_result_of_a_server_are_redacted(tmp_path: Path) -> None:
    returned = relayed(
        {"type": "text", "text": json.dumps({"key": KEY})},
        structured={"key": KEY},
        meta={"x.y/trace": KEY, "n": 1},
        more={"x-vendor": {"a": [KEY]}, "kept": 2},
    )
    service, sink = service_of(tmp_path, returned, rules=PLAIN_RULES)
    output = run(service)
    assert output.value == {"key": "[key]"}
    assert output.relayed == RelayedResult(
        content=({"type": "text", "text": '{"key": "[key]"}'},),
        structured={"key": "[key]"},
        meta={"x.y/trace": "[key]", "n": 1},
        more={"x-vendor": {"a": ["[key]"]}, "kept": 2},
    )
    assert last(sink).redactions == (ResultRedaction(rule="keys", places=4),)


def test_names_of_the_protocol_stay(tmp_path: Path) -> None:
    rules = (
        "policy for every agent\n\ndefault allow\n"
        'all: redact results of * matching /text|type|data|user|[0-9]/ with "#"\n'
    )
    marks = {"audience": ["user"], "priority": 0.5, "x": 0.5}
    block = {"type": "text", "text": "a text", "annotations": marks}
    service, _ = service_of(tmp_path, relayed(block), rules=rules)
    output = run(service)
    assert output.relayed is not None
    (kept,) = output.relayed.content
    marks = {"audience": ["user"], "priority": 0.5, "x": "#.#"}
    assert kept == {"type": "text", "text": "a #", "annotations": marks}


def test_the_record_counts_content_that_was_withheld(tmp_path: Path) -> None:
    block = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    service, sink = service_of(tmp_path, relayed(block), rules=PLAIN_RULES)
    run(service)
    assert last(sink).redactions == (
        ResultRedaction(rule="soon", shadow=True, unsearched=1),
        ResultRedaction(rule="keys", unsearched=1),
    )


def test_an_output_that_reports_a_failure_is_redacted(tmp_path: Path) -> None:
    failed = ToolOutput(value=KEY, is_error=True)
    service, sink = service_of(tmp_path, lambda: failed, rules=PLAIN_RULES)
    output = run(service)
    assert (output.value, output.is_error) == ("[key]", True)
    assert last(sink).outcome == "failed"


def test_conditions_on_the_result_are_not_asked_of_an_output_that_reports_a_failure(
    tmp_path: Path,
) -> None:
    failed = ToolOutput(value=f"{KEY} of ann@corp", is_error=True)
    service, _ = service_of(tmp_path, lambda: failed)
    assert run(service).value == "[key] of [redacted]"


# ------------------------------------------------------------------ where they apply


def test_the_redactions_of_a_caller_apply_to_its_sub_agents(tmp_path: Path) -> None:
    agents = tmp_path / "rules" / "agents"
    agents.mkdir(parents=True)
    names = 'policy for agent "ann"\n\nnames: redact results of * matching /Ada/ with "[name]"\n'
    (agents / "ann.policy").write_text(names)
    service, _ = service_of(tmp_path, lambda: "Ada", rules=PLAIN_RULES)
    ann = Caller(agent="ann")
    for caller, got in (
        (Caller(agent="bob"), "Ada"),
        (ann, "[name]"),
        (Caller(agent="bob", parent=ann), "[name]"),
    ):
        assert run(service.bound_to(caller)).value == got


def test_a_followed_call_is_redacted_too(tmp_path: Path) -> None:
    outputs = [
        ToolOutput(value=KEY),
        ToolOutput(value=None, then=FollowUp(input={"path": "x"}, because=KEY)),
    ]
    service, _ = service_of(tmp_path, lambda: outputs.pop(), rules=PLAIN_RULES)
    assert run(service).value == "[key]"


def test_nothing_runs_where_no_layer_redacts(tmp_path: Path) -> None:
    service, _ = service_of(tmp_path, lambda: KEY)
    inner: Any = service
    while not isinstance(inner, PermissionLayer):
        inner = inner.stack if isinstance(inner, GovernedService) else inner.inner
    core: Any = inner
    while not isinstance(core, CoreDispatch):
        core = core.inner
    bare = PermissionLayer(core, adjudicator=inner.adjudicator)
    with pytest.raises(PermissionDenied, match="nothing here can do that"):
        asyncio.run(bare.execute("records", {}))


def test_the_history_has_what_the_agent_got(tmp_path: Path) -> None:
    rules = (
        PLAIN_RULES
        + """
seen: deny records unless input.path == "" or input.path in results(records).key
"""
    )
    service, _ = service_of(tmp_path, lambda: {"key": KEY}, rules=rules)
    assert run(service).value == {"key": "[key]"}
    assert run(service, path="[key]").value == {"key": "[key]"}
    with pytest.raises(PermissionDenied):
        run(service, path=KEY)

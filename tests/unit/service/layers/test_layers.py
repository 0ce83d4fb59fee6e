"""Each layer alone, around a service that only counts calls."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from policy.approvals import Approved, ScriptedApprover
from policy.audit import MemorySink
from policy.model import NotFound, PermissionDenied, Timeout, Verdict
from policy.service import (
    Adjudicator,
    Allow,
    Confirm,
    ContextRuleLayer,
    CoreDispatch,
    Deny,
    ExecAuditLayer,
    PermissionLayer,
    PinLayer,
    Rewrite,
    TimeoutLayer,
    fixed_limits,
)
from policy.tools import ToolDefinition, ToolOutput, ToolRegistry, ToolService
from tests.fakes import CountingHandler
from tests.unit.service.judges import always


class Inner:
    """Keeps what reaches it."""

    def __init__(self, *, forever: bool = False) -> None:
        self.calls: list[tuple[str, Any]] = []
        self._forever = forever

    async def execute(self, name: str, input: Any) -> ToolOutput:
        self.calls.append((name, input))
        if self._forever:
            await asyncio.get_running_loop().create_future()
        return ToolOutput(value="out")

    def list(self) -> list[ToolDefinition]:
        return [ToolDefinition(name="inner")]

    def describe(self, name: str) -> ToolDefinition | None:
        return ToolDefinition(name=name) if name == "inner" else None


class Says:
    def __init__(self, said: Any) -> None:
        self.said = said

    def classify(self, name: str, input: Mapping[str, Any]) -> Any:
        return self.said

    def evaluate(self, name: str, input: Mapping[str, Any], ctx: Any) -> Any:
        return self.said


def layers(inner: ToolService) -> list[ToolService]:
    return [
        ExecAuditLayer(inner),
        PinLayer(inner, Adjudicator()),
        PermissionLayer(inner),
        ContextRuleLayer(inner),
        TimeoutLayer(inner, fixed_limits(1)),
    ]


@pytest.mark.parametrize("which", range(5))
def test_list_and_describe_pass_through_every_layer(which: int) -> None:
    layer = layers(Inner())[which]
    assert [tool.name for tool in layer.list()] == ["inner"]
    found = layer.describe("inner")
    assert found is not None
    assert layer.describe("other") is None


async def test_the_audit_layer_stamps_and_records() -> None:
    sink = MemorySink()
    ticks = iter([1.0, 1.25])
    layer = ExecAuditLayer(Inner(), sink=sink, ticks=lambda: next(ticks))
    output = await layer.execute("echo", {})
    assert output.metadata.latency_ms == 250
    assert [(r.outcome, r.latency_ms) for r in sink.records] == [("ok", 250)]


@pytest.mark.parametrize(
    ("said", "answers", "runs", "asks"),
    [
        (None, [], False, 0),
        (Allow(), [], True, 0),
        (Deny("no"), [Approved(by="a")], False, 0),
        (Confirm("?"), [Approved(by="a")], True, 1),
        (Confirm("?"), [], False, 1),
    ],
)
async def test_the_permission_layer_alone_has_only_its_filter(
    said: Any, answers: list[Any], *, runs: bool, asks: int
) -> None:
    inner, approver = Inner(), ScriptedApprover(*answers)
    layer = PermissionLayer(inner)
    layer.set_approver(approver)
    if said is not None:
        layer.set_smart_filter(Says(said))
    if runs:
        await layer.execute("echo", {"a": 1})
    else:
        with pytest.raises(PermissionDenied):
            await layer.execute("echo", {"a": 1})
    assert (len(inner.calls), len(approver.requests)) == (int(runs), asks)


async def test_the_context_rule_layer_alone_is_empty_until_rules_are_set() -> None:
    inner = Inner()
    layer = ContextRuleLayer(inner)
    await layer.execute("echo", {"a": 1})
    layer.set_rules([Says(Rewrite({"a": 2}))])
    await layer.execute("echo", {"a": 1})
    layer.set_rules([Says(Deny("no"))])
    with pytest.raises(PermissionDenied):
        await layer.execute("echo", {"a": 1})
    assert [input for _, input in inner.calls] == [{"a": 1}, {"a": 2}]


async def outcome(layer: ToolService, inner: Inner) -> Any:
    """Return the input that reached the tool, or the message of the refusal."""
    try:
        await layer.execute("echo", {"a": 1})
    except PermissionDenied as refused:
        return refused.message
    return inner.calls[-1][1]


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("rules_outside", [False, True])
@pytest.mark.parametrize(
    ("said", "rule", "comes_of_it"),
    [
        (None, None, "no rule allows this"),
        (None, Allow(), "no rule allows this"),
        (Deny("filtered"), None, "filtered"),
        (Deny("filtered"), Rewrite({"a": 2}), "filtered"),
        (Allow(), Deny("ruled out"), "ruled out"),
        (Allow(), None, {"a": 1}),
        (Allow(), Rewrite({"a": 2}), {"a": 2}),
    ],
)
async def test_a_filter_and_rules_hold_however_their_layers_are_stacked(
    said: Any, rule: Any, comes_of_it: Any, *, rules_outside: bool, between: bool
) -> None:
    inner = Inner()
    kinds = [ContextRuleLayer, PermissionLayer]
    innermost, outermost = kinds[::-1] if rules_outside else kinds
    within = innermost(inner)
    layer = outermost(TimeoutLayer(within, fixed_limits(60)) if between else within)
    for each in (within, layer):
        if isinstance(each, PermissionLayer) and said is not None:
            each.set_smart_filter(Says(said))
        if isinstance(each, ContextRuleLayer) and rule is not None:
            each.set_rules([Says(rule)])
    assert await outcome(layer, inner) == comes_of_it


async def test_a_filter_judges_what_a_rule_further_in_makes_of_a_call() -> None:
    class OnlyOnes:
        def classify(self, name: str, input: Mapping[str, Any]) -> Any:
            return Allow() if input == {"a": 1} else Deny("not one")

    inner = Inner()
    rules = ContextRuleLayer(inner)
    layer = PermissionLayer(rules)
    layer.set_smart_filter(OnlyOnes())
    rules.set_rules([Says(Rewrite({"a": 2}))])
    assert await outcome(layer, inner) == "not one"


@pytest.mark.parametrize(
    ("rule", "comes_of_it"),
    [
        (None, {"a": 1}),
        (Allow(), {"a": 1}),
        (Deny("ruled out"), "ruled out"),
        (Rewrite({"a": 2}), "a context rule would change a call that has been judged"),
    ],
)
async def test_rules_count_for_a_call_that_was_judged_without_them(
    rule: Any, comes_of_it: Any
) -> None:
    inner = Inner()
    rules = ContextRuleLayer(inner)
    if rule is not None:
        rules.set_rules([Says(rule)])
    adjudicator = Adjudicator(source=lambda: always(Verdict.ALLOW))
    assert await outcome(PermissionLayer(rules, adjudicator=adjudicator), inner) == comes_of_it
    outer = ContextRuleLayer(rules)
    assert await outcome(outer, inner) == comes_of_it


async def test_a_permission_layer_trusts_no_judgement_but_its_own() -> None:
    inner = Inner()
    layer = PinLayer(PermissionLayer(inner), Adjudicator(source=lambda: always(Verdict.ALLOW)))
    assert await outcome(layer, inner) == "no rule allows this"


async def test_the_timeout_layer_ends_what_takes_too_long() -> None:
    layer = TimeoutLayer(Inner(forever=True), fixed_limits(60, {"slow": 0.01}))
    with pytest.raises(Timeout) as caught:
        await layer.execute("slow", {})
    assert caught.value.seconds == 0.01


async def test_the_pin_layer_judges_once_and_hands_its_judgement_on() -> None:
    generation = always(Verdict.ALLOW)
    inner = Inner()
    adjudicator = Adjudicator(source=lambda: generation)
    stack = PinLayer(
        PermissionLayer(ContextRuleLayer(inner, adjudicator=adjudicator), adjudicator=adjudicator),
        adjudicator,
    )
    await stack.execute("echo", {"a": 1})
    assert generation.answers == 1
    assert inner.calls == [("echo", {"a": 1})]


async def test_dispatch_runs_nothing_but_the_very_call_that_was_judged() -> None:
    handler, registry = CountingHandler(), ToolRegistry()
    registry.register("echo", handler)

    class Tampers(CoreDispatch):
        async def execute(self, name: str, input: Any) -> ToolOutput:
            return await super().execute(name, {**input})

    generation = always(Verdict.ALLOW)
    adjudicator = Adjudicator(source=lambda: generation)
    tampered = PermissionLayer(Tampers(registry), adjudicator=adjudicator)
    with pytest.raises(PermissionDenied, match="not the one that was judged"):
        await tampered.execute("echo", {})
    unasked = PinLayer(CoreDispatch(registry), adjudicator)
    with pytest.raises(PermissionDenied):
        await unasked.execute("echo", {})
    assert handler.calls == 0


async def test_dispatch_alone_finds_or_does_not_find() -> None:
    registry = ToolRegistry()
    registry.register("echo", CountingHandler())
    dispatch = CoreDispatch(registry)
    assert (await dispatch.execute("echo", {"a": 1})).value == {"a": 1}
    with pytest.raises(NotFound):
        await dispatch.execute("other", {})
    assert [tool.name for tool in dispatch.list()] == ["echo"]

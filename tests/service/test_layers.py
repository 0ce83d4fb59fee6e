"""The layers of a service that was built as users build it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policy import PermissionDenied, PolicyStore, build_tool_service
from policy.service import (
    ContextRuleLayer,
    CoreDispatch,
    Deny,
    ExecAuditLayer,
    PermissionLayer,
    Rewrite,
    RuleContext,
    TimeoutLayer,
)
from policy.tools import ToolService
from tests.fakes import CountingHandler


class Rule:
    """A context rule that always says the same."""

    def __init__(self, said: Any) -> None:
        self.said = said

    def evaluate(self, name: str, input: Any, ctx: RuleContext) -> Any:
        return self.said


@pytest.fixture
def store(tmp_path: Path) -> PolicyStore:
    (tmp_path / "global.policy").write_text("policy for every agent\ndefault allow\n")
    return PolicyStore(tmp_path)


def chain(outermost: ToolService) -> list[ToolService]:
    found: list[ToolService] = [outermost]
    while hasattr(found[-1], "inner"):
        found.append(found[-1].inner)
    return found


def test_the_five_layers_stand_in_their_order_and_all_show_the_same_tools(
    store: PolicyStore,
) -> None:
    service = build_tool_service(store, tools=[CountingHandler("one"), CountingHandler("two")])
    layers = chain(service.stack)
    required = (ExecAuditLayer, PermissionLayer, ContextRuleLayer, TimeoutLayer, CoreDispatch)
    assert [type(layer) for layer in layers if isinstance(layer, required)] == list(required)
    for layer in layers:
        assert [tool.name for tool in layer.list()] == ["one", "two"]
        described = layer.describe("two")
        assert described is not None
        assert described.name == "two"
        assert layer.describe("three") is None


async def test_rules_of_the_host_are_none_until_set_and_hold_from_then_on(
    store: PolicyStore,
) -> None:
    tool = CountingHandler("one")
    service = build_tool_service(store, tools=[tool])
    await service.execute("one", {"n": 1})
    service.set_rules([Rule(Rewrite({"n": 2}))])
    out = await service.execute("one", {"n": 1})
    assert out.metadata.rewritten
    service.set_rules([Rule(Deny("not today"))])
    with pytest.raises(PermissionDenied):
        await service.execute("one", {"n": 1})
    service.set_rules([])
    await service.execute("one", {"n": 3})
    assert tool.inputs == [{"n": 1}, {"n": 2}, {"n": 3}]

"""Policies for tests of the service, as plain functions of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from policy.catalog import Catalog, RunningTool, ToolSpec
from policy.decision import Decision, GenerationId
from policy.model import Caller, Facts, Reason, ToolCall, Verdict

Rule = Callable[[ToolCall, Facts], Verdict | tuple[Verdict, Mapping[str, Any]]]


@dataclass(frozen=True)
class FakeAnswer:
    decision: Decision
    admitted: Any = None
    refused: Any = None


@dataclass
class FakeGeneration:
    """Decides by a function; counts how often it is asked."""

    rule: Rule
    number: int = 1
    name: str = "rule"
    answers: int = 0

    def answer(self, tool: str, input: Any, *, caller: Caller, facts: Facts) -> FakeAnswer:
        self.answers += 1
        asked = ToolCall(tool=tool, input=input)
        said = self.rule(asked, facts)
        verdict, new = said if isinstance(said, tuple) else (said, None)
        call = asked if new is None else ToolCall(tool=tool, input=new)
        reason = Reason(rule=self.name, verdict=verdict)
        return FakeAnswer(
            Decision(
                verdict=verdict,
                call=call,
                asked=asked,
                reasons=(reason,),
                generation=GenerationId(number=self.number, digest=f"sha256:{self.number}"),
            )
        )


@dataclass
class FakeStore:
    """A store whose generation a test puts there."""

    current: Any
    catalog: Catalog = field(default_factory=Catalog)
    status: Any = field(default_factory=lambda: SimpleNamespace(stale=False))

    def extend_catalog(self, specs: Iterable[ToolSpec]) -> None:
        self.catalog = self.catalog.with_tools(specs)

    def register_tools(
        self, tools: Iterable[RunningTool], *, by: object, others_follow: bool = False
    ) -> None:
        self.extend_catalog(tool.spec for tool in tools)


def always(verdict: Verdict, *, number: int = 1, name: str = "rule") -> FakeGeneration:
    return FakeGeneration(lambda call, facts: verdict, number=number, name=name)

"""What a host application passes in works in each form it may have, or is rejected at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from policy import PolicyStore, build_tool_service, load
from policy.approvals import Approved, Denied
from policy.model import PermissionDenied
from policy.service import (
    Allow,
    ApprovalGate,
    Confirm,
    Deny,
    GovernedService,
    LayeredPermissionResolver,
    Rewrite,
    RuleContext,
)
from tests.fakes import CountingHandler
from tests.service.registry.stage import Governed

ASKS = 'refund: allow echo with approval because "money leaves"\n'


class ByName:
    """An approver as the documents of tool services have it."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer or Approved(by="ada")
        self.asked: list[tuple[str, str]] = []

    async def ask(self, tool_name: str, reason: str) -> Any:
        self.asked.append((tool_name, reason))
        return self.answer


class AtOnce:
    """An approver that answers without waiting."""

    def ask(self, request: Any) -> Approved:
        return Approved(by="ada")


class BothAtOnce:
    """The same, asked by name."""

    def ask(self, tool_name: str, reason: str) -> Approved:
        return Approved(by="ada")


async def test_an_approver_may_be_asked_with_a_name_and_a_reason(tmp_path: Path) -> None:
    approver = ByName()
    g = Governed(tmp_path, ASKS, CountingHandler(), approver=approver)
    assert await g.call("echo", amount=20) == {"amount": 20}
    ((name, reason),) = approver.asked
    # Nobody approves a call that they do not see.
    assert name == "echo" and "money leaves" in reason and '{"amount": 20}' in reason
    assert g.records[-1].approvals[0].by == "ada"


async def test_what_such_an_approver_refuses_does_not_run(tmp_path: Path) -> None:
    approver = ByName(Denied(by="ada", reason="too much"))
    g = Governed(tmp_path, ASKS, echo := CountingHandler(), approver=approver)
    with pytest.raises(PermissionDenied, match="too much"):
        await g.service.execute("echo", {})
    assert echo.calls == 0


@pytest.mark.parametrize("approver", [AtOnce(), BothAtOnce()])
async def test_an_approver_may_answer_without_waiting(approver: Any, tmp_path: Path) -> None:
    g = Governed(tmp_path, ASKS, CountingHandler(), approver=approver)
    assert await g.call("echo") == {}


class NoArguments:
    async def ask(self) -> Approved:
        return Approved(by="ada")


class ThreeArguments:
    async def ask(self, tool_name: str, reason: str, input: Any) -> Approved:
        return Approved(by="ada")


class NamedArguments:
    async def ask(self, *, request: Any) -> Approved:
        return Approved(by="ada")


@pytest.mark.parametrize("approver", [NoArguments(), ThreeArguments(), NamedArguments()])
def test_an_approver_that_cannot_be_asked_is_rejected_with_the_service(
    approver: Any, tmp_path: Path
) -> None:
    said = r"`ask` must take|`ask\(request\)` or `ask\(tool_name, reason\)`"
    with pytest.raises(TypeError, match=said):
        Governed(tmp_path, ASKS, CountingHandler(), approver=approver)
    g = Governed(tmp_path, ASKS, CountingHandler())
    with pytest.raises(TypeError, match=said):
        g.service.set_approver(approver)


class Halves:
    """A context rule of the call alone."""

    def evaluate(self, name: str, input: Mapping[str, Any]) -> Any:
        if input.get("amount", 0) > 100:
            return Deny("too much")
        return Rewrite({"amount": input["amount"] // 2}) if input["amount"] == 100 else Allow()


class NewVersionsOnly:
    """Such a rule may say that it tells versions apart."""

    knows_versions = True

    def __init__(self) -> None:
        self.names: list[str] = []

    def evaluate(self, name: str, input: Mapping[str, Any]) -> Any:
        self.names.append(name)
        return Allow()


async def test_a_context_rule_may_do_without_the_context(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow echo\n", CountingHandler(), CountingHandler("greet", version=2))
    g.service.set_rules([Halves()])
    assert await g.call("echo", amount=100) == {"amount": 50}
    assert await g.call("echo", amount=99) == {"amount": 99}
    with pytest.raises(PermissionDenied, match="too much"):
        await g.service.execute("echo", {"amount": 101})


async def test_a_rule_without_context_is_asked_about_versions_as_it_wants(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow greet\n", CountingHandler("greet", version=2))
    rule = NewVersionsOnly()
    g.service.set_rules([rule])
    await g.call("greet")
    assert rule.names == ["greet@2"]


class AsyncRule:
    async def evaluate(self, name: str, input: Any, ctx: RuleContext) -> Allow:
        return Allow()


class NameRule:
    def evaluate(self, name: str) -> Allow:
        return Allow()


def a_function(name: str, input: Any) -> Allow:
    return Allow()


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (AsyncRule(), "`AsyncRule.evaluate` is async"),
        (NameRule(), r"`evaluate\(name, input, ctx\)` or `evaluate\(name, input\)`"),
        (Halves, "`Halves` is a class"),
        (a_function, "`function` is not a context rule: it has no method `evaluate`"),
        (None, "not a context rule"),
    ],
)
def test_a_context_rule_that_would_deny_everything_is_rejected(
    rule: Any, said: str, tmp_path: Path
) -> None:
    g = Governed(tmp_path, "allow echo\n", CountingHandler())
    with pytest.raises(TypeError, match=said):
        g.service.set_rules([Halves(), rule])


class AsyncFilter:
    async def classify(self, name: str, input: Any) -> Allow:
        return Allow()


class ContextFilter:
    def classify(self, name: str, input: Any, ctx: Any) -> Allow:
        return Allow()


@pytest.mark.parametrize(
    ("smart_filter", "said"),
    [
        (AsyncFilter(), "`AsyncFilter.classify` is async"),
        (ContextFilter(), r"`classify\(name, input\)`"),
        (a_function, "it has no method `classify`"),
    ],
)
def test_a_filter_that_would_deny_everything_is_rejected(
    smart_filter: Any, said: str, tmp_path: Path
) -> None:
    g = Governed(tmp_path, "allow echo\n", CountingHandler())
    with pytest.raises(TypeError, match=said):
        g.service.set_smart_filter(smart_filter)


@pytest.mark.parametrize("sandbox", [object(), AtOnce, NoArguments()])
def test_a_sandbox_that_cannot_be_asked_is_rejected(sandbox: Any, tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow echo\n", CountingHandler())
    with pytest.raises(TypeError, match=r"sandbox|must take"):
        g.service.set_sandbox(sandbox)


class Fails:
    """Fails, whatever it is asked."""

    async def ask(self, request: Any) -> Any:
        raise LookupError("no desk")

    def classify(self, name: str, input: Any) -> Any:
        raise LookupError("no table")

    def evaluate(self, name: str, input: Any) -> Any:
        raise LookupError("no table")


class Answers:
    """Answers with what is no answer."""

    async def ask(self, request: Any) -> Any:
        return True

    def classify(self, name: str, input: Any) -> Any:
        return True

    def evaluate(self, name: str, input: Any) -> Any:
        return Confirm("sure?")


@pytest.mark.parametrize(
    ("put", "said"),
    [
        (lambda s: s.set_approver(Fails()), "the approver failed, so the call is denied: Lookup"),
        (lambda s: s.set_approver(Answers()), "the approver returned a `bool`"),
        (lambda s: s.set_smart_filter(Fails()), "the filter failed, so the call is denied: Look"),
        (lambda s: s.set_smart_filter(Answers()), "the filter returned a `bool`"),
        (lambda s: s.set_rules([Fails()]), "a context rule failed, so the call is denied: Look"),
        (lambda s: s.set_rules([Answers()]), "a context rule returned a `Confirm`"),
    ],
)
async def test_the_host_reads_in_its_log_what_failed(
    put: Callable[[GovernedService], None],
    said: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "a.policy").write_text("policy for every agent\ndefault deny\n" + ASKS)
    service = build_tool_service(
        PolicyStore(tmp_path / "a.policy"), tools=[CountingHandler()], policy_in_workspace=True
    )
    put(service)
    with caplog.at_level(logging.ERROR), pytest.raises(PermissionDenied):
        await service.execute("echo", {})
    assert [record.getMessage()[: len(said)] for record in caplog.records] == [said]


def _no_caller() -> dict[str, Any]:
    return {}


async def _later(caller: Any) -> dict[str, Any]:
    return {}


def _addresses(name: str) -> tuple[str, ...]:
    return ()


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"caller": "coder"}, TypeError, "`str` is not a `Caller`"),
        (
            {"context": {"mode": "x"}},
            TypeError,
            r"`context` must be a function that takes \(caller",
        ),
        ({"context": _no_caller}, TypeError, r"`context` must be a function"),
        ({"context": _later}, TypeError, "must not be async"),
        ({"clock": datetime.now(tz=UTC)}, TypeError, "`clock` must be a function"),
        ({"look_up": "1.1.1.1"}, TypeError, "`look_up` must be a function"),
        ({"look_up": _addresses}, TypeError, "`look_up` must be async"),
        ({"approvals": object()}, TypeError, "`object` is not an approvals store"),
        ({"limits": {"read": 5}}, TypeError, "must be a `Limits`"),
        ({"default_timeout": 0}, ValueError, "`default_timeout` must be more than 0"),
        ({"default_timeout": "5"}, TypeError, "`default_timeout` must be a number"),
        ({"timeouts": {"echo": -1}}, ValueError, "`echo` must be more than 0"),
        ({"approval_timeout": float("nan")}, ValueError, "`approval_timeout` must be more than 0"),
        ({"asks_per_session": -1}, ValueError, "must not be negative"),
        ({"asks_per_session": 1.5}, TypeError, "must be a whole number"),
    ],
)
def test_what_every_call_would_fail_on_is_rejected_with_the_service(
    given: dict[str, Any], error: type[Exception], said: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=said):
        build_tool_service(tools=[CountingHandler()], workspace=tmp_path, **given)


def test_a_path_or_a_generation_is_no_policy_store(tmp_path: Path) -> None:
    (tmp_path / "a.policy").write_text("policy for every agent\ndefault deny\n")
    with pytest.raises(TypeError, match=r"pass `PolicyStore\('.*'\)`"):
        build_tool_service(tmp_path)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`Generation` has no `current`"):
        build_tool_service(load(tmp_path))  # type: ignore[arg-type]


def test_a_service_is_bound_to_callers_only(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow echo\n", CountingHandler())
    with pytest.raises(TypeError, match="`str` is not a `Caller`"):
        g.service.bound_to("coder")  # type: ignore[arg-type]


@pytest.mark.parametrize("groups", [["finance"], {"finance"}, ("finance",)])
async def test_the_groups_of_an_approver_may_be_any_collection(groups: Any, tmp_path: Path) -> None:
    approver = ByName(Approved(by="ada", groups=groups))
    g = Governed(
        tmp_path, 'allow echo with approval by "finance"\n', CountingHandler(), approver=approver
    )
    assert await g.call("echo") == {}


async def test_the_policy_as_a_filter_takes_a_store(tmp_path: Path) -> None:
    store = PolicyStore(tmp_path / "a.policy")
    (tmp_path / "a.policy").write_text("policy for every agent\ndefault deny\nallow file_list\n")
    store.reload()
    service = build_tool_service(workspace=tmp_path)
    service.set_smart_filter(LayeredPermissionResolver(store))
    assert (await service.execute("file_list", {"path": "."})).value["entries"]
    with pytest.raises(PermissionDenied):
        await service.execute("file_read", {"path": "a.policy"})


@pytest.mark.parametrize("source", [None, "rules/", object()])
def test_what_has_no_policy_is_no_source_of_one(source: Any) -> None:
    with pytest.raises(TypeError, match="is no source of policies"):
        LayeredPermissionResolver(source)


@pytest.mark.parametrize("desk", [object(), "approvals.db", None])
def test_a_gate_needs_a_store_of_requests(desk: Any) -> None:
    with pytest.raises(TypeError, match="keeps no approval requests"):
        ApprovalGate(desk)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "a.policy"),
        ("policy for every agent\n\ndefault deny\nallow !\n", "a.policy:4"),
        ("policy for every agent\n\ndefault deny\n", None),
    ],
)
def test_a_service_without_a_policy_says_why_in_the_log(
    text: str | None, said: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "work").mkdir()
    if text is not None:
        (tmp_path / "rules/a.policy").write_text(text)
    store = PolicyStore(tmp_path / "rules/a.policy")
    build_tool_service(store, workspace=tmp_path / "work")
    messages = [record.getMessage() for record in caplog.records]
    if said is None:
        assert messages == []
    else:
        (message,) = messages
        assert message.startswith("no policy is in force, so every call is denied: ")
        assert said in message

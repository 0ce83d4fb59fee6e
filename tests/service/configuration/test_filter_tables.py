"""Lists of allowed, blocked and confirmed tools, as the service applies them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy import PermissionDenied, ToolCall, ToolFilter, build_tool_service
from policy.diagnostics import Severity
from policy.generation import read_policy
from policy.service import Allow, Confirm, Deny
from tests.examples import examples
from tests.service.configuration.office import Office, tool

LISTS = """\
[permissions.tools]
default = "deny"

[permissions.filter]
allowed = [
  "memory_*",   # every tool of the memory
  "look",
  "wipe",
]
blocked = ["wipe", "*_drop"]
require_confirmation = ["memory_write"]
"""


async def test_a_filter_denies_asks_and_allows(tmp_path: Path) -> None:
    tools = [tool(n) for n in ("memory_read", "memory_write", "memory_drop", "look", "wipe", "x")]
    office = Office(tmp_path, LISTS, *tools)
    assert [await office.outcome(t.spec.name) for t in tools] == [
        "allow",
        "ask",
        "deny",
        "allow",
        "deny",
        "deny",
    ]
    assert [t.calls for t in tools] == [1, 1, 0, 1, 0, 0]


async def test_a_reason_names_the_entry_and_its_line(tmp_path: Path) -> None:
    office = Office(tmp_path, LISTS, tool("memory_write"), tool("wipe"), tool("x"))
    await office.outcome("memory_write")
    assert office.rules == ["table:filter.require_confirmation.memory_write"]
    first = office.last.reasons[0]
    assert (first.file, first.line) == ("placet.toml", 11)
    assert ("table:filter.allowed.memory_*", 6) in [(r.rule, r.line) for r in office.last.reasons]
    await office.outcome("wipe")
    assert office.rules == ["table:filter.blocked.wipe"]
    await office.outcome("x")
    assert office.rules == ["default", "table:filter.allowed"]


async def test_an_empty_list_of_allowed_tools_allows_none(tmp_path: Path) -> None:
    toml = '[permissions.tools]\ndefault = "allow"\n[permissions.filter]\nallowed = []\n'
    office = Office(tmp_path, toml, tool("x"))
    assert await office.outcome("x") == "deny"


async def test_the_filter_of_an_agent_only_takes_from_what_everyone_has(tmp_path: Path) -> None:
    office = Office(
        tmp_path,
        '[permissions.tools]\ndefault = "allow"\nsecret = "deny"\n'
        '[permissions.agents.clerk.filter]\nallowed = ["look", "secret"]\n'
        'require_confirmation = ["look"]\n',
        tool("look"),
        tool("secret"),
        tool("x"),
    )
    assert not [d for d in office.store.status.diagnostics if d.severity is Severity.ERROR]
    assert [await office.outcome(n, agent="clerk") for n in ("look", "secret", "x")] == [
        "ask",
        "deny",
        "deny",
    ]
    assert await office.outcome("x") == "allow"


def test_a_name_that_is_no_tool_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "placet.toml").write_text(
        '[permissions.filter]\nblocked = [\n  "file_read",\n  "file_wrtie",\n]\n'
    )
    (tmp_path / "global.policy").write_text("policy for every agent\ndefault deny\n")
    (found,) = read_policy(tmp_path).diagnostics
    assert (found.code, found.place) == ("unknown-tool", ("placet.toml", 4, 3))
    assert found.help == "did you mean `file_write`?"


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('blocked = "bash"', (2, 1)),
        ("blocked = [1]", (2, 1)),
        ("blokced = []", (2, 1)),
        ('allowed = ["file_read", ""]', (2, 25)),
    ],
)
def test_what_is_no_list_of_names_keeps_the_policy_from_loading(
    tmp_path: Path, line: str, place: tuple[int, int]
) -> None:
    (tmp_path / "placet.toml").write_text(f"[permissions.filter]\n{line}\n")
    (tmp_path / "global.policy").write_text("policy for every agent\ndefault deny\n")
    built = read_policy(tmp_path)
    assert built.generation is None
    assert {d.place[1:] for d in built.diagnostics if d.severity is Severity.ERROR} == {place}


NAMES = ("memory_read", "memory_write", "look", "bash_exec")
PATTERNS = st.sampled_from(["memory_*", "*_write", "look", "bash", "l??k", "*", "nothing"])
SETS = st.frozensets(PATTERNS, max_size=3)


@settings(max_examples=examples(25), deadline=None)
@given(allowed=st.one_of(st.none(), SETS), blocked=SETS, asked=SETS)
def test_the_table_and_the_class_say_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    allowed: frozenset[str] | None,
    blocked: frozenset[str],
    asked: frozenset[str],
) -> None:
    own = ToolFilter(allowed, blocked, asked)
    lists = {"allowed": allowed, "blocked": blocked, "require_confirmation": asked}
    text = '[permissions.tools]\ndefault = "allow"\n[permissions.filter]\n' + "".join(
        f"{key} = {sorted(names)}\n".replace("'", '"')
        for key, names in lists.items()
        if names is not None
    )
    office = Office(tmp_path_factory.mktemp("office"), text, *map(tool, NAMES))
    words = {Allow: "allow", Confirm: "ask", Deny: "deny"}
    for name in NAMES:
        verdict = office.store.decide(ToolCall(tool=name)).verdict
        assert verdict == words[type(own.classify(name, {}))]


# --- the class, for services without policy files


async def test_a_service_without_files_is_governed_by_a_filter() -> None:
    tools = [tool("look"), tool("memory_write"), tool("wipe")]
    service = build_tool_service(tools=tools)
    service.set_smart_filter(ToolFilter(("look", "memory_*"), ("wipe",), ("memory_write",)))
    await service.execute("look", {})
    for name in ("memory_write", "wipe"):
        with pytest.raises(PermissionDenied):
            await service.execute(name, {})
    assert [t.calls for t in tools] == [1, 0, 0]


def expected(allowed: bool | None, *, blocked: bool, asked: bool) -> type:
    if blocked or allowed is False:
        return Deny
    return Confirm if asked else Allow


@pytest.mark.parametrize(
    ("allowed", "blocked", "asked"),
    list(product([None, True, False], [True, False], [True, False])),
)
def test_blocked_goes_before_allowed_and_that_before_the_question(
    allowed: bool | None, blocked: bool, asked: bool
) -> None:
    own = ToolFilter(
        None if allowed is None else (["t"] if allowed else ["other"]),
        ["t"] if blocked else [],
        {"t"} if asked else (),
    )
    assert type(own.classify("t", {})) is expected(allowed, blocked=blocked, asked=asked)


def test_a_version_counts_by_both_of_its_names() -> None:
    assert isinstance(ToolFilter(blocked=["translate"]).classify("translate@2", {}), Deny)
    assert isinstance(ToolFilter(blocked=["translate@2"]).classify("translate@2", {}), Deny)
    assert isinstance(ToolFilter(blocked=["translate@1"]).classify("translate@2", {}), Allow)
    assert isinstance(ToolFilter(blocked=["*late"]).classify("translate@2", {}), Deny)
    assert isinstance(ToolFilter(allowed=["translate"]).classify("translate@2", {}), Allow)
    assert isinstance(ToolFilter(blocked=["a"]).classify("a@b", {}), Allow)


def test_an_alias_counts_for_its_tool() -> None:
    assert isinstance(ToolFilter(blocked=["bash"]).classify("bash_exec", {}), Deny)


@pytest.mark.parametrize("names", ["bash", [1], ["a", None]])
def test_what_is_no_collection_of_names_is_refused(names: object) -> None:
    for key in ("allowed", "blocked", "require_confirmation"):
        with pytest.raises(TypeError, match=key):
            ToolFilter(**{key: names})  # type: ignore[arg-type]


def test_a_hostile_name_costs_no_more_than_its_length() -> None:
    own = ToolFilter(blocked=["*a*a*a*a*a*a*a*a*b"])
    assert isinstance(own.classify("a" * 100_000, {}), Allow)

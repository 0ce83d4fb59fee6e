"""Under a policy that allows nothing, no hook call is allowed, whatever the agent sends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.daemon.agents import AGENTS
from policy.daemon.agents.mapping import Unmapped, mapped
from policy.daemon.context import HookContext
from policy.daemon.decider import Decider
from policy.daemon.request import HookAnswer, Request

NOTHING = "policy for every agent\n\ndefault deny\n"
POLICIES = {
    "nothing": NOTHING,
    "reading": f"{NOTHING}read: allow file_read when reads only workspace\n",
}
FIELDS = sorted(
    {"command", "file_path", "path", "dir_path", "content", "pattern", "url", "prompt", "timeout"}
    | {"edits", "new_string", "notebook_path", "glob", "include", "directory", "description"}
)
PATHS = ("", ".", "..", "/", "a.txt", "../a", "/etc/passwd", "~/.ssh/id_rsa", "*", "**/*", "{a,/b}")
SCRIPTS = (
    "ls",
    "cat a.txt",
    "$(id)",
    "ls; rm -rf /",
    "cat <<E\nx\nE",
    "https://example.com/",
    "\0",
)
PATCHES = (
    "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch",
    "*** Delete File: ../x",
)
TEXTS = st.sampled_from((*PATHS, *SCRIPTS, *PATCHES)) | st.text(max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
INPUTS = st.dictionaries(st.sampled_from(FIELDS), TEXTS, max_size=3) | st.dictionaries(
    st.sampled_from(FIELDS) | TEXTS, VALUES, max_size=3
)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Return an agent's name and what it writes to its hook."""
    agent = AGENTS[draw(st.sampled_from(sorted(AGENTS)))]
    tools = st.sampled_from([*agent.rows, *agent.own_tools, "mcp__github__x", "file_read", "Bash"])
    given: dict[str, Any] = {
        "session_id": "s",
        "cwd": draw(st.sampled_from(["/srv/work", "/", "/srv/../etc", "here"])),
        "hook_event_name": agent.event,
        "tool_name": draw(tools | TEXTS),
        "tool_input": draw(INPUTS),
    }
    given |= draw(st.dictionaries(st.sampled_from(sorted(given)) | TEXTS, VALUES, max_size=1))
    return agent.name, given


@pytest.fixture(scope="module")
def deciders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Decider]:
    found = {}
    for name, text in POLICIES.items():
        folder = tmp_path_factory.mktemp(name)
        (folder / "global.policy").write_text(text, "utf-8")
        context = HookContext(
            policy=str(folder),
            agent="claude-code",
            home="/home/ada",
            project="/srv/work",
            settings_folder=None,
            workspace=None,
            audit=None,
        )
        found[name] = Decider(context)
    return found


def answer(decider: Decider, agent: str, text: str) -> HookAnswer:
    request = Request(
        agent=agent,
        policy=decider.context.policy,
        cwd="/srv/work",
        home="/home/ada",
        input=text,
        workspace=None,
        project="/srv/work",
        settings_folder=None,
        caller=None,
        audit=None,
        denies_asks=False,
    )
    return asyncio.run(decider.answer(request))


def passes(agent: str, given: HookAnswer) -> bool:
    """Tell whether the agent runs its tool, at once or once its user agrees."""
    if given.status != 0:
        return given.status != 2
    if not given.stdout:
        return True
    told = json.loads(given.stdout)
    decision = told.get("decision") or told["hookSpecificOutput"]["permissionDecision"]
    return bool(decision != "deny")


@given(calls())
def test_a_policy_that_allows_nothing_lets_nothing_pass(
    deciders: dict[str, Decider], call: tuple[str, dict[str, Any]]
) -> None:
    agent, given = call
    assert not passes(agent, answer(deciders["nothing"], agent, json.dumps(given)))


@given(calls(), st.integers(0, 400))
def test_half_an_input_lets_nothing_pass(
    deciders: dict[str, Decider], call: tuple[str, dict[str, Any]], length: int
) -> None:
    agent, given = call
    text = json.dumps(given)
    assert not passes(agent, answer(deciders["reading"], agent, text[: min(length, len(text) - 1)]))


@given(calls())
def test_what_passes_is_a_read_where_reading_alone_is_allowed(
    deciders: dict[str, Decider], call: tuple[str, dict[str, Any]]
) -> None:
    agent, given = call
    if not passes(agent, answer(deciders["reading"], agent, json.dumps(given))):
        return
    found = mapped(AGENTS[agent].rows, given["tool_name"], given["tool_input"], cwd=given["cwd"])
    assert {each.tool for each in found.calls} == {"file_read"}


@given(calls())
def test_a_table_gives_calls_of_ours_or_says_why_not(call: tuple[str, dict[str, Any]]) -> None:
    agent, given = call
    tool, input = given["tool_name"], given["tool_input"]
    if not isinstance(tool, str) or not isinstance(input, dict):
        return
    try:
        found = mapped(AGENTS[agent].rows, tool, input, cwd="/srv/work")
    except Unmapped:
        return
    assert found.calls
    assert found.cwd.startswith("/")

"""Usage rules and rule lines as prompt sections, from which no text in them can escape."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from policy import Caller, PolicyStore, build_tool_service
from policy.service import Allow, usage_rules
from policy.tools import ExecutionContext, ToolDefinition, tool

RULES = """
policy for every agent

default deny

let-in: allow send_message, context
never:  deny secret
held:   deny context when input.text == "x" because "x is\\n## taken"
"""


class Ruled:
    """A tool that brings a rule of use along."""

    def __init__(self, name: str, rule: str | None) -> None:
        plain = tool(name=name)(_plain)
        self.spec = plain.spec
        self.definition = replace(plain.definition, usage_rule=rule)

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> str:
        return str(input)


def _plain(text: str) -> str:
    """Take a text."""
    return text


SENDS = Ruled("send_message", "When send_message is called, the conversation ends.")
EDITS = Ruled("context", "Use append to add new information, replace to modify existing.")
SECRET = Ruled("secret", "Keep it.")


async def test_the_rules_of_the_tools_a_caller_sees_are_one_section(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/global.policy").write_text(RULES)
    store = PolicyStore(tmp_path / "rules")
    service = build_tool_service(store, tools=[SENDS, EDITS, SECRET, Ruled("plain", None)])
    store.reload()
    assert service.usage_rules().splitlines() == [
        "## Tool Usage Rules",
        "",
        "- context: Use append to add new information, replace to modify existing.",
        "- send_message: When send_message is called, the conversation ends.",
    ]
    guest = service.bound_to(Caller(role="anonymous"))
    assert guest.usage_rules() == ""
    # What binds a caller follows, and its text stays in its line.
    guidance = service.guidance()
    assert guidance.startswith(service.usage_rules())
    assert [line for line in guidance.splitlines() if line.startswith("#")] == [
        "## Tool Usage Rules",
        "## Rules",
    ]
    assert "x is" in guidance


def test_a_service_whose_tools_have_no_rules_has_no_section() -> None:
    service = build_tool_service(tools=[Ruled("plain", None), Ruled("blank", " \n ")])
    service.set_smart_filter(_Everything())
    assert len(service.list()) == 2
    assert (service.usage_rules(), service.guidance()) == ("", "")


class _Everything:
    def classify(self, name: str, input: object) -> Allow:
        return Allow()


@given(st.dictionaries(st.text(min_size=1, max_size=9), st.text(max_size=40), max_size=4))
def test_no_text_of_a_rule_breaks_the_list(rules: dict[str, str]) -> None:
    shown = usage_rules(ToolDefinition(name=n, usage_rule=r) for n, r in rules.items())
    lines = shown.splitlines()
    told = [name for name in sorted(rules) if rules[name].split()]
    if not told:
        assert shown == ""
        return
    assert lines[:2] == ["## Tool Usage Rules", ""]
    assert len(lines) == 2 + len(told)
    assert all(line.startswith("- ") for line in lines[2:])
    assert all(char.isprintable() for line in lines for char in line if ord(char) < 0xA0)

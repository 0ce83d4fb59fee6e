"""Sections of a prompt: how to use the tools, and which rules apply.

Each rule stays one line of its list: its text can start neither a new line nor a section.
"""

from __future__ import annotations

from collections.abc import Iterable

from policy.diagnostics import visible
from policy.tools import ToolDefinition

_LONGEST_RULE = 500
_LONGEST_NAME = 120


def usage_rules(definitions: Iterable[ToolDefinition]) -> str:
    """Return the usage rules of tools, by name; empty if there are none."""
    rules = {tool.name: _line(tool.usage_rule or "") for tool in definitions}
    return _section(
        "Tool Usage Rules",
        [f"{visible(name, _LONGEST_NAME)}: {rules[name]}" for name in sorted(rules) if rules[name]],
    )


def rules_section(lines: Iterable[str]) -> str:
    """Return the policy's rules for a caller as a section; empty if there are none."""
    return _section("Rules", [shown for line in lines if (shown := _line(line))])


def joined(*sections: str) -> str:
    """Return sections one after another, without empty ones."""
    return "\n".join(section for section in sections if section)


def _section(title: str, items: list[str]) -> str:
    if not items:
        return ""
    return "\n".join([f"## {title}", "", *(f"- {item}" for item in items), ""])


def _line(text: str) -> str:
    """Return a text on one line: every run of white space becomes one blank."""
    return visible(" ".join(text.split()), _LONGEST_RULE)

"""cedarpy (Cedar in Rust) as an engine: one policy set, or one a tool in a dict of the caller's.

Cedar has two effects, so `ask` is a permit whose `@id` says so, read from the reasons. It has no
regular expressions; the workload's are chosen so that alternatives of `like` say the same.
"""

from __future__ import annotations

import json
from typing import Any

import cedarpy

from bench.adapters import base
from bench.workload import index_by_tool


class Engine(base.Adapter):
    """All rules in one set, as Cedar is meant to be used."""

    name = "cedarpy"
    package = "cedarpy"
    note = "one PolicySet; the request's dicts are built per call"

    def translate(self, rules: list[dict[str, Any]]) -> Any:
        """Return the rules as Cedar text."""
        return cedar_text(rules)

    def load(self, src: Any) -> None:
        """Parse the set."""
        self.policies = cedarpy.PolicySet.from_str(src)
        self.entities = cedarpy.Entities.from_json_str("[]")

    def decide(self, req: dict[str, Any]) -> str:
        """Authorize, and read the effect off the reasons."""
        return _effect(cedarpy.is_authorized(_request(req), self.policies, self.entities))


class Sharded(base.Adapter):
    """What a caller gains who keeps one set a tool: the best that Cedar can be given here."""

    name = "cedarpy, a set per tool"
    package = "cedarpy"
    note = "the caller keeps one PolicySet a tool in a dict"

    def translate(self, rules: list[dict[str, Any]]) -> Any:
        """Return Cedar text for each tool, and for all others."""
        exact, globs = index_by_tool(rules, self.tools)
        return {tool: cedar_text(found) for tool, found in exact.items()}, cedar_text(globs)

    def load(self, src: Any) -> None:
        """Parse every set."""
        by_tool, other = src
        self.by_tool = {t: cedarpy.PolicySet.from_str(text) for t, text in by_tool.items()}
        self.other = cedarpy.PolicySet.from_str(other)
        self.entities = cedarpy.Entities.from_json_str("[]")

    def decide(self, req: dict[str, Any]) -> str:
        """Authorize by the tool's own set."""
        policies = self.by_tool.get(req["tool"], self.other)
        return _effect(cedarpy.is_authorized(_request(req), policies, self.entities))


def cedar_text(rules: list[dict[str, Any]]) -> str:
    """Return neutral rules as Cedar policies."""
    return "\n".join(_policy(rule) for rule in rules)


def _request(req: dict[str, Any]) -> dict[str, Any]:
    ctx = req["ctx"]
    return {
        "principal": {"type": "Agent", "id": ctx["agent"]},
        "action": {"type": "Action", "id": "call"},
        "resource": {"type": "Tool", "id": req["tool"]},
        "context": {
            "args": req["args"],
            "role": ctx["role"],
            "session": ctx["session"],
            "tool": req["tool"],
        },
    }


def _effect(answer: Any) -> str:
    if answer.decision is not cedarpy.Decision.Allow:
        return "deny"
    names = answer.diagnostics.id_annotations_by_reason.values()
    return "ask" if any(name.startswith("ask:") for name in names) else "allow"


def _policy(rule: dict[str, Any]) -> str:
    effect = "forbid" if rule["effect"] == "deny" else "permit"
    tool = rule["tool"]
    scope = f"resource == Tool::{_text(tool['exact'])}" if "exact" in tool else "resource"
    when = []
    if tool.get("glob", "*") != "*":
        when.append(f"context.tool like {_text(tool['glob'])}")
    if rule["roles"] is not None:
        when.append(f"{_text(rule['roles'])}.contains(context.role)")
    when += [_test(cond) for cond in rule["conds"]]
    tail = f" when {{ {' && '.join(when)} }}" if when else ""
    name = _text(f"{rule['effect']}:{rule['id']}")
    return f"@id({name})\n{effect}(principal, action, {scope}){tail};"


def _test(cond: dict[str, Any]) -> str:
    field = f"context.args.{cond['field']}"
    match cond["kind"]:
        case "path_glob":
            test = f"{field} like {_text(cond['prefix'] + '*')}"
        case "host_eq":
            test = f"{field} == {_text(cond['value'])}"
        case "host_suffix":
            test = f"{field} like {_text('*' + cond['suffix'])}"
        case "in_set":
            test = f"{_text(cond['values'])}.contains({field})"
        case "regex":
            test = "(" + " || ".join(f"{field} like {_text(p)}" for p in cond["alts"]) + ")"
        case _:
            test = f"{field} {cond['op']} {cond['value']}"
    return f"context.args has {cond['field']} && {test}"


def _text(value: Any) -> str:
    return json.dumps(value)

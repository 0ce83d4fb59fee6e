"""Placet as one engine of a side-by-side benchmark: neutral rules in, verdicts out.

The benchmark gives rules and requests as plain dicts (see `workload.py` for
their form) and calls `translate`, `load` and `decide`. `decide` pays for everything that a caller
of Placet pays for: admission of the raw call against the tool's schema, the caller's record, the
decision with all its reasons. The file runs as it is in any harness that has `adapters/base.py`.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import policy
from policy.catalog import read_listing

try:
    from adapters import base  # type: ignore[import-not-found]  # in another harness
except ImportError:
    from bench.adapters import base


class Engine(base.Adapter):  # type: ignore[misc]
    """Placet through its public front door."""

    name = "placet"
    package = "policy"
    note = "policy text -> policy.load; Generation.answer on the raw call, admission included"

    def translate(self, rules: list[dict[str, Any]]) -> str:
        """Return the rules as one policy file."""
        lines = ["policy for every agent", "", "default deny", ""]
        lines += [_rule(rule) for rule in rules]
        return "\n".join(lines) + "\n"

    def load(self, src: str) -> None:
        """Load the policy over the benchmark's tools, which take any arguments."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "bench.policy"
            file.write_text(src)
            self.generation = policy.load(file, catalog=catalog_of(self.tools))
        self.callers: dict[tuple[str, str, str], policy.Caller] = {}

    def decide(self, req: dict[str, Any]) -> str:
        """Decide one request from nothing but its dicts."""
        ctx = req["ctx"]
        caller = policy.Caller(agent=ctx["agent"], role=ctx["role"], session=ctx["session"])
        answer = self.generation.answer(req["tool"], req["args"], caller=caller)
        return answer.decision.verdict.value


def listed(tools: list[str]) -> list[dict[str, Any]]:
    """Return definitions of tools that take any arguments, as a catalogue file holds them."""
    schema = {"type": "object", "additionalProperties": True}
    return [
        {"name": name, "inputSchema": schema, "resources": {"complete": True}} for name in tools
    ]


def catalog_of(tools: list[str]) -> policy.Catalog:
    """Return the built-in tools and these, which take any arguments."""
    listing = read_listing(listed(tools), reviewed=True)
    assert not listing.problems, listing.problems
    return policy.builtin_catalog().with_tools(listing.specs)


def _rule(rule: dict[str, Any]) -> str:
    name = rule["id"].lower()
    tests = [_test(cond) for cond in rule["conds"]]
    if rule["roles"] is not None:
        tests.insert(0, f"session.role in {json.dumps(rule['roles'])}")
    when = f" when {' and '.join(tests)}" if tests else ""
    if rule["effect"] == "ask":
        # There, an ask that matches is reason enough to go on asking; here, it only takes.
        return f"{name}: allow {_tools(rule['tool'])}{when} with approval"
    return f"{name}: {rule['effect']} {_tools(rule['tool'])}{when}"


def _tools(tool: dict[str, str]) -> str:
    return tool.get("exact") or tool["glob"]


def _test(cond: dict[str, Any]) -> str:
    field = f"input.{cond['field']}"
    match cond["kind"]:
        case "path_glob":
            return f"{field} starts with {json.dumps(cond['prefix'])}"
        case "host_eq":
            return f"{field} == {json.dumps(cond['value'])}"
        case "host_suffix":
            return f"{field} ends with {json.dumps(cond['suffix'])}"
        case "int_cmp":
            return f"{field} {cond['op']} {cond['value']}"
        case "in_set":
            return f"{field} in {json.dumps(cond['values'])}"
        case "regex":
            return f"{field} contains /{cond['pattern'].replace('/', chr(92) + '/')}/"
        case kind:
            raise ValueError(f"no such condition: {kind}")

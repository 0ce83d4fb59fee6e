"""Placet as one engine of a side-by-side benchmark: neutral rules in, verdicts out.

The benchmark gives rules and requests as plain dicts (see `workload.py` for their form) and calls
`translate`, `load` and `decide`. `Engine` decides calls that are admitted: a service admits a call
once, before anything else looks at it, and judges it then, sometimes twice. `Raw` pays for
everything from the dicts on. The file runs as it is in any harness that has `adapters/base.py`.
"""

from __future__ import annotations

import json
import operator
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import policy
from policy.catalog import read_listing

try:
    from adapters import base  # type: ignore[import-not-found]  # in another harness
except ImportError:
    from bench.adapters import base


_HEAD = "policy for every agent\n"
_DEFAULT = "\ndefault deny\n\n"
# Of one file; a rule is a line.
_LINES = 20_000


class Engine(base.Adapter):  # type: ignore[misc]
    """Placet on admitted calls, with layers and reasons."""

    name = "placet"
    package = "policy"
    note = "policy.load; Generation.decide of the admitted call and its caller, per request kept"
    max_n = 100_000

    def translate(self, rules: list[dict[str, Any]]) -> str:
        """Return the rules as one policy file.

        A rule that no call can meet would be refused as a mistake, and means nothing: it is left
        out. There are some in profile `basic`, where a rule may compare one field twice.
        """
        lines = [_rule(rule) + "\n" for rule in rules if _possible(rule["conds"])]
        return _HEAD + _DEFAULT + "".join(lines)

    def load(self, src: str) -> None:
        """Load the policy over the benchmark's tools, which take any arguments."""
        with tempfile.TemporaryDirectory() as folder:
            for number, text in enumerate(_files(src)):
                Path(folder, f"bench-{number:03d}.policy").write_text(text)
            self.use(policy.load(folder, catalog=catalog_of(self.tools)))

    def use(self, generation: policy.Generation) -> None:
        """Decide by this generation from now on."""
        self.generation = generation
        self._admitted: dict[int, tuple[policy.ToolCall, policy.Caller]] = {}
        self._kept: list[dict[str, Any]] = []

    def decide(self, req: dict[str, Any]) -> str:
        """Decide a request; what admission made of it is known from the first time on."""
        call, caller = self._admitted.get(id(req)) or self.admit(req)
        # A verdict is a text: `allow`, `ask` or `deny`.
        return self.generation.decide(call, caller).verdict

    def admit(self, req: dict[str, Any]) -> tuple[policy.ToolCall, policy.Caller]:
        """Admit a request's call and keep it with its caller.

        What admission refuses is kept as it came, so that deciding it pays for the refusal.
        """
        caller = _caller(req["ctx"])
        admitted = self.generation.answer(req["tool"], req["args"], caller=caller).admitted
        call = admitted.call if admitted else policy.ToolCall(tool=req["tool"], input=req["args"])
        # The request stays, so that no other has its id.
        self._kept.append(req)
        self._admitted[id(req)] = call, caller
        return call, caller


class Raw(Engine):
    """Placet on raw calls: admission, the caller's record and the decision, each time."""

    name = "placet, raw call"
    note = "policy.load; Generation.answer on the raw call, admission included"

    def decide(self, req: dict[str, Any]) -> str:
        """Decide one request from nothing but its dicts."""
        answer = self.generation.answer(req["tool"], req["args"], caller=_caller(req["ctx"]))
        return answer.decision.verdict


def _caller(ctx: dict[str, Any]) -> policy.Caller:
    return policy.Caller(agent=ctx["agent"], role=ctx["role"], session=ctx["session"])


def _files(src: str) -> Iterator[str]:
    """Yield the texts of so many files that none is longer than a policy file may be."""
    head, _, rules = src.partition(_DEFAULT)
    lines = rules.splitlines(keepends=True)
    for start in range(0, max(1, len(lines)), _LINES):
        default = "" if start else _DEFAULT
        yield head + default + "".join(lines[start : start + _LINES])


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


_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _possible(conds: list[dict[str, Any]]) -> bool:
    """Tell whether what conditions ask of each field leaves it a value."""
    for cond in conds:
        same = [one for one in conds if one["field"] == cond["field"]]
        match cond["kind"]:
            case "in_set":
                values = cond["values"]
            case "int_cmp":
                values = [one["value"] + step for one in same for step in (-1, 0, 1)]
            case _:
                continue
        if not any(all(_fits(one, value) for one in same) for value in values):
            return False
    return True


def _fits(cond: dict[str, Any], value: Any) -> bool:
    if cond["kind"] == "in_set":
        return bool(value in cond["values"])
    return cond["kind"] != "int_cmp" or bool(_ORDER[cond["op"]](value, cond["value"]))


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

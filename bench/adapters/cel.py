"""cel-expr-python (Google's cel-cpp) as an engine: one expression a tool, in a dict.

CEL has no rules and no effects: the expression answers with the verdict's name.
"""

from __future__ import annotations

import json
from typing import Any

from cel_expr_python import cel  # type: ignore[import-untyped]

from bench.adapters import base
from bench.workload import index_by_tool


class Engine(base.Adapter):
    """One compiled expression for each tool, looked up by the caller."""

    name = "cel-expr-python"
    package = "cel-expr-python"
    note = "one expression a tool; the caller looks it up"

    def translate(self, rules: list[dict[str, Any]]) -> Any:
        """Return an expression for each tool, and one for all others."""
        exact, globs = index_by_tool(rules, self.tools)
        by_tool = {tool: _expression(found, by_name=False) for tool, found in exact.items()}
        return by_tool, _expression(globs, by_name=True)

    def load(self, src: Any) -> None:
        """Compile every expression."""
        kinds = cel.Type
        variables = {
            "tool": kinds.STRING,
            "role": kinds.STRING,
            "args": kinds.Map(kinds.STRING, kinds.DYN),
        }
        self.env = cel.NewEnv(variables=variables)
        by_tool, other = src
        self.by_tool = {tool: self.env.compile(text) for tool, text in by_tool.items()}
        self.other = self.env.compile(other)

    def decide(self, req: dict[str, Any]) -> str:
        """Evaluate the tool's expression."""
        tool = req["tool"]
        data = {"tool": tool, "role": req["ctx"]["role"], "args": req["args"]}
        answer = self.by_tool.get(tool, self.other).eval(data=data).value()
        return answer if type(answer) is str else f"error: {answer}"


def _expression(rules: list[dict[str, Any]], *, by_name: bool) -> str:
    sides = {
        effect: " || ".join(
            _rule(rule, by_name=by_name) for rule in rules if rule["effect"] == effect
        )
        or "false"
        for effect in ("deny", "ask", "allow")
    }
    tests = "".join(f'({test}) ? "{effect}" : ' for effect, test in sides.items())
    return f'{tests}"deny"'


def _rule(rule: dict[str, Any], *, by_name: bool) -> str:
    tests = []
    if by_name and rule["tool"].get("glob", "*") != "*":
        pattern = "^" + rule["tool"]["glob"].replace("*", ".*") + "$"
        tests.append(f"tool.matches({_text(pattern)})")
    if rule["roles"] is not None:
        tests.append(f"role in {_text(rule['roles'])}")
    tests += [_test(cond) for cond in rule["conds"]]
    return "(" + (" && ".join(tests) or "true") + ")"


def _test(cond: dict[str, Any]) -> str:
    field = f"args.{cond['field']}"
    match cond["kind"]:
        case "path_glob":
            test = f"{field}.startsWith({_text(cond['prefix'])})"
        case "host_eq":
            test = f"{field} == {_text(cond['value'])}"
        case "host_suffix":
            test = f"{field}.endsWith({_text(cond['suffix'])})"
        case "in_set":
            test = f"{field} in {_text(cond['values'])}"
        case "regex":
            test = f"{field}.matches({_text(cond['pattern'])})"
        case _:
            test = f"{field} {cond['op']} {cond['value']}"
    return f"has({field}) && {test}"


def _text(value: Any) -> str:
    return json.dumps(value)

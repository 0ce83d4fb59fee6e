"""What such an engine takes in Python at the least: neutral rules as generated code, by tool.

It does what every caller needs (types are looked at, paths made plain, every rule that decides is
named, a record kept) and nothing of what makes a policy: no language and nobody's mistakes in it,
no layers, no sentences, no third truth value. How many times longer Placet takes is what those
cost, and holds on any machine.
"""

from __future__ import annotations

import re
from collections import deque
from posixpath import normpath
from time import time_ns
from typing import Any

from bench.adapters import base

_EFFECTS = ("deny", "ask", "allow")
_MOST_TOOLS = 100_000


class Decision:
    """An effect and the rules that it rests on, the first of them apart."""

    __slots__ = ("effect", "rule", "rules")

    def __init__(self, effect: str, rule: str | None, rules: tuple[str, ...] = ()) -> None:
        self.effect = effect
        self.rule = rule
        self.rules = rules


class Engine(base.Adapter):
    """A function for each tool, generated when the tool is first called."""

    name = "floor"
    package = "(prototype)"
    note = "generated code by tool; types, paths, all deciding rules and a record, nothing else"
    max_n = 100_000

    def translate(self, rules: list[dict[str, Any]]) -> Any:
        """Return the rules as they are."""
        return rules

    def load(self, src: Any) -> None:
        """Sort the rules by tool."""
        self.functions = _Functions(src)
        self.paths: dict[str, tuple[str, ...]] = {}
        for rule in src:
            tool = rule["tool"].get("exact")
            for cond in rule["conds"]:
                known = self.paths.get(tool, ())
                if tool and cond["kind"] == "path_glob" and cond["field"] not in known:
                    self.paths[tool] = (*known, cond["field"])
        self.log: deque[Any] = deque(maxlen=1024)

    def decide(self, req: dict[str, Any]) -> str:
        """Decide, and say the effect."""
        decision: Decision = self._decided(req["tool"], req["args"], req["ctx"])
        return decision.effect

    def _decided(self, tool: str, args: dict[str, Any], ctx: dict[str, Any]) -> Any:
        if tool.__class__ is not str or args.__class__ is not dict:
            raise TypeError("tool: a text, args: a dict")
        for field in self.paths.get(tool, ()):
            value = args.get(field)
            if value.__class__ is str and ("/." in value or "//" in value):
                args = {**args, field: normpath(value)}
        decision = self.functions[tool](args, ctx["role"])
        self.log.append((time_ns(), tool, ctx, decision))
        return decision


class _Functions(dict[str, Any]):
    """Functions by tool; one that is missing is made from the rules for it, and kept."""

    def __init__(self, rules: list[dict[str, Any]]) -> None:
        super().__init__()
        self.exact: dict[str, list[dict[str, Any]]] = {}
        self.globs: list[tuple[Any, dict[str, Any]]] = []
        self.same: dict[tuple[str, ...], Any] = {}
        for rule in rules:
            if "exact" in rule["tool"]:
                self.exact.setdefault(rule["tool"]["exact"], []).append(rule)
            else:
                pattern = re.escape(rule["tool"]["glob"]).replace(r"\*", ".*")
                self.globs.append((re.compile(pattern).fullmatch, rule))

    def __missing__(self, tool: str) -> Any:
        rules = self.exact.get(tool, []) + [rule for fits, rule in self.globs if fits(tool)]
        key = tuple(rule["id"] for rule in rules)
        function = self.same.get(key)
        if function is None:
            function = self.same[key] = _function(rules)
        if len(self) < _MOST_TOOLS:
            self[tool] = function
        return function


def _function(rules: list[dict[str, Any]]) -> Any:
    names: dict[str, Any] = {"Decision": Decision}
    fields = sorted({cond["field"] for rule in rules for cond in rule["conds"]})
    lines = ["def decide(args, role):"]
    lines += [f" a_{field} = args.get({field!r})" for field in fields]
    for effect in _EFFECTS:
        lines.append(" m = None")
        for rule in rules:
            if rule["effect"] == effect:
                this = repr((rule["id"],))
                lines.append(f" if {_test(rule, names)}: m = {this} if m is None else m + {this}")
        lines.append(f" if m is not None: return Decision({effect!r}, m[0], m)")
    lines.append(" return Decision('deny', None)")
    exec(compile("\n".join(lines), "<floor>", "exec", dont_inherit=True, optimize=2), names)
    return names["decide"]


def _test(rule: dict[str, Any], names: dict[str, Any]) -> str:
    tests = []
    match rule["roles"]:
        case None:
            pass
        case [role]:
            tests.append(f"role == {role!r}")
        case roles:
            tests.append(f"role in {_constant(frozenset(roles), names)}")
    for cond in rule["conds"]:
        tests += _condition(cond, f"a_{cond['field']}", names)
    return " and ".join(tests) or "True"


def _condition(cond: dict[str, Any], value: str, names: dict[str, Any]) -> tuple[str, str]:
    text = f"{value}.__class__ is str"
    match cond["kind"]:
        case "int_cmp":
            return f"{value}.__class__ is int", f"{value} {cond['op']} {cond['value']}"
        case "path_glob":
            return text, f"{value}.startswith({cond['prefix']!r})"
        case "host_eq":
            return text, f"{value} == {cond['value']!r}"
        case "host_suffix":
            return text, f"{value}.endswith({cond['suffix']!r})"
        case "in_set":
            return text, f"{value} in {_constant(frozenset(cond['values']), names)}"
        case _:
            search = _constant(re.compile(cond["pattern"]).search, names)
            return text, f"{search}({value}) is not None"


def _constant(value: Any, names: dict[str, Any]) -> str:
    name = f"k{len(names)}"
    names[name] = value
    return name

"""Numbers of rules in; rules about paths, hosts and commands, and calls with their verdicts, out.

No other engine reads resources, so these rules are Placet's alone. The same set in `plain` compares
texts instead, on tools that say nothing of resources: what is between the two is the reading.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

KINDS = ("a path", "a host", "a command")
_FIELDS = {"a path": "path", "a host": "url", "a command": "command"}
_VERBS = {"a path": "writes", "a host": "connects", "a command": "runs"}
_PROGRAMS = ("git status", "git log", "ls", "cat", "grep", "find", "sort", "wc", "head", "uniq")
# Each is filled in with a number, so that no command need be seen twice.
_COMMANDS = {
    "git status": "git status -u {}",
    "git log": "git log --oneline -n {}",
    "ls": "ls -la src{}",
    "cat": "cat a{}.txt",
    "grep": "grep -rn TODO src{}",
    "find": "find src{} -name notes",
    "sort": "sort -u list{}.txt",
    "wc": "wc -l a{}.txt",
    "head": "head -n 5 a{}.txt",
    "uniq": "uniq -c list{}.txt",
}
_GROUPS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`effect` for calls of `tool` whose resource is one of `items`: what a text begins with."""

    name: str
    effect: str
    tool: str
    kind: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call, and the verdict that it must get."""

    tool: str
    input: dict[str, Any]
    verdict: str


def tools(n: int) -> list[tuple[str, str]]:
    """Return the tools for n rules, with the kind of what each takes."""
    names = {"a path": "write", "a host": "fetch", "a command": "run"}
    found = [KINDS[i % 3] for i in range(max(3, n // 5))]
    return [(f"{names[kind]}_{i}", kind) for i, kind in enumerate(found)]


def make_rules(n: int, seed: int = 5) -> list[Rule]:
    """Return n rules, seven in ten of which allow."""
    rng = random.Random(seed * 1_000_003 + n)
    rules = []
    for number in range(n):
        tool, kind = rng.choice(tools(n))
        effect = "allow" if rng.random() < 0.7 else "deny"
        items = tuple(sorted(rng.sample(_items(kind), 2 if effect == "allow" else 1)))
        rules.append(Rule(name=f"r{number:05d}", effect=effect, tool=tool, kind=kind, items=items))
    return rules


def requests(n: int, kind: str, *, start: int = 0, seed: int = 13) -> Iterator[Request]:
    """Yield calls of one kind, all of them different from each other and from other starts'."""
    rng = random.Random(seed + start)
    rules: dict[str, list[Rule]] = {}
    for rule in make_rules(n):
        rules.setdefault(rule.tool, []).append(rule)
    named = [tool for tool, of in tools(n) if of == kind]
    number = start
    while True:
        number += 1
        tool, item = rng.choice(named), rng.choice(_items(kind))
        text = _texts()[kind](item, number)
        applying = {rule.effect for rule in rules.get(tool, ()) if item in rule.items}
        verdict = "allow" if applying == {"allow"} else "deny"
        given = {_FIELDS[kind]: text, "timeout": number % 100}
        yield Request(tool=tool, input=given, verdict=verdict)


def policy_text(rules: list[Rule], *, plain: bool) -> str:
    """Return the rules as a policy: about resources, or about texts."""
    test = _plain if plain else _read
    lines = [f"{rule.name}: {rule.effect} {rule.tool} when {test(rule)}" for rule in rules]
    return "\n".join(["policy for every agent", "", "default deny", "", *lines]) + "\n"


def listed(n: int, *, plain: bool) -> list[dict[str, Any]]:
    """Return the definitions of the tools, as a reviewed list holds them."""
    return [_listed(tool, kind, plain=plain) for tool, kind in tools(n)]


def _listed(tool: str, kind: str, *, plain: bool) -> dict[str, Any]:
    field = _FIELDS[kind]
    fields = {field: {"type": "string"}, "timeout": {"type": "integer"}}
    resources: dict[str, Any] = {"complete": True}
    if not plain:
        resources[_VERBS[kind]] = [field]
    schema = {"type": "object", "properties": fields, "required": [field]}
    return {"name": tool, "inputSchema": schema, "resources": resources}


def _items(kind: str) -> list[str]:
    if kind == "a command":
        return list(_PROGRAMS)
    form = "/workspace/p{}/" if kind == "a path" else "h{}.example.com"
    return [form.format(number) for number in range(_GROUPS)]


def _texts() -> dict[str, Callable[[str, int], str]]:
    return {
        "a path": lambda item, number: f"{item}src/module_{number % 37}/file_{number}.py",
        "a host": lambda item, number: f"https://{item}/v1/items/{number}?page=2",
        "a command": lambda item, number: _COMMANDS[item].format(number),
    }


def _read(rule: Rule) -> str:
    every = rule.effect == "allow"
    match rule.kind:
        case "a path":
            items = json.dumps([f"{item}**" for item in rule.items])
            return f"writes {'only ' if every else ''}{items}"
        case "a host":
            return f"connects {'only ' if every else ''}to {json.dumps(list(rule.items))}"
        case _:
            items = json.dumps([f"{item} *" for item in rule.items])
            return f"runs {'only ' if every else ''}{items}"


def _plain(rule: Rule) -> str:
    field, before = f"input.{_FIELDS[rule.kind]}", "https://" if rule.kind == "a host" else ""
    after = " " if rule.kind == "a command" else ""
    tests = [f"{field} starts with {json.dumps(before + item + after)}" for item in rule.items]
    return " or ".join(tests)

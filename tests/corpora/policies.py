"""Translates the rules of a corpus row to the text of an equivalent policy."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

Rule = Mapping[str, Any]

# Words that are a program's name only where they are quoted.
_RESERVED = frozenset("if then for while until do case select function time coproc [[ !".split())

# Words for networks that the rows spell otherwise.
_WORDS = {"link-local": "link_local", "cgnat": "shared"}


def shell_policy(rules: Sequence[Rule]) -> str:
    """Return a policy for `bash_exec`: what no rule names is not allowed."""
    allowed = [rule for rule in rules if rule["effect"] == "allow"]
    lines = ["policy for every agent", "", "default ask", ""]
    if any(rule.get("any") for rule in allowed):
        lines.append("all: allow bash_exec")
    commands = [
        prefix + command_pattern(rule["argv_prefix"])
        for rule in allowed
        if "argv_prefix" in rule
        for prefix in ("", *_variables(allowed))
    ]
    if commands:
        lines += [f"commands spelled = {_list(commands)}", ""]
        for place, clauses in enumerate(_resource_clauses(allowed)):
            test = " and ".join(("runs only spelled", *clauses))
            lines.append(f"yes-{place}: allow bash_exec when {test}")
    for place, rule in enumerate(rule for rule in rules if rule["effect"] == "deny"):
        lines.append(f"no-{place}: deny * when {_denied(rule)}")
    return "\n".join(lines) + "\n"


def command_pattern(words: Iterable[str]) -> str:
    """Return the pattern of all commands that begin with these words."""
    quoted = [f"'{word}'" if word in _RESERVED else shlex.quote(word) for word in words]
    return " ".join((*quoted, "*"))


def _variables(allowed: Sequence[Rule]) -> list[str]:
    names = [rule["env"] for rule in allowed if isinstance(rule.get("env"), str)]
    return [f"{name}=* " for name in names if name.isidentifier()]


def _resource_clauses(allowed: Sequence[Rule]) -> list[tuple[str, ...]]:
    """Return what may be added to `runs only`: any choice of the row's other allowances."""
    choices: list[tuple[str, ...]] = []
    for key, verb in (
        ("read_path", "reads"),
        ("redirect_write", "writes"),
        ("network", "connects"),
    ):
        items = [rule[key] for rule in allowed if key in rule]
        word = "connects only to" if verb == "connects" else f"{verb} only"
        choices.append(("", f"{word} [{_list(items)}]") if items else ("",))
    return [tuple(filter(None, chosen)) for chosen in product(*choices)]


def _denied(rule: Rule) -> str:
    if "argv_prefix" in rule:
        return f"runs {_text(command_pattern(rule['argv_prefix']))}"
    if "read_path" in rule:
        return f"reads {_text(rule['read_path'])}"
    if "redirect_write" in rule:
        return f"writes {_text(rule['redirect_write'])}"
    if "network" in rule:
        return f"connects to {_text(rule['network'])}"
    raise ValueError(f"no translation of {rule}")


def path_policy(rules: Sequence[Rule]) -> str:
    """Return a policy for tools that touch files."""
    lines = ["policy for every agent", "", "default ask", ""]
    for place, rule in enumerate(rules):
        if rule["path"].startswith("file://"):
            continue  # no pattern here: a path so spelled is the path that it names
        tool, path = _tool(rule["tool"]), _text(rule["path"])
        if rule["effect"] == "allow":
            test = f"reads only {path} and writes only {path}"
        else:
            test = f"(reads {path} or writes {path})"
        lines.append(f"rule-{place}: {rule['effect']} {tool} when {test}")
    return "\n".join(lines) + "\n"


def url_policy(rules: Sequence[Rule]) -> str:
    """Return a policy for tools that connect."""
    lines = ["policy for every agent", "", "default ask", ""]
    for place, rule in enumerate(rules):
        form = "connects only to" if rule["effect"] == "allow" else "connects to"
        hosts = f"{form} [{', '.join(_hosts(rule))}]"
        if rule.get("host") == "*":
            hosts = "connects to anything"
        lines.append(f"rule-{place}: {rule['effect']} {rule['tool']} when {hosts}")
    return "\n".join(lines) + "\n"


def _hosts(rule: Rule) -> list[str]:
    if "net" in rule:
        return [_WORDS.get(word, word) for word in rule["net"]]
    schemes = [f"{scheme}://" for scheme in rule.get("schemes", ())] or [""]
    ports = [f":{port}" for port in rule.get("ports", ())] or [""]
    return [
        _text(f"{scheme}{rule['host']}{port}{rule.get('path', '')}")
        for scheme, port in product(schemes, ports)
    ]


def _tool(name: str) -> str:
    server = name.split("__")
    return f"mcp {server[1]}/{server[2]}" if len(server) == 3 else name


def _list(texts: Iterable[str]) -> str:
    return ", ".join(map(_text, texts))


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

"""Rows of the corpora, judged by the readers alone: what must be stopped never fits cleanly."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import pytest

from policy.values import (
    HostPattern,
    PathContext,
    PathPattern,
    Script,
    SimpleCommand,
    Unreadable,
    after_cd,
    command_fits,
    host_in,
    path_in,
    read_command_pattern,
    read_endpoint,
    read_host_pattern,
    read_path,
    read_path_pattern,
    read_script,
)

_CORPORA = FilePath(__file__).parents[2] / "data" / "corpora"
_WORDS = {"link-local": "link_local", "cgnat": "shared"}


def _rows(name: str, *, kind: str = "") -> list[Any]:
    lines = (_CORPORA / name).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        pytest.param(row, id=row["id"])
        for row in rows
        if not row["id"].startswith("_") and row.get("kind", "") == kind
    ]


def _verdict(*, denied: list[bool | None], allowed: bool) -> str:
    """Return the verdict class: an undecidable deny counts as met, an allow as not met."""
    if any(answer is not False for answer in denied):
        return "denied"
    return "allowed" if allowed else "not allowed"


def _is_met(verdict: str, wanted: str) -> bool:
    return verdict == wanted or (wanted == "not allowed" and verdict == "denied")


# ------------------------------------------------------------------ commands


def _command_rule(rule: dict[str, Any], command: SimpleCommand) -> bool | None:
    if rule.get("any"):
        return True
    if "read_path" in rule:
        return _reads(rule["read_path"], command)
    if "argv_prefix" not in rule:
        return False
    words = (shlex.quote(word) for word in (*rule["argv_prefix"],))
    pattern = read_command_pattern(" ".join(words) + " *")
    assert not isinstance(pattern, Unreadable)
    return command_fits(command, pattern)


def _reads(path: str, command: SimpleCommand) -> bool | None:
    pattern = read_path_pattern(path)
    assert not isinstance(pattern, Unreadable)
    context = after_cd(command.folders, PathContext(cwd="/w", workspace="/w", home="/h"))
    answers: list[bool | None] = []
    for word in (*command.words[1:], *(item.target for item in command.redirections)):
        read = read_path(word, context)
        if isinstance(read, Unreadable):
            answers.append(None)
        else:
            answers.append(path_in(read, (pattern,), (), context))
    if True in answers:
        return True
    return None if None in answers else False


def _judge_script(row: dict[str, Any]) -> str:
    script = read_script(row["command"])
    if isinstance(script, Unreadable):
        return "denied"
    denies = [rule for rule in row["rules"] if rule["effect"] == "deny"]
    allows = [rule for rule in row["rules"] if rule["effect"] == "allow"]
    return _verdict(
        denied=[_command_rule(rule, command) for rule in denies for command in script.commands],
        allowed=all(
            command.free or any(_command_rule(rule, command) is True for rule in allows)
            for command in script.commands
        ),
    )


def _must_be_stopped() -> list[Any]:
    rows = _rows("shell_bypass.jsonl")
    return [row for row in rows if row.values[0]["must_be"] != "allowed"]


@pytest.mark.parametrize("row", _must_be_stopped())
def test_a_command_that_must_be_stopped_never_fits_cleanly(row: dict[str, Any]) -> None:
    verdict = _judge_script(row)
    assert _is_met(verdict, row["must_be"]), verdict


def test_everyday_commands_can_be_read() -> None:
    rows = [param.values[0] for param in _rows("shell_bypass.jsonl")]
    benign = [row for row in rows if isinstance(row, dict) and row["must_be"] == "allowed"]
    unread = {row["id"] for row in benign if not isinstance(read_script(row["command"]), Script)}
    assert benign
    assert unread == {"ok-043"}  # a compound command


# ------------------------------------------------------------------ paths


@pytest.mark.parametrize("row", _rows("paths_urls.jsonl", kind="path"))
def test_a_path_gets_its_verdict(row: dict[str, Any], tmp_path: FilePath) -> None:
    places = {
        "{WS}": str(tmp_path / "ws"),
        "{OUT}": str(tmp_path / "out"),
        "{HOME}": str(tmp_path / "home"),
        "{ALIAS}": str(tmp_path / "alias"),
    }

    def fill(value: Any) -> Any:
        text = json.dumps(value)
        for name, place in places.items():
            text = text.replace(name, place)
        return json.loads(text)

    fixture = json.loads((_CORPORA / "paths_urls.jsonl").read_text().splitlines()[0])
    _lay_down(fill(fixture["base"]) + fill(row["fixture"]))
    elsewhere = row.get("needs", "") in ("Windows", "case-insensitive file system")
    context = PathContext(
        cwd=fill(row["cwd"]),
        workspace=places["{WS}"],
        home=places["{HOME}"],
        resolve=os.path.realpath,
        folds=lambda folder: elsewhere,
    )
    verdict = _judge_paths(fill(row["rules"]), fill(row["input"]), row["tool"], context=context)
    assert _is_met(verdict, row["must_be"]), verdict


def _lay_down(steps: list[list[str]]) -> None:
    for kind, path, *target in steps:
        place = FilePath(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "dir":
            place.mkdir(exist_ok=True)
        elif kind == "file":
            place.write_text("x")
        elif kind == "link":
            place.symlink_to(target[0])
        else:
            place.hardlink_to(target[0])


def _judge_paths(
    rules: list[dict[str, Any]], given: dict[str, Any], tool: str, *, context: PathContext
) -> str:
    fields = ("path", "paths", "source", "destination")
    values = [given[name] for name in fields if name in given]
    if not values or any(isinstance(given.get("path"), kind) for kind in (list, dict)):
        return "not allowed"
    texts = [text for value in values for text in (value if isinstance(value, list) else [value])]

    def answers(effect: str) -> list[list[bool | None]]:
        found: list[list[bool | None]] = []
        for rule in rules:
            pattern = read_path_pattern(rule["path"])
            fits_tool = rule["tool"] in (tool, tool.split("_")[0] + "_*")
            if rule["effect"] != effect or not fits_tool or isinstance(pattern, Unreadable):
                continue
            found.append([_judge_path(text, pattern, context) for text in texts])
        return found

    denied = [answer for row in answers("deny") for answer in row]
    return _verdict(denied=denied, allowed=any(all(row) for row in answers("allow")))


def _judge_path(text: str, pattern: PathPattern, context: PathContext) -> bool | None:
    read = read_path(text, context)
    return None if isinstance(read, Unreadable) else path_in(read, (pattern,), (), context)


# ------------------------------------------------------------------ URLs


@pytest.mark.parametrize("row", _rows("paths_urls.jsonl", kind="url"))
def test_a_url_gets_its_verdict(row: dict[str, Any]) -> None:
    known = row.get("resolver")

    def resolve(name: str) -> tuple[str, ...] | None:
        return tuple(known[name]) if known and name in known else ("192.0.78.1",)

    url = row["input"]["url"]
    hops = [*(url if isinstance(url, list) else [url]), *row.get("redirects", ())]
    verdicts = [_judge_url(hop, row["rules"], resolve if known else None) for hop in hops]
    order = ("allowed", "not allowed", "denied")
    worst = max(verdicts, key=order.index)
    assert _is_met(worst, row["must_be"]), worst


def _judge_url(
    text: str, rules: list[dict[str, Any]], resolve: Callable[[str], tuple[str, ...] | None] | None
) -> str:
    endpoint = read_endpoint(text)
    if isinstance(endpoint, Unreadable):
        return "denied"
    answers: dict[str, list[bool | None]] = {"allow": [], "deny": []}
    for rule in rules:
        answers[rule["effect"]].append(host_in(endpoint, _host_patterns(rule), (), resolve))
    return _verdict(denied=answers["deny"], allowed=True in answers["allow"])


def _host_patterns(rule: dict[str, Any]) -> tuple[HostPattern, ...]:
    if "net" in rule:
        texts = [_WORDS.get(word, word) for word in rule["net"]]
    else:
        texts = [
            f"{scheme}{rule['host']}{port}{rule.get('path', '')}"
            for scheme in (f"{name}://" for name in rule["schemes"])
            for port in [f":{number}" for number in rule.get("ports", ())] or [""]
        ] if "schemes" in rule else [rule["host"] + rule.get("path", "")]  # fmt: skip
    patterns = [read_host_pattern(text) for text in texts]
    assert not any(isinstance(pattern, Unreadable) for pattern in patterns)
    return tuple(pattern for pattern in patterns if not isinstance(pattern, Unreadable))

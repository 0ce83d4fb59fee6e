"""One rule at a time, by what it reads of a call: a text, a path, a URL, a command.

The other engines compare the text as it stands, which is not the same question: `/srv/project/..`
begins with `/srv/project/`. Beside them, the rows show what reading costs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import policy
from bench.subjects import engine
from bench.timing import Round, going_round, per_call

_RULES = """policy for every agent

default deny

paths    project = "/srv/project/**"
hosts    ours    = "api.example.com", "*.example.org"
commands look    = "git status", "git diff *", "ls *"

a-text:    allow file_list when input.path starts with "/srv/project/"
a-path:    allow file_read when reads only project
a-host:    allow web_fetch when connects only to ours
a-command: allow bash_exec when runs only look
"""
_COMMANDS = ("git status", "git diff *", "ls *")
_QUESTIONS: dict[str, tuple[str, str, dict[str, Any], tuple[str, ...]]] = {
    "no rule fits": ("file_chmod", "", {}, ()),
    "a text begins": (
        "file_list",
        "path",
        {"kind": "path_glob", "field": "path", "prefix": "/srv/project/"},
        ("/srv/project/src/{}.py", "/srv/project/docs/{}/index.md"),
    ),
    "a path within a folder": (
        "file_read",
        "path",
        {"kind": "path_glob", "field": "path", "prefix": "/srv/project/"},
        ("/srv/project/src/{}.py", "/srv/project/docs/{}/index.md"),
    ),
    "a URL's host": (
        "web_fetch",
        "url",
        {
            "kind": "regex",
            "field": "url",
            "pattern": "^https://(api[.]example[.]com|[a-z]+[.]example[.]org)/",
            "alts": ["https://api.example.com/*", "https://*.example.org/*"],
        },
        ("https://api.example.com/v1/{}", "https://docs.example.org/{}?page=2"),
    ),
    "a command": (
        "bash_exec",
        "command",
        {
            "kind": "regex",
            "field": "command",
            "pattern": "^(git status$|git diff |ls )",
            "alts": list(_COMMANDS),
        },
        ("git diff {}", "ls {} docs"),
    ),
}
_CALLER = {"agent": "coder", "role": "owner", "session": "s1"}


class Asking:
    """An engine with one rule for each question. `fresh` texts were never seen before."""

    def __init__(self, name: str) -> None:
        self.engine = engine(name)
        self.engine.tools = [tool for tool, *_ in _QUESTIONS.values()]
        if name == "placet":
            self._load_ours()
        else:
            self.engine.load(self.engine.translate(_neutral_rules()))
        self.again = {what: going_round(_requests(what, 50)) for what in _QUESTIONS}
        self.fresh = {what: iter(_requests(what, 200_000, start=50)) for what in ("a command",)}

    def round(self, seconds: float) -> Round:
        """Return how long each question takes, on calls seen before, and on new ones."""
        share = seconds / (len(_QUESTIONS) + len(self.fresh))
        taken = {
            what: per_call(self.engine.decide, items, seconds=share)
            for what, items in self.again.items()
        }
        for what, items in self.fresh.items():
            taken[f"{what}, never seen before"] = per_call(self.engine.decide, items, seconds=share)
        return taken

    def check(self) -> dict[str, str]:
        """Return the verdict on the first call of each question."""
        return {what: self.engine.decide(_requests(what, 1)[0]) for what in _QUESTIONS}

    def _load_ours(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "bench.policy")
            file.write_text(_RULES)
            self.engine.generation = policy.load(file)


def expected() -> dict[str, str]:
    """Return the verdict that every engine must give."""
    return {what: "allow" if cond else "deny" for what, (_, _, cond, _) in _QUESTIONS.items()}


def _neutral_rules() -> list[dict[str, Any]]:
    return [
        {
            "id": f"r{number}",
            "effect": "allow",
            "tool": {"exact": tool},
            "roles": None,
            "conds": [cond],
        }
        for number, (tool, _, cond, _) in enumerate(_QUESTIONS.values())
        if cond
    ]


def _requests(what: str, count: int, *, start: int = 0) -> list[dict[str, Any]]:
    tool, field, _, forms = _QUESTIONS[what]
    if not forms:
        args = {"path": "/srv/project/a", "mode": "644"}
        return [{"tool": tool, "args": args, "ctx": _CALLER}] * count
    return [
        {"tool": tool, "args": {field: forms[i % len(forms)].format(f"f{i}")}, "ctx": _CALLER}
        for i in range(start, start + count)
    ]

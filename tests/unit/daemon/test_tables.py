"""Which tool and input each agent's call is decided as: the tables of all agents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from policy.daemon import AGENT_NAMES
from policy.daemon.agents import AGENTS
from policy.daemon.agents.mapping import Unmapped, mapped

ROOT = Path(__file__).resolve().parents[3]
HERE = "/srv/work"

Calls = list[tuple[str, dict[str, Any]]]


def judged_as(agent: str, tool: str, input: dict[str, Any]) -> Calls:
    found = mapped(AGENTS[agent].rows, tool, input, cwd=HERE)
    return [(call.tool, dict(call.input)) for call in found.calls]


def read(path: str) -> tuple[str, dict[str, Any]]:
    return ("file_read", {"path": path})


def write(path: str, content: str) -> tuple[str, dict[str, Any]]:
    return ("file_write", {"path": path, "content": content})


def listed(path: str, *, deep: bool = True) -> tuple[str, dict[str, Any]]:
    return ("file_list", {"path": path, "recursive": deep})


def run(command: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return ("bash_exec", {"command": command, **more})


def fetch(url: str) -> tuple[str, dict[str, Any]]:
    return ("web_fetch", {"url": url})


CLAUDE = "claude-code"
GEMINI = "gemini-cli"
CODEX = "codex"

JUDGED: list[tuple[str, str, dict[str, Any], Calls]] = [
    (CLAUDE, "Bash", {"command": "ls", "description": "x"}, [run("ls")]),
    (CLAUDE, "Bash", {"command": "ls", "timeout": 1500}, [run("ls", timeout=2)]),
    (CLAUDE, "Bash", {"command": "ls", "timeout": 10**9}, [run("ls", timeout=3600)]),
    (CLAUDE, "Read", {"file_path": "/a/b", "offset": 1}, [read("/a/b")]),
    (CLAUDE, "Read", {"file_path": "b"}, [read("/srv/work/b")]),
    (CLAUDE, "Write", {"file_path": "/a", "content": "x"}, [write("/a", "x")]),
    (
        CLAUDE,
        "Edit",
        {"file_path": "/a", "old_string": "x", "new_string": "y"},
        [read("/a"), write("/a", "y")],
    ),
    (
        CLAUDE,
        "MultiEdit",
        {"file_path": "/a", "edits": [{"new_string": "x"}, {"new_string": "y"}]},
        [read("/a"), write("/a", "x\ny")],
    ),
    (
        CLAUDE,
        "NotebookEdit",
        {"notebook_path": "/a", "new_source": "y"},
        [read("/a"), write("/a", "y")],
    ),
    (CLAUDE, "NotebookRead", {"notebook_path": "/a"}, [read("/a")]),
    (CLAUDE, "LS", {"path": "/a"}, [listed("/a", deep=False)]),
    (CLAUDE, "Glob", {"pattern": "**/*.py"}, [listed("/srv/work/")]),
    (CLAUDE, "Glob", {"pattern": "*.py", "path": "/etc"}, [listed("/etc/")]),
    (CLAUDE, "Glob", {"pattern": "../../etc/*"}, [listed("/srv/work/../../etc/")]),
    (CLAUDE, "Glob", {"pattern": "/etc/ssh/*", "path": "/srv"}, [listed("/etc/ssh/")]),
    (CLAUDE, "Glob", {"pattern": "/etc/passwd"}, [listed("/etc/")]),
    (CLAUDE, "Grep", {"pattern": "a b"}, [run("rg --hidden -e 'a b' -- /srv/work")]),
    (
        CLAUDE,
        "Grep",
        {"pattern": "-x", "path": "/a", "glob": "*.py", "type": "py", "-n": True},
        [run("rg --hidden --glob '*.py' --type py -e -x -- /a")],
    ),
    (
        CLAUDE,
        "Grep",
        {"pattern": "x", "glob": "*.py, !x"},
        [run("rg --hidden -e x -- /srv/work")],
    ),
    (CLAUDE, "WebFetch", {"url": "https://a.b/", "prompt": "x"}, [fetch("https://a.b/")]),
    (
        CLAUDE,
        "ReadMcpResourceTool",
        {"server": "notes", "uri": "note://1"},
        [("mcp_read_resource", {"server": "notes", "uri": "note://1"})],
    ),
    (GEMINI, "run_shell_command", {"command": "ls", "is_background": True}, [run("ls")]),
    (GEMINI, "read_file", {"file_path": "b"}, [read("/srv/work/b")]),
    (GEMINI, "read_file", {"absolute_path": "/b", "limit": 3}, [read("/b")]),
    (GEMINI, "write_file", {"file_path": "/a", "content": "x"}, [write("/a", "x")]),
    (
        GEMINI,
        "replace",
        {"file_path": "/a", "instruction": "i", "old_string": "x", "new_string": "y"},
        [read("/a"), write("/a", "y")],
    ),
    (GEMINI, "list_directory", {"dir_path": "x"}, [listed("/srv/work/x", deep=False)]),
    (GEMINI, "glob", {"pattern": "*", "dir_path": "/etc"}, [listed("/etc/")]),
    (GEMINI, "grep_search", {"pattern": "x"}, [run("rg --hidden -e x -- /srv/work")]),
    (
        GEMINI,
        "search_file_content",
        {"pattern": "x", "path": "/a", "include": "*.ts"},
        [run("rg --hidden --glob '*.ts' -e x -- /a")],
    ),
    (
        GEMINI,
        "web_fetch",
        {"prompt": "compare https://a.b/x\u00a0with\nhttp://c.d/ please"},
        [fetch("https://a.b/x"), fetch("http://c.d/")],
    ),
    (CODEX, "Bash", {"command": "ls"}, [run("ls")]),
]


@pytest.mark.parametrize(("agent", "tool", "input", "calls"), JUDGED)
def test_a_call_is_judged_as_calls_of_ours(
    agent: str, tool: str, input: dict[str, Any], calls: Calls
) -> None:
    assert judged_as(agent, tool, input) == calls


UNMAPPED: list[tuple[str, str, dict[str, Any]]] = [
    (CLAUDE, "Teleport", {}),
    (CLAUDE, "Bash", {}),
    (CLAUDE, "Bash", {"command": ["ls"]}),
    (CLAUDE, "Bash", {"command": "ls", "workdir": "/etc"}),
    (CLAUDE, "Read", {"file_path": "~/.ssh/id_rsa"}),
    (CLAUDE, "Read", {"file_path": " /etc/passwd"}),
    (CLAUDE, "Read", {"file_path": ""}),
    (CLAUDE, "MultiEdit", {"file_path": "/a", "edits": "x"}),
    (CLAUDE, "Glob", {"pattern": "*/../../etc/*"}),
    (CLAUDE, "Glob", {"pattern": "{..,x}/*"}),
    (CLAUDE, "Glob", {"pattern": "{/etc,x}/*"}),
    (CLAUDE, "Glob", {"pattern": "@(/etc|x)/*"}),
    (CLAUDE, "Glob", {"pattern": "~/.ssh/*"}),
    (CLAUDE, "PowerShell", {"command": "ls"}),
    (GEMINI, "read_file", {"file_path": "a", "path": "/etc/passwd"}),
    (GEMINI, "run_shell_command", {"command": "ls", "additional_permissions": {}}),
    (GEMINI, "web_fetch", {"prompt": "no address"}),
    (GEMINI, "read_many_files", {"include": ["**/*"]}),
    (CODEX, "Bash", {"command": "ls", "workdir": "/etc"}),
]


@pytest.mark.parametrize(("agent", "tool", "input"), UNMAPPED)
def test_what_no_row_covers_is_not_judged(agent: str, tool: str, input: dict[str, Any]) -> None:
    with pytest.raises(Unmapped):
        judged_as(agent, tool, input)


@pytest.mark.parametrize("name", ["dir_path", "directory"])
def test_a_command_is_judged_in_the_folder_it_runs_in(name: str) -> None:
    rows = AGENTS[GEMINI].rows
    found = mapped(rows, "run_shell_command", {"command": "ls", name: "../x"}, cwd=HERE)
    assert found.cwd == "/srv/x"


def test_the_names_of_the_command_line_are_those_of_the_tables() -> None:
    assert tuple(AGENTS) == AGENT_NAMES
    assert [agent.name for agent in AGENTS.values()] == list(AGENTS)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_page_shows_every_row(agent: str) -> None:
    page = (ROOT / "docs" / "hooks.md").read_text("utf-8")
    rows = {f"| {AGENTS[agent].name} | `{n}` | {r.page} |" for n, r in AGENTS[agent].rows.items()}
    assert rows - set(re.findall(r"^\|.*\|$", page, re.MULTILINE)) == set()

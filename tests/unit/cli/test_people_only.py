"""Which processes count as started by an agent: on a folder that looks like Linux's `/proc`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from policy.cli import people_only
from tests.unit.cli.running import run

# Every command that only people may run.
COMMANDS = (
    ("approvals", "approve", "3f9a"),
    ("approvals", "deny", "3f9a"),
    ("approvals", "revoke", "3f9a"),
    ("config", "set", "permissions.tools.bash_exec", "allow"),
    ("config", "unset", "permissions.tools.bash_exec"),
    ("freeze", "--because", "x"),
    ("unfreeze",),
    ("sessions", "clear", "desk", "--because", "x"),
    ("acknowledge", "sha256:" + "0" * 64),
    ("daemon", "stop"),
)


class Processes:
    """Processes below each other, the first one started by process 1."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.last = 1

    def start(self, *command: str, env: Mapping[str, str] | None = None) -> None:
        pid = self.last + 100
        process = self.folder / str(pid)
        process.mkdir()
        (process / "stat").write_text(f"{pid} (a) b) c) S {self.last} 1 1")
        (process / "cmdline").write_text("".join(f"{word}\0" for word in command))
        pairs = (env or {"HOME": "/root"}).items()
        (process / "environ").write_text("".join(f"{name}={value}\0" for name, value in pairs))
        self.last = pid

    def agent_above(self, **env: str) -> str | None:
        return people_only.agent_above(env.keys(), self.last, self.folder)


@pytest.fixture
def processes(tmp_path: Path) -> Processes:
    return Processes(tmp_path)


def test_a_person_in_a_terminal_is_no_agent(processes: Processes) -> None:
    processes.start("/usr/bin/sshd")
    processes.start("-bash", env={"EDITOR": "claude", "CURSOR_TRACE_ID": "x"})
    assert processes.agent_above(TERM_PROGRAM="vscode") is None


@pytest.mark.parametrize("variable", people_only.AGENT_VARIABLES)
def test_a_variable_counts_where_it_was_set_and_below(processes: Processes, variable: str) -> None:
    found = f"an agent, which set `{variable}`"
    assert processes.agent_above(**{variable: "1"}) == found
    processes.start("bash", "-c", "env -u …", env={variable: ""})
    processes.start("env", "-i", "bash")
    assert processes.agent_above() == found


@pytest.mark.parametrize(
    "command",
    [
        ["claude"],
        ["/opt/codex/vendor/codex", "exec"],
        ["node", "--no-warnings", "/usr/bin/gemini", "-p", "x"],
        ["/usr/bin/python3.12", "/usr/bin/aider"],
        ["python", "-m", "aider"],
        ["bun", "/srv/opencode.js"],
    ],
)
def test_an_agent_counts_that_set_no_variable(processes: Processes, command: list[str]) -> None:
    processes.start(*command)
    processes.start("bash", "-c", "env -i …")
    (name,) = people_only.AGENT_PROGRAMS & {Path(word).stem for word in command}
    assert processes.agent_above() == f"an agent, `{name}`"


@pytest.mark.parametrize("command", [["vim", "claude"], ["node", "server.js", "gemini"], []])
def test_an_agents_name_elsewhere_is_no_agent(processes: Processes, command: list[str]) -> None:
    processes.start(*command)
    assert processes.agent_above() is None


def test_a_process_that_cannot_be_examined_is_no_agent(processes: Processes) -> None:
    processes.start("claude")
    processes.last = 4000
    assert processes.agent_above() is None


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_each_command_for_people_is_refused(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_THREAD_ID", "019f")
    ran = run(*command)
    assert ran.code == 2
    assert "is for people only, and this command was started by an agent" in ran.err


@pytest.mark.parametrize("option", ["--install", "--uninstall"])
def test_hooks_are_edited_by_people(
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from policy.cli.hook_call import run_hook

    monkeypatch.setenv("CODEX_SANDBOX", "seatbelt")
    with pytest.raises(SystemExit) as refused:
        run_hook(["codex", "--policy", str(tmp_path), "--settings", str(tmp_path / "s"), option])
    assert refused.value.code == 2
    assert "changing the hooks of an agent is for people only" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []

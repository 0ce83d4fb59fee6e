"""The hooks of coding agents, driven as the agents drive them: real processes, recorded inputs."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.hooks import POLICY, Scene, scene_in

pytestmark = pytest.mark.people

RECORDED = Path(__file__).resolve().parents[1] / "data" / "hooks"
CLAUDE, GEMINI, CODEX = "claude-code", "gemini-cli", "codex"


@contextmanager
def played(folder: Path, more: Mapping[str, str] | None = None) -> Iterator[Scene]:
    """Yield a scene, and end its daemons."""
    # The path of a socket is short, and that of a test's folder is not.
    with tempfile.TemporaryDirectory(prefix="placet-") as runtime:
        made = scene_in(folder, Path(runtime), more)
        try:
            yield made
        finally:
            made.end_daemons()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Scene]:
    """A scene of one test, without a daemon at first."""
    with played(tmp_path) as made:
        yield made


@pytest.fixture
def scene(fresh: Scene) -> Scene:
    """A scene of one test, with its daemon."""
    fresh.start_daemon()
    return fresh


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A scene whose daemon answers the tests that change nothing."""
    with played(tmp_path_factory.mktemp("shared")) as made:
        (made.project / ".env").write_text("k\n")
        made.start_daemon()
        yield made


def recorded() -> Iterator[Any]:
    """Yield every input that an agent writes to its hook, with the answer it is to get."""
    for file in sorted(RECORDED.glob("*.json")):
        for name, case in json.loads(file.read_text("utf-8")).items():
            yield pytest.param(file.stem, case["input"], case["answer"], id=f"{file.stem}-{name}")


@pytest.fixture(scope="module")
def installed(shared: Scene) -> dict[str, str]:
    """The commands that stand in the agents' settings once the hooks are installed."""
    found = {}
    for agent in (CLAUDE, GEMINI, CODEX):
        settings = shared.folder / f"{agent}.json"
        words = ("hook", agent, "--policy", str(shared.rules), "--settings", str(settings))
        assert shared.placet(*words, "--install").status == 0
        commands = commands_in(settings)
        # No Gemini CLI is installed here, and so one that cannot ask is assumed.
        found[agent] = next(iter(commands.values())).replace(" --deny-asks", "")
    return found


def commands_in(settings: Path) -> dict[str, str]:
    """Return the command of each event, the one that asks first."""
    hooks = json.loads(settings.read_text("utf-8"))["hooks"]
    return {event: group["hooks"][0]["command"] for event, (group,) in hooks.items()}


@pytest.mark.parametrize(("agent", "given", "answer"), tuple(recorded()))
def test_an_agents_input_gets_its_answer(
    shared: Scene, installed: dict[str, str], agent: str, given: object, answer: object
) -> None:
    def placed(value: object) -> str:
        text = json.dumps(value).replace("@PROJECT@", str(shared.project))
        text = text.replace("@RULES@", str(shared.rules))
        return text.replace("@HOME@", str(shared.home))

    done = subprocess.run(
        ["bash", "-c", installed[agent]],
        cwd=shared.project,
        env=shared.environment,
        input=placed(given),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout or "null") == json.loads(placed(answer))


SESSION_RULES = """\
policy for every agent

default deny
pages: allow web_fetch when input.url named by user
reads: allow file_read when reads only workspace
notes: allow file_write when writes only "b.txt" after file_read
named: allow file_write when writes only workspace and call.writes named by user
list: allow bash_exec when runs only "ls" after file_write
"""


@pytest.mark.parametrize("agent", [CLAUDE, GEMINI, CODEX])
def test_a_session_is_known_by_what_the_agent_tells(scene: Scene, agent: str) -> None:
    """Each step is what an agent writes to a hook of its settings, with the verdict it gets."""
    scene.save(SESSION_RULES)
    settings = scene.folder / "settings.json"
    words = ("hook", agent, "--policy", str(scene.rules), "--settings", str(settings))
    assert scene.placet(*words, "--install").status == 0
    commands = commands_in(settings)
    steps = json.loads((RECORDED / "sessions" / f"{agent}.json").read_text("utf-8"))
    for number, step in enumerate(steps):
        event = step["input"]["hook_event_name"]
        given = json.dumps(step["input"]).replace("@PROJECT@", str(scene.project))
        done = subprocess.run(
            ["bash", "-c", commands[event]],
            cwd=scene.project,
            env=scene.environment,
            input=given.replace("@HOME@", str(scene.home)),
            capture_output=True,
            text=True,
        )
        assert (number, done.returncode, done.stderr) == (number, 0, "")
        answer = json.loads(done.stdout or "{}")
        said = answer.get("hookSpecificOutput", {}).get(
            "permissionDecision", answer.get("decision")
        )
        if agent == CODEX and step["answer"] == "allow":
            step["answer"] = None  # it is told nothing where nothing changes
        assert (number, said) == (number, step["answer"])
    assert len(scene.daemons()) == 1


def test_an_event_that_cannot_be_noted_stops_no_agent(scene: Scene) -> None:
    settings = scene.folder / "settings.json"
    words = ("hook", CLAUDE, "--policy", str(scene.rules), "--settings", str(settings))
    assert scene.placet(*words, "--install").status == 0
    command = commands_in(settings)["UserPromptSubmit"]
    for given in (b"", b" " * (16 * 1024 * 1024 + 1), b'{"hook_event_name": "UserPromptSubmit"'):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=scene.project,
            env=scene.environment,
            input=given,
            capture_output=True,
        )
        assert done.returncode == 0
    gone = command.replace(sys.executable, str(scene.folder / "python"))
    assert subprocess.run(["bash", "-c", gone], capture_output=True).returncode == 0


def test_codex_runs_a_command_only_where_it_was_judged(shared: Scene) -> None:
    done = shared.call(CODEX, "Bash", {"command": "cat a.txt"})
    assert done.told["permissionDecision"] == "allow"
    script = done.told["updatedInput"]["command"]
    here = subprocess.run(
        ["bash", "-c", script], cwd=shared.project, capture_output=True, text=True
    )
    assert (here.returncode, here.stdout) == (0, "a\n")
    there = subprocess.run(["bash", "-c", script], cwd=shared.home, capture_output=True, text=True)
    assert (there.returncode, there.stdout) == (126, "")
    assert "use `cd`" in there.stderr


@pytest.mark.parametrize("agent", [CLAUDE, GEMINI, CODEX])
@pytest.mark.parametrize("text", ["", "{"])
def test_what_is_no_hook_input_is_denied(shared: Scene, agent: str, text: str) -> None:
    done = shared.send(agent, text)
    assert done.status == 0
    told = done.answer.get("hookSpecificOutput", {})
    assert "deny" in (done.answer.get("decision"), told.get("permissionDecision"))


def test_a_huge_input_blocks_the_call(shared: Scene) -> None:
    done = shared.send(CLAUDE, b" " * (16 * 1024 * 1024 + 1))
    assert (done.status, done.stdout) == (2, "")
    assert "too long" in done.stderr


def test_a_large_input_is_decided(shared: Scene) -> None:
    content = "x" * 5_000_000
    done = shared.call(
        CLAUDE, "Write", {"file_path": str(shared.project / "b"), "content": content}
    )
    assert done.told["permissionDecision"] == "allow"


def test_an_unknown_tool_or_field_is_denied(shared: Scene) -> None:
    tool = shared.call(CLAUDE, "Teleport", {"to": "x"})
    assert tool.told["permissionDecision"] == "deny"
    assert "docs/hooks.md" in tool.told["permissionDecisionReason"]
    field = shared.call(CLAUDE, "Bash", {"command": "ls", "workdir": "/etc"})
    assert field.told["permissionDecision"] == "deny"
    assert "`workdir`" in field.told["permissionDecisionReason"]


def test_an_unknown_option_blocks_the_call(shared: Scene) -> None:
    done = shared.call(CLAUDE, "Bash", {"command": "ls"}, "--polciy", "x")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr


def test_one_daemon_answers_all_calls(fresh: Scene) -> None:
    for _ in range(3):
        fresh.call(CLAUDE, "Bash", {"command": "ls"})
    (daemon,) = fresh.daemons()
    assert (daemon["calls"], daemon["policy"]) == (3, str(fresh.rules))


def test_two_calls_at_once_start_one_daemon(fresh: Scene) -> None:
    begun = [fresh.begun(CLAUDE) for _ in range(4)]
    given = json.dumps(fresh.input(CLAUDE, "Bash", {"command": "ls"})).encode()
    with ThreadPoolExecutor(len(begun)) as pool:
        done = list(pool.map(lambda process: fresh.ended(process, given), begun))
    assert {each.told["permissionDecision"] for each in done} == {"allow"}
    (daemon,) = fresh.daemons()
    # One that had to wait too long has decided for itself.
    assert 1 <= daemon["calls"] <= len(begun)


def test_a_daemon_that_is_killed_leaves_the_decision_to_the_client(scene: Scene) -> None:
    scene.call(CLAUDE, "Bash", {"command": "ls"})
    first = scene.pid()
    os.kill(first, signal.SIGKILL)
    scene.wait_for_the_end()
    done = scene.call(CLAUDE, "Bash", {"command": "ls"})
    assert done.told["permissionDecision"] == "allow"
    assert scene.pid() != first


@pytest.mark.parametrize(
    "reply",
    [
        b'{"kind": "answer", "status"',
        pytest.param(b"", marks=pytest.mark.long),
        pytest.param(b'{"kind": "answer", "status": "0"}\n', marks=pytest.mark.long),
    ],
)
def test_a_daemon_that_dies_in_the_middle_of_a_call_leaves_it_to_the_client(
    scene: Scene, reply: bytes
) -> None:
    scene.call(CLAUDE, "Bash", {"command": "ls"})
    (where,) = (scene.runtime / "placet").glob("*.sock")
    scene.end_daemons()
    # In its place stands one that takes the call, and is gone before it has answered.
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(where))
        listening.listen()
        given = json.dumps(scene.input(CLAUDE, "Bash", {"command": "ls"})).encode()
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(scene.ended, scene.begun(CLAUDE), given)
            taken, _ = listening.accept()
            with taken, taken.makefile("rb") as lines:
                assert json.loads(lines.readline())["kind"] == "ask"
                taken.sendall(reply)
            assert done.result().told["permissionDecision"] == "allow"
    where.unlink()


def test_a_daemon_that_hangs_leaves_the_decision_to_the_client(scene: Scene) -> None:
    scene.call(CLAUDE, "Bash", {"command": "ls"})
    pid = scene.pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        done = scene.call(CLAUDE, "Bash", {"command": "ls"})
    finally:
        os.kill(pid, signal.SIGCONT)
    assert done.told["permissionDecision"] == "allow"


def test_a_daemon_of_another_version_is_replaced(scene: Scene) -> None:
    scene.call(CLAUDE, "Bash", {"command": "ls"})
    first = scene.pid()
    (where,) = (scene.runtime / "placet").glob("*.sock")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(where))
        connection.sendall(b'{"kind": "ask", "identity": "another"}\n')
        connection.shutdown(socket.SHUT_WR)
        assert json.loads(connection.recv(1000))["kind"] == "another"
    scene.wait_for_the_end()
    assert scene.call(CLAUDE, "Bash", {"command": "ls"}).told["permissionDecision"] == "allow"
    assert scene.pid() != first


def test_a_folder_that_others_can_enter_is_not_used(fresh: Scene) -> None:
    (fresh.runtime / "placet").mkdir(mode=0o755)
    done = fresh.call(CLAUDE, "Bash", {"command": "ls"})
    assert done.told["permissionDecision"] == "allow"
    assert list((fresh.runtime / "placet").iterdir()) == []
    (fresh.runtime / "placet").chmod(0o700)


def test_a_link_in_place_of_the_folder_is_not_used(fresh: Scene) -> None:
    elsewhere = fresh.folder / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (fresh.runtime / "placet").symlink_to(elsewhere)
    assert fresh.call(CLAUDE, "Bash", {"command": "ls"}).told["permissionDecision"] == "allow"
    assert list(elsewhere.iterdir()) == []


def test_a_broken_policy_denies(fresh: Scene) -> None:
    fresh.save("policy for every agent\n\nallow file_raed\n")
    done = fresh.call(CLAUDE, "Bash", {"command": "ls"})
    assert done.told["permissionDecision"] == "deny"
    assert "no policy" in done.told["permissionDecisionReason"]


def test_an_edit_of_the_policy_takes_effect_in_the_daemon(scene: Scene) -> None:
    assert scene.call(CLAUDE, "Bash", {"command": "ls"}).told["permissionDecision"] == "allow"
    scene.save(POLICY.replace("look: allow bash_exec when runs only look\n", ""))
    # The daemon follows the files by itself; how soon is for the tests of reloading.
    for _ in range(200):
        decision = scene.call(CLAUDE, "Bash", {"command": "ls"}).told["permissionDecision"]
        if decision == "deny":
            break
    assert decision == "deny"
    assert len(scene.daemons()) == 1


def test_a_broken_edit_keeps_the_last_good_policy_and_the_status_says_so(scene: Scene) -> None:
    assert scene.call(CLAUDE, "Bash", {"command": "ls"}).told["permissionDecision"] == "allow"
    scene.save("policy for every agent\n\nallow file_raed\n")
    for _ in range(200):
        (daemon,) = scene.daemons()
        if "stale" in daemon["projects"][0]["policy"]:
            break
    status = scene.placet("status", str(scene.rules))
    state, would_be, daemon_line = status.stdout.splitlines()
    assert (status.status, state) == (1, "down")
    assert would_be.startswith("a server that starts now would deny everything, because ")
    assert f"in {scene.project}: generation 1 in force, stale since" in daemon_line
    assert scene.call(CLAUDE, "Bash", {"command": "ls"}).told["permissionDecision"] == "allow"


def test_a_daemon_ends_when_it_is_idle(tmp_path: Path) -> None:
    with played(tmp_path, {"PLACET_DAEMON_IDLE": "0.2"}) as scene:
        assert scene.call(CLAUDE, "Bash", {"command": "ls"}).told["permissionDecision"] == "allow"
        scene.wait_for_the_end()
        assert scene.daemons() == []
        assert list((scene.runtime / "placet").glob("*.sock")) == []


def test_a_module_in_the_project_is_not_imported(shared: Scene) -> None:
    (shared.project / "json.py").write_text("raise SystemExit(0)\n")
    assert shared.call(CLAUDE, "Bash", {"command": "ls"}).told["permissionDecision"] == "allow"


def test_a_module_that_pythonpath_names_is_not_imported(
    fresh: Scene, shared: Scene, installed: dict[str, str]
) -> None:
    source = fresh.project / "src"
    source.mkdir()
    for name in ("json", "sitecustomize", "policy", "re", "orjson", "socket"):
        (source / f"{name}.py").write_text("import os\nos._exit(0)\n")
    command = installed[CLAUDE].replace(str(shared.rules), str(fresh.rules))
    for path in ("src", str(source)):
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=fresh.project,
            env={**fresh.environment, "PYTHONPATH": path},
            input=json.dumps(fresh.input(CLAUDE, "Bash", {"command": "ls"})),
            capture_output=True,
            text=True,
        )
        assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "allow"
    # The daemon was started by a call with this environment, and yet it is there.
    (daemon,) = fresh.daemons()
    assert daemon["calls"] == 2


def test_the_script_itself_leaves_out_what_pythonpath_names(fresh: Scene) -> None:
    source = fresh.project / "src"
    source.mkdir()
    for name in ("json", "socket", "orjson"):
        (source / f"{name}.py").write_text("import os\nos._exit(0)\n")
    told = Scene(folder=fresh.folder, runtime=fresh.runtime, more={"PYTHONPATH": "src"})
    done = told.call(CLAUDE, "Bash", {"command": "ls"}, "--no-daemon")
    assert done.told["permissionDecision"] == "allow"


def test_a_closed_output_is_no_consent(shared: Scene) -> None:
    given = json.dumps(shared.input(CLAUDE, "Read", {"file_path": "/etc/passwd"}))
    command = f"{' '.join(shared.command(CLAUDE))} >&-"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=shared.project,
        env=shared.environment,
        input=given,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2


def test_a_hook_call_imports_little() -> None:
    program = (
        "import sys\n"
        "import policy.cli.hook_call, policy.daemon.connection, policy.daemon.endpoint\n"
        "print('\\n'.join(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    heavy = {"asyncio", "click", "dataclasses", "inspect", "lark", "logging", "pydantic", "tomlkit"}
    assert heavy & set(done.stdout.split()) == set()
    ours = [name for name in done.stdout.split() if name.startswith("policy")]
    assert len(ours) < 15


def test_the_emergency_stop_counts_at_once(scene: Scene) -> None:
    assert scene.call(CLAUDE, "Bash", {"command": "ls"}).told["permissionDecision"] == "allow"
    frozen = scene.placet("freeze", "--because", "an incident", "--rules", str(scene.rules))
    assert frozen.status == 0
    done = scene.call(CLAUDE, "Bash", {"command": "ls"})
    assert done.told["permissionDecision"] == "deny"
    assert "an incident" in done.told["permissionDecisionReason"]


def test_a_full_disk_leaves_a_decision_and_no_consent(fresh: Scene) -> None:
    def full() -> None:
        # Whatever would be written is refused, as on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    def call(*more: str) -> subprocess.CompletedProcess[bytes]:
        words = [sys.executable, "-P", "-m", "policy", "hook", CLAUDE, "--policy", str(fresh.rules)]
        return subprocess.run(
            [*words, *more],
            cwd=fresh.project,
            env=fresh.environment,
            input=json.dumps(fresh.input(CLAUDE, "Bash", {"command": "ls"})).encode(),
            capture_output=True,
            preexec_fn=full,
        )

    assert b'"allow"' in call().stdout
    denied = call("--audit", str(fresh.audit))
    assert b'"deny"' in denied.stdout
    assert b"recorded" in denied.stdout


def test_the_settings_are_edited_by_people_alone(scene: Scene) -> None:
    settings = scene.home / ".claude" / "settings.json"
    words = ("hook", CLAUDE, "--policy", str(scene.rules), "--install")
    shown = scene.placet(*words, "--dry-run")
    assert (shown.status, settings.exists()) == (0, False)
    assert "+" in shown.stdout
    agents = Scene(folder=scene.folder, runtime=scene.runtime, more={"CLAUDECODE": "1"})
    assert agents.placet(*words).status == 2
    installed = scene.placet(*words)
    assert installed.status == 0
    assert "knows none of the agent's own tools" in installed.stderr
    command = json.loads(settings.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=scene.project,
        env=scene.environment,
        input=json.dumps(scene.input(CLAUDE, "Bash", {"command": "ls"})),
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert scene.placet("hook", CLAUDE, "--uninstall").status == 0
    assert not settings.exists()

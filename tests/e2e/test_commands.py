"""The commands as users start them: the demo, and its messages when it cannot run."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.e2e.serving import ENV, place_in
from tests.preloaded import placet
from tests.unit.cli.running import run as run_here

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests" / "data" / "small_rules"


def run(command: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **ENV},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What the demo printed, and what it left in the folder in which it was started."""

    done: subprocess.CompletedProcess[str]
    left: list[str]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    done = run(placet("demo"), folder)
    return Demo(done=done, left=os.listdir(folder))


def test_the_demo_ends_by_itself_with_everything_as_expected(demo: Demo) -> None:
    done = demo.done
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "all as expected" in done.stdout
    assert "global.policy:" in done.stdout
    assert "\x1b" not in done.stdout
    assert demo.left == []


def test_the_picture_of_the_demo_shows_what_it_prints(demo: Demo) -> None:
    picture = (ROOT / "docs" / "pictures" / "demo.svg").read_text("utf-8")
    shown = set(without_numbers(unescape(re.sub("<[^>]*>", "", picture))).splitlines())
    printed = without_numbers(demo.done.stdout).splitlines()
    calls = [line for line in printed if re.match(r"\d\.|  [✓?✗] ", line)]
    assert len(calls) > 15
    assert set(calls) - shown == set(), "run `make picture`"


def without_numbers(printed: str) -> str:
    return re.sub(r"\d+", "0", printed)


@pytest.mark.parametrize(("variable", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_terminals_of_people_who_want_them(
    tmp_path: Path, variable: dict[str, str], coloured: bool
) -> None:
    terminal, end = os.openpty()
    call = ("--tool", "file_read", "--input", '{"path": "a.txt"}', "--workspace", "/srv/work")
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    subprocess.run(
        placet("explain", str(SMALL), *call),
        cwd=tmp_path,
        env={**environment, **ENV, **variable},
        stdin=subprocess.DEVNULL,
        stdout=end,
        timeout=60,
        check=True,
    )
    printed = os.read(terminal, 65536)
    os.close(end)
    os.close(terminal)
    assert b"allow" in printed
    assert (b"\x1b[" in printed) is coloured


def test_the_end_of_input_ends_the_server(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    done = run(place.command(), tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    first, warning, second = done.stderr.splitlines()
    assert first.startswith("placet: generation 1 sha256:") and first.endswith(" ms)")
    assert warning.startswith("placet: warning: commands run without a sandbox: ")
    assert second.startswith("placet: serving on stdio for owner as agent default; workspace /")


REACH = [("rules", ""), ("rules", "rules/data"), ("rules/global.policy", "rules")]


def within_reach(folder: Path, served: str, workspace: str) -> tuple[list[str], str]:
    """Return a command that serves a policy from within its workspace, and what is said of it."""
    place = place_in(folder)
    (place.rules / "data").mkdir()
    command = ["serve", served, "--workspace", str(folder / workspace)]
    where = "contains" if workspace == "rules/data" else "is in"
    return command, f"the policy {folder / served} {where} the workspace {folder / workspace}:"


@pytest.mark.parametrize(("served", "workspace"), REACH)
def test_a_policy_within_reach_of_the_tools_is_not_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: str, workspace: str
) -> None:
    command, found = within_reach(tmp_path, served, workspace)
    monkeypatch.chdir(tmp_path)
    refusal = run_here(*command)
    assert (refusal.code, refusal.out) == (2, "")
    refused = f"placet: {found} keep them apart, or insist with --policy-in-workspace"
    assert refused in refusal.err.splitlines()


@pytest.mark.parametrize(
    ("served", "workspace"),
    [REACH[0], *(pytest.param(*more, marks=pytest.mark.long) for more in REACH[1:])],
)
def test_a_policy_within_reach_of_the_tools_is_served_where_somebody_insists(
    tmp_path: Path, served: str, workspace: str
) -> None:
    command, found = within_reach(tmp_path, served, workspace)
    done = run(placet(*command, "--policy-in-workspace"), tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    warned = f"placet: warning: {found} programs that tools run could change it"
    assert warned in done.stderr.splitlines()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--http", "nowhere"], "--http takes HOST:PORT, such as 127.0.0.1:8642, not nowhere"),
        (["--http", "192.0.2.1:1"], "192.0.2.1:1 cannot be bound: "),
        (["--approve", "terminal"], "--approve terminal, --token-file and --allow-host need"),
        (
            ["--http", "127.0.0.1:0", "--token-file", "short"],
            "short does not contain a token of at least",
        ),
        (["--audit", "work/audit.jsonl"], "work/audit.jsonl is in the workspace, where tools"),
        (["--audit", "nowhere/audit.jsonl"], "nowhere/audit.jsonl cannot be written: the folder"),
        (["--audit", "pipe"], "pipe is a named pipe: name a regular file"),
        (["--audit", "/dev/null"], "the audit file /dev/null is a device: name a regular file"),
        (["--approve-script", "answers"], "answers:1: an answer is `yes`, `no` or `no: a reason`"),
    ],
)
def test_wrong_usage_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], told: str
) -> None:
    place = place_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short").write_text("secret", "utf-8")
    (tmp_path / "answers").write_text("perhaps\n", "utf-8")
    os.mkfifo(tmp_path / "pipe")
    done = run_here(*place.arguments(*options))
    assert done.code == 2
    assert told in done.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("command", "asking", "extras"),
    [
        ("serve", "policy.cli.serving.options", "placet[mcp]"),
        ("demo", "policy.cli.demo.command", "mcp,web"),
    ],
)
def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, asking: str, extras: str
) -> None:
    place_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        import_module(asking), "find_spec", lambda name: None if name == "mcp" else find_spec(name)
    )
    done = run_here(command)
    assert done.code == 2
    (line,) = done.err.splitlines()
    assert extras in line

"""The commands as processes: streams that break, close, fill or block, and signals."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.preloaded import placet

pytestmark = pytest.mark.people

ROOT = Path(__file__).resolve().parents[2]
STARTED = [sys.executable, "-m", "policy"]
ENV = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
SHIPPED = ROOT / "rules"
RULES = str(ROOT / "tests" / "data" / "small_rules")
CALL = '{"tool": "file_read", "input": {"path": "/etc/passwd"}}\n'
PATIENCE = 120.0  # seconds; the machine may be busy


def shell(
    script: str, command: Sequence[str] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a script in which `placet` is the command and `$RULES` a small folder of rules."""
    quoted = " ".join(f"'{part}'" for part in command or placet())
    done = subprocess.run(
        ["bash", "-c", f'placet() {{ {quoted} "$@"; }}\n{script}'],
        env={**ENV, "RULES": RULES, "CALL": CALL, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done


@pytest.mark.parametrize("command", ["decide", "explain"])
def test_a_closed_standard_input_is_told(command: str) -> None:
    done = shell(f'placet {command} "$RULES" <&-')
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "placet: standard input is closed: give the calls there, or with --call\n"
    )


def test_nobody_reading_ends_the_stream_quietly() -> None:
    script = """
        for i in $(seq 3000); do printf '%s' "$CALL"; done > calls
        placet decide "$RULES" --call calls | head -1
        echo "${PIPESTATUS[0]}"
    """
    done = shell(f'cd "$(mktemp -d)"; {script}')
    first, status = done.stdout.splitlines()
    assert json.loads(first)["verdict"] == "deny"
    assert status == "141"
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("command", ["check", "test", "decide", "explain --tool list_tools"])
def test_an_output_that_is_full_is_told(command: str) -> None:
    done = shell(f'printf %s "$CALL" | placet {command} "$RULES" > /dev/full')
    assert done.returncode == 2
    assert done.stderr == "placet: the output: No space left on device\n"


def test_an_interrupt_ends_it_without_a_word() -> None:
    process = subprocess.Popen(
        placet("decide", RULES),
        env=ENV,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(CALL)
        process.stdin.flush()
        # The answer comes while the input is still open: each line is flushed.
        assert json.loads(process.stdout.readline())["verdict"] == "deny"
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux's accounting")
def test_a_line_of_a_hundred_megabytes_takes_bounded_memory() -> None:
    measured = (
        "import re, sys; sys.argv[0] = 'placet'; "
        "from policy.cli import main; "
        "code = 0\n"
        "try: main()\n"
        "except SystemExit as end: code = end.code\n"
        # Not what `getrusage` tells, which counts this process before it became that one.
        "status = open('/proc/self/status').read()\n"
        "print(re.search('VmHWM:\\s+([0-9]+)', status)[1], file=sys.stderr)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", measured, "decide", RULES],
        env=ENV,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdin is not None
        for _ in range(100):
            process.stdin.write(b"a" * 1_000_000)
        out, err = process.communicate(b"\n" + CALL.encode(), timeout=PATIENCE)
    error, answer = map(json.loads, out.splitlines())
    assert error["error"]["code"] == "not-json"
    assert answer["verdict"] == "deny"
    assert int(err) < 250_000  # kilobytes


def test_an_output_that_cannot_show_a_character_shows_its_escape() -> None:
    done = shell(
        'cd /; placet explain "$RULES" --tool file_read --input \'{"path": "a"}\' --workspace /',
        STARTED,
        PYTHONIOENCODING="latin-1",
    )
    assert done.returncode == 0
    assert "\\u2713 when reads only workspace" in done.stdout


def test_arguments_that_are_not_utf8_are_told() -> None:
    for option in ("--tool $'\\xff\\xfe'", '--tool x --input $\'{"a": "\\xff"}\''):
        done = shell(f'placet explain "$RULES" {option}')
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("placet: ")


def test_nothing_is_coloured_when_piped() -> None:
    done = shell('placet explain "$RULES" --tool list_tools; placet check "$RULES"')
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr


def test_help_imports_no_engine() -> None:
    listing = (
        "import sys; sys.argv = ['placet', '--help']\n"
        "from policy.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted(set(sys.modules) & {'pydantic', 'lark', 'asyncio', 'mcp', 'watchfiles'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", listing], env=ENV, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_deciding_imports_no_server() -> None:
    listing = (
        "import sys; sys.argv = ['placet', 'decide', sys.argv[1]]\n"
        "from policy.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted(set(sys.modules) & {'mcp', 'httpx2', 'policy.service'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", listing, RULES],
        env=ENV,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


PAGE = ROOT / "docs" / "commands.md"
SMALL = "small.policy"
_EXAMPLE = re.compile(r"^```console\n\$ (.*?)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_page_shows_every_command() -> None:
    commands = (command for command, _ in _EXAMPLE.findall(PAGE.read_text("utf-8")))
    shown = {name for command in commands for name in re.findall(r"placet ([a-z]+)", command)}
    assert shown >= {"check", "fmt", "test", "decide", "explain"}


def seen(folder: Path, example: re.Match[str]) -> str:
    """Return the example with what its command really prints."""
    command, _ = example.groups()
    typed = command.replace("\\\n>", "")
    done = shell(f"cd '{folder}'; export XDG_STATE_HOME=$PWD/state; {typed}")
    said = re.sub(r"sha256:[0-9a-f]+…?", "sha256:…", done.stdout + done.stderr)
    said = re.sub(r"since \S+ by \S+?:", "since 2026-11-22T09:30:00Z by ada:", said)
    return f"```console\n$ {command}\n{said}```"


@pytest.mark.long
def test_the_examples_of_the_page_are_true(tmp_path: Path, update_cases: bool) -> None:
    shutil.copytree(SHIPPED, tmp_path / "rules")
    written = PAGE.read_text("utf-8")
    true = _EXAMPLE.sub(partial(seen, tmp_path), written)
    if update_cases:
        PAGE.write_text(true, "utf-8")
    else:
        assert written == true, "the page is out of date: run this with --update-cases"


def test_the_examples_with_a_small_policy_are_true(tmp_path: Path) -> None:
    examples = [each for each in _EXAMPLE.finditer(PAGE.read_text("utf-8")) if SMALL in each[1]]
    assert [re.findall(r"placet ([a-z]+)", each[1]) for each in examples] == [
        [], ["decide"], ["decide"], ["explain"],
    ]  # fmt: skip
    for each in examples:
        assert seen(tmp_path, each) == each[0], "the page is out of date"

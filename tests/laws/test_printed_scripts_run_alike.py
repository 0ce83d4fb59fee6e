"""Real bash does the same with the printed form of a script as with the script."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from policy.shell import NotPrintable, printed
from tests.examples import examples
from tests.laws.here_documents import here_documents
from tests.laws.shell_scripts import scripts

# A loop may not end, and commands beside each other print in any order.
_UNSTEADY = re.compile(r"while|until|select|coproc|time|[^&>]&(?![&>0-9])|\$\$|log")
# The only thing that differs is on which line a command is said to stand.
_LINE = re.compile(rb"line [0-9]+")
_SANDBOX = (
    "bwrap", "--ro-bind", "/", "/", "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev",
    "--unshare-net", "--unshare-pid", "--die-with-parent",
)  # fmt: skip


@pytest.fixture(scope="module")
def sandbox() -> tuple[str, ...]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if subprocess.run([*_SANDBOX, "true"], capture_output=True, check=False).returncode:
        pytest.skip("bubblewrap may not make a sandbox here")
    return _SANDBOX


def _done(script: str, sandbox: tuple[str, ...]) -> tuple[object, ...] | None:
    """Return what a script prints, its status and the files it makes; None if it takes long."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "in").write_text("i\nj\n")
        (root / "a.py").write_text("x")
        (root / "x").mkdir()
        inside = [*sandbox, "--bind", folder, "/tmp/work", "--chdir", "/tmp/work"]
        env = {"HOME": "/tmp/work", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
        try:
            ran = subprocess.run(
                [*inside, "/bin/bash", "-p", "-c", script],
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=10,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        if b"syntax error" in ran.stderr or b"unexpected" in ran.stderr:
            # Bash refuses it, or reads it as far as it can.
            return None
        return ran.returncode, _LINE.sub(b"", ran.stdout), tuple(_files(root))


def _files(root: Path) -> Iterator[tuple[str, bytes]]:
    for each in sorted(root.rglob("*")):
        content = each.read_bytes() if each.is_file() else b""
        yield str(each.relative_to(root)), _LINE.sub(b"", content)


@settings(max_examples=examples(100), suppress_health_check=list(HealthCheck))
@given(script=scripts() | here_documents())
def test_bash_runs_the_printed_form_like_the_script(script: str, sandbox: tuple[str, ...]) -> None:
    form = printed(script)
    if isinstance(form, NotPrintable) or form == script or _UNSTEADY.search(script):
        return
    original = _done(script, sandbox)
    if original is not None:
        assert _done(form, sandbox) == original, form

"""Run a script in a folder by a real shell and return what it prints; no process outlives the run.

Scripts are drawn at random, so some call themselves, in the background too: left to themselves,
they would fill the machine with processes long after the law that drew them has ended.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def run(
    shell: str,
    script: str,
    *,
    folder: Path,
    env: Mapping[str, str],
    seconds: float = 20.0,
    only: Path | None = None,
) -> str:
    """Return what a script prints to both of its outputs, in a folder, without any input.

    It and all that it began have ended then; what it would do after these seconds is not done.
    Where bubblewrap is installed, it can change what is below `only`, if that is given, and nothing
    else.
    """
    within = [] if only is None else _confined(only)
    with subprocess.Popen(
        [*within, shell, "-c", script],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as started:
        try:
            printed, _ = started.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as late:
            printed = late.output or b""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
    return printed.decode(errors="replace")


def _confined(folder: Path) -> list[str]:
    """Return the command that shows a program this disk, with one folder that it can change."""
    if shutil.which("bwrap") is None:
        return []
    place = str(folder)
    return [
        "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
        "--bind", place, place, "--unshare-net", "--die-with-parent", "--",
    ]  # fmt: skip

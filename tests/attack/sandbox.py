"""Runs a script with real bash in a sandbox, and returns what it did to its files.

The sandbox is bubblewrap's: no network but a loopback of its own, no process that it does not
start itself, nothing of the disk but the scene and the system's programs, read only.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
from functools import cached_property
from pathlib import Path

from tests.attack.happenings import CODE, CONNECTED, RAN, Happening
from tests.attack.rule_sets import CODE_RUNNERS, CONNECTING, NEVER, SILENT, Bounds, RuleSet
from tests.attack.scene import (
    BEGUN,
    ENVIRONMENT_CANARY,
    HOME,
    LOG_CALL,
    SHELL_OF_LOGGERS,
    WORKSPACE,
    Scene,
)

SECONDS = 3.0
_TRIES = 5
_PROGRAMS = "/usr/bin"
_REAL = "/opt/real"
# How the service starts its shell.
_SHELL = f"{_REAL}/bash --noprofile --norc -p -c"
# Bounds of memory, of sizes of files and of time; what is left running gets a moment to do its
# work, though the service would end it with the shell.
_AROUND = f"""\
: > {BEGUN}
ulimit -v 1500000; ulimit -f 16000; ulimit -t 3
{_SHELL} "$1"
for i in 1 2 3 4 5 6; do
  set -- /proc/[0-9]*
  [ $# -le 2 ] && break
  {_REAL}/sleep 0.05
done
"""
_LOGGER = f"#!{SHELL_OF_LOGGERS}\n{LOG_CALL}\n"
# Programs that scripts use, where they are installed; those that may not run, and those that are
# not there at all, are replaced by one that only tells of itself.
_USED = frozenset(
    """[ awk b2sum base32 base64 basename bash busybox bzip2 cat chmod chrt cksum cmp comm cp cpio
    csplit cut dash date dd df diff dir dirname du ed env expand expr factor find flock fmt fold
    gawk git grep egrep fgrep gzip gunzip head id install ionice join jq less link ln logname ls
    mawk md5sum mkdir mkfifo mktemp more mv nice nl nohup nproc numfmt od original-awk paste patch
    pr printenv printf pwd readlink realpath rev rm rmdir script sdiff sed seq setsid sh sha1sum
    sha256sum shred shuf sleep sort split sqlite3 stat stdbuf strings stty sum sync tac tail tar
    taskset tee test time timeout touch tr true truncate tsort uname unexpand uniq unlink unxz vdir
    watch wc which whoami xargs xxd xz yes zcat zip unzip xzcat true false column hexdump
    getopt""".split()
)
_LIBRARIES = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": HOME,
    "LC_ALL": "C.UTF-8",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "TERM": "dumb",
    "API_TOKEN": ENVIRONMENT_CANARY,
}
_COUNTERS = "/proc/net/snmp"
_OUTGOING = {"Tcp": ("ActiveOpens",), "Udp": ("OutDatagrams",), "Ip": ("OutNoRoutes",)}


class Sandbox:
    """Runs scripts in one scene, under the programs of one set of rules."""

    def __init__(self, scene: Scene, rules: RuleSet, programs: str) -> None:
        self._scene = scene
        self._programs = programs
        self._output = f"{programs}.out"
        _provide(programs, rules.bounds)
        shell = scene.root + SHELL_OF_LOGGERS
        if not os.path.exists(shell):
            shutil.copy("/bin/dash", shell)
            os.makedirs(scene.root + _REAL, exist_ok=True)

    def run(self, script: str, seconds: float = SECONDS) -> list[Happening]:
        """Run a script for at most these seconds; return everything that happened."""
        self._scene.prepare()
        connected = _outgoing()
        # On a busy machine the time may be over before anything has begun.
        if not any(self._start(script, seconds) for _ in range(_TRIES)):
            printed = Path(self._output).read_bytes()
            raise RuntimeError(f"the sandbox did not start: {printed!r}")
        printed = Path(self._output).read_bytes()
        found = [_told_by(words) for words in self._scene.calls()]
        if _outgoing() != connected:
            found.append(Happening(kind=CONNECTED, what="the network"))
        return found + self._scene.happenings(printed)

    def _start(self, script: str, seconds: float) -> bool:
        """Run a script to its end, or to that of its time; tell whether it has begun at all."""
        with (
            open(self._output, "wb") as output,
            subprocess.Popen(
                [*self._wrapped, script],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            ) as process,
        ):
            ended = os.pidfd_open(process.pid)
            if not select.select([ended], [], [], seconds)[0]:
                # With it ends all that it began; what it did until then counts.
                process.kill()
            os.close(ended)
        return self._scene.has_begun()

    @cached_property
    def _wrapped(self) -> list[str]:
        """The command that runs a script, but for the script."""
        words = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
                 "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv",
                 "--bind", self._scene.root, "/", "--ro-bind", "/usr", "/usr",
                 "--ro-bind", _PROGRAMS, _REAL, "--ro-bind", self._programs, _PROGRAMS,
                 "--tmpfs", "/usr/local", "--tmpfs", "/usr/sbin"]  # fmt: skip
        for path in _LIBRARIES:
            if os.path.isdir(path) and not os.path.islink(path):
                words += ["--ro-bind", path, path]
        words += ["--bind", "/srv", "/srv", "--proc", "/proc", "--dev", "/dev"]
        for name, value in _ENVIRONMENT.items():
            words += ["--setenv", name, value]
        return [*words, "--chdir", WORKSPACE, SHELL_OF_LOGGERS, "-c", _AROUND, "attack"]


def missing() -> list[str]:
    """Return the programs without which nothing can be run."""
    return [name for name in ("bwrap", "bash", "dash", "git") if shutil.which(name) is None]


def _provide(folder: str, bounds: Bounds) -> None:
    """Make a folder of programs: those that may run as they are, the others as loggers."""
    os.makedirs(folder)
    logging = {name for name in _USED if not bounds.runs(name)} | CONNECTING | CODE_RUNNERS
    for name in {*_USED, *logging, NEVER} - (SILENT - _USED):
        real = f"{_PROGRAMS}/{name}"
        place = f"{folder}/{name}"
        if name not in logging and os.path.exists(real):
            os.symlink(f"{_REAL}/{os.path.basename(os.path.realpath(real))}", place)
        else:
            Path(place).write_text(_LOGGER)
            os.chmod(place, 0o755)


def _told_by(words: tuple[str, ...]) -> Happening:
    if words[0].startswith("code:"):
        return Happening(kind=CODE, what=words[0].removeprefix("code:"))
    return Happening(kind=RAN, what=" ".join(words))


def _outgoing() -> tuple[str, ...]:
    """Return how often something was sent; a worker has a network of its own, with nobody in it."""
    lines = [line.split() for line in Path(_COUNTERS).read_text().splitlines()]
    found = []
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        counted = dict(zip(names, values, strict=True))
        found += [counted[name] for name in _OUTGOING.get(names[0].rstrip(":"), ())]
    return tuple(found)

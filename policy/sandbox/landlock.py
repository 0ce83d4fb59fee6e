"""Confinement by Landlock and a filter of system calls, on Linux, where bubblewrap does not work.

A program sees the machine as it is, and may use what a rule grants: there are no mounts and no
namespaces, so it needs no privilege and no user namespace. Landlock knows neither datagrams nor
Unix sockets, so the filter refuses them.

A right on a folder is a right on all that is in it. So where something stays read-only in a folder
that may be written, what stands beside it may be written, and nothing new is made there.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict

from policy.generation import ProcessLimits
from policy.sandbox import landlock_start
from policy.sandbox.driver import CPU_GRACE, ConfinedStart
from policy.sandbox.landlock_rights import (
    OLDEST,
    READ,
    USE_DEVICE,
    WRITE,
    restrictions,
    rights_on,
    version,
)
from policy.sandbox.pinned_paths import pinned
from policy.sandbox.plan import CannotConfine, SandboxPlan
from policy.sandbox.seccomp.filter_file import open_filter
from policy.sandbox.seccomp.refusals import INET, INET6, NETLINK, refusals_among_others
from policy.sandbox.system_files import ETC, SYSTEM

_SECONDS = 10.0
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Of /proc what is about no process: the command lines of all of them stand there.
_MACHINE = ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys", "uptime", "version")
# Succeeds where it may not read about itself.
_PROBE = ("/bin/sh", "-c", "! true 2>/dev/null < /proc/self/status")


class Landlock:
    """Starts programs through one that restricts itself first."""

    name = "landlock"

    def problem(self) -> str | None:
        """Return why it does not work here; None if a program was confined by it just now."""
        found = version()
        if found < OLDEST:
            has = f"version {found}" if found else "none that is switched on"
            return f"Landlock is needed from version {OLDEST} (Linux 6.2), and here is {has}"
        try:
            with _started(
                _PROBE, {}, network=False, folder="/", limits={}, temporary=None
            ) as start:
                run = subprocess.run(  # noqa: S603 - these arguments alone
                    start.arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    pass_fds=start.descriptors,
                    timeout=_SECONDS,
                    check=False,
                    text=True,
                    errors="replace",
                )
        except CannotConfine as error:
            return str(error)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"nothing can be started by Landlock: {error}"
        if run.returncode == 0:
            return None
        return f"Landlock does not confine anything here: {run.stderr.strip()[:300] or 'no reason'}"

    def narrowed(self, plan: SandboxPlan) -> tuple[str, ...]:
        """Return folders in which nothing can be made in spite of the plan."""
        return tuple(sorted(_around(plan)))

    @contextmanager
    def confined(self, plan: SandboxPlan, program: tuple[str, ...]) -> Iterator[ConfinedStart]:
        """Return how `program` starts confined, in the block; raise CannotConfine."""
        if plan.network not in ("none", "all"):
            raise CannotConfine("Landlock knows no hosts: the network is `none` or `all`")
        if plan.masked:
            raise CannotConfine(
                f"Landlock cannot hide {plan.masked[0]}, which rules deny to read: a person has to "
                "install the package `bubblewrap`, move the file out of the folders of commands, "
                "or name no `driver` under `[sandbox]`, so that code may read it",
                for_caller=True,
            )
        temporary = tempfile.mkdtemp(prefix="placet-sandbox-")
        try:
            with _started(
                program,
                {**_granted(plan), os.path.realpath(temporary): WRITE},
                network=plan.network == "all",
                folder=plan.folder,
                limits=_limits(plan.limits),
                temporary=temporary,
            ) as start:
                yield start
        except BaseException:
            # Whoever has started it removes the folder.
            shutil.rmtree(temporary, ignore_errors=True)
            raise


@contextmanager
def _started(
    program: tuple[str, ...],
    granted: Mapping[str, int],
    *,
    network: bool,
    folder: str,
    limits: Mapping[str, tuple[int, int]],
    temporary: str | None,
) -> Iterator[ConfinedStart]:
    families = (INET, INET6, NETLINK) if network else ()
    rights = {**_system(), **granted}
    with (
        open_filter(refusals_among_others(families)) as seccomp,
        pinned(tuple(rights)) as paths,
    ):
        handled = restrictions(version(), network=network)
        rights_of = ((opened, _rights(opened, rights[path])) for path, opened in paths.items())
        options = (
            *(f"--handled={each}" for each in asdict(handled).values()),
            *(f"--path={opened}:{each}" for opened, each in rights_of),
            *(f"--limit={name}:{soft}:{hard}" for name, (soft, hard) in limits.items()),
            *(() if temporary is None else (f"--variable=TMPDIR={temporary}",)),
        )
        helper = (sys.executable, "-I", "-S", landlock_start.__file__)
        yield ConfinedStart(
            arguments=(*helper, folder, str(seccomp), *options, "--", *program),
            descriptors=(seccomp, *paths.values()),
            temporary=() if temporary is None else (temporary,),
        )


def _rights(opened: int, rights: int) -> int:
    return rights_on(rights, folder=stat.S_ISDIR(os.fstat(opened).st_mode))


def _system() -> dict[str, int]:
    """Return the rights on what every program needs, by paths without links."""
    read = (*SYSTEM, *(f"/etc/{name}" for name in ETC), *(f"/proc/{name}" for name in _MACHINE))
    return {
        os.path.realpath(path): rights
        for paths, rights in ((read, READ), (_DEVICES, USE_DEVICE))
        for path in paths
        if os.path.exists(path)
    }


def _granted(plan: SandboxPlan) -> dict[str, int]:
    around = _around(plan)
    granted = dict.fromkeys((*plan.reads, *plan.writes, *around, *plan.kept), READ)
    for folder in plan.writes:
        if folder not in around:
            granted[folder] = WRITE
    for folder in sorted(around):
        granted |= dict.fromkeys(_beside(folder, {*granted}), WRITE)
    return granted


def _around(plan: SandboxPlan) -> set[str]:
    """Return the folders that may be written and hold what may not."""
    return {*plan.immovable, *(folder for folder in plan.writes if _holds(folder, plan.kept))}


def _holds(folder: str, paths: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{folder}/") for path in paths)


def _beside(folder: str, named: set[str]) -> Iterator[str]:
    """Yield what is in a folder and not named itself; a link is no file that could be granted."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.path not in named and not entry.is_symlink():
                    yield entry.path
    except OSError as error:
        raise CannotConfine(f"{folder} cannot be listed: {error.strerror}") from error


def _limits(limits: ProcessLimits) -> dict[str, tuple[int, int]]:
    """Return the soft and the hard limits, by their names."""
    values = {
        "RLIMIT_AS": limits.memory,
        "RLIMIT_NPROC": limits.processes,
        "RLIMIT_FSIZE": limits.file_size,
        "RLIMIT_NOFILE": limits.open_files,
    }
    found = {name: (value, value) for name, value in values.items() if value is not None}
    if limits.cpu is not None:
        found["RLIMIT_CPU"] = (limits.cpu, limits.cpu + CPU_GRACE)
    return found

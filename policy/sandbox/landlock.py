"""Confinement by Landlock and a filter of system calls, on Linux, where bubblewrap does not work.

A program sees the machine as it is, and may use what a rule grants: there are no mounts and no
namespaces, so it needs no privilege and no user namespace. Landlock knows neither datagrams nor
Unix sockets, so the filter refuses them.

What is granted is in `landlock_grants`.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict

from policy.generation import ProcessLimits
from policy.processes import interpreter_of
from policy.sandbox import landlock_start
from policy.sandbox.driver import CPU_GRACE, ConfinedStart
from policy.sandbox.landlock_grants import closed_folders, granted_rights, system_rights
from policy.sandbox.landlock_rights import (
    OLDEST,
    WRITE,
    restrictions,
    rights_on,
    version,
)
from policy.sandbox.pinned_paths import pinned
from policy.sandbox.plan import CannotConfine, SandboxPlan
from policy.sandbox.seccomp.filter_file import open_filter
from policy.sandbox.seccomp.refusals import INET, INET6, NETLINK, refusals_among_others

_SECONDS = 10.0
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
                _PROBE, system_rights(), network=False, folder="/", limits={}, temporary=None
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
        return closed_folders(plan)

    @contextmanager
    def confined(self, plan: SandboxPlan, program: tuple[str, ...]) -> Iterator[ConfinedStart]:
        """Return how `program` starts confined, in the block; raise CannotConfine."""
        if plan.network not in ("none", "all"):
            raise CannotConfine("Landlock knows no hosts: the network is `none` or `all`")
        rights = granted_rights(plan)
        temporary = tempfile.mkdtemp(prefix="placet-sandbox-")
        try:
            with _started(
                program,
                {**rights, os.path.realpath(temporary): WRITE},
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
    with (
        open_filter(refusals_among_others(families)) as seccomp,
        pinned(tuple(granted)) as paths,
    ):
        handled = restrictions(version(), network=network)
        rights_of = ((opened, _rights(opened, granted[path])) for path, opened in paths.items())
        options = (
            *(f"--handled={each}" for each in asdict(handled).values()),
            *(f"--path={opened}:{each}" for opened, each in rights_of),
            *(f"--limit={name}:{soft}:{hard}" for name, (soft, hard) in limits.items()),
            *(() if temporary is None else (f"--variable=TMPDIR={temporary}",)),
        )
        helper = interpreter_of(landlock_start.__file__)
        yield ConfinedStart(
            arguments=(*helper, folder, str(seccomp), *options, "--", *program),
            descriptors=(seccomp, *paths.values()),
            temporary=() if temporary is None else (temporary,),
        )


def _rights(opened: int, rights: int) -> int:
    return rights_on(rights, folder=stat.S_ISDIR(os.fstat(opened).st_mode))


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

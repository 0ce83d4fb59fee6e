"""Confinement by bubblewrap (`bwrap`), on Linux: a program gets a file system of its own.

It sees what is mounted for it and nothing else: the folders of the system, read-only, and those of
the plan. It has its own processes, and its own network, which leads nowhere. The root of the
machine is never mounted, not even read-only: its Unix sockets could be connected to
(https://github.com/containers/bubblewrap#sandboxing). A filter refuses the system calls by which
programs have got out of namespaces before.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from policy.generation import ProcessLimits
from policy.sandbox.containment import is_within
from policy.sandbox.driver import CPU_GRACE, ConfinedStart
from policy.sandbox.etc_files import etc_files, etc_paths
from policy.sandbox.pinned_paths import pinned
from policy.sandbox.plan import CannotConfine, SandboxPlan
from policy.sandbox.seccomp.filter_file import open_filter
from policy.sandbox.seccomp.refusals import refusals
from policy.sandbox.system_files import SYSTEM

_SECONDS = 10.0
_KERNEL = ("acpi", "bus", "fs", "irq", "mtrr", "scsi", "sys", "sysrq-trigger")
# Where `bwrap` and `prlimit` are looked for. PATH often names folders that an agent may write, such
# as those of a virtual environment in the workspace, and `bwrap` itself runs unconfined.
PROGRAMS = "/usr/bin:/bin:/usr/local/bin:/run/wrappers/bin:/run/current-system/sw/bin"
_MISSING = "`bwrap` is not installed: install the package `bubblewrap`"
_OUTDATED = "`bwrap` lacks the fix of CVE-2024-42472 (0.10, or in updates): update `bubblewrap`"
_ISOLATED = (
    "--unshare-all",
    # Without it, root in the sandbox would be root of the machine's own user namespace.
    "--unshare-user",
    "--disable-userns",
    "--cap-drop",
    "ALL",
    # Otherwise a program could type into the terminal of whoever started Placet (TIOCSTI).
    "--new-session",
    "--die-with-parent",
    "--hostname",
    "sandbox",
)


class Bubblewrap:
    """Starts programs through the `bwrap` of the system, whatever PATH says."""

    name = "bubblewrap"

    def narrowed(self, plan: SandboxPlan) -> tuple[str, ...]:
        """Return no folders: mounts express the whole plan."""
        return ()

    def problem(self) -> str | None:
        """Return why it does not work here; None if a program was confined by it just now."""
        found = shutil.which("bwrap", path=PROGRAMS)
        if found is None:
            return _MISSING
        try:
            with open_filter(refusals()) as seccomp, pinned([os.path.realpath("/usr")]) as paths:
                run = subprocess.run(  # noqa: S603 - these arguments alone
                    [
                        *(found, *_ISOLATED, "--seccomp", str(seccomp), *_system()),
                        *("--proc", "/proc", "--dev", "/dev"),
                        *("--ro-bind-fd", str(*paths.values()), "/tried", "true"),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    pass_fds=(seccomp, *paths.values()),
                    timeout=_SECONDS,
                    check=False,
                    text=True,
                    errors="replace",
                )
        except CannotConfine as error:
            return str(error)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"`bwrap` does not run: {error}"
        if run.returncode == 0:
            return None
        if "-bind-fd" in run.stderr:
            return _OUTDATED
        return f"`bwrap` cannot confine anything here: {_first_line(run.stderr)}"

    @contextmanager
    def confined(self, plan: SandboxPlan, program: tuple[str, ...]) -> Iterator[ConfinedStart]:
        """Return how `program` starts confined, in the block; raise CannotConfine."""
        found = shutil.which("bwrap", path=PROGRAMS)
        if found is None:
            raise CannotConfine(_MISSING)
        with (
            open_filter(refusals()) as seccomp,
            pinned(_paths(plan)) as paths,
            etc_files(plan.masked) as etc,
            _arguments_in_a_file(masks(plan)) as hiding,
            _held_back() as (waiting, released),
        ):
            yield ConfinedStart(
                arguments=(
                    found,
                    *_ISOLATED,
                    *_network(plan),
                    *("--seccomp", str(seccomp)),
                    *_system(),
                    *etc.arguments,
                    *("--proc", "/proc", "--dev", "/dev"),
                    *_kernel_settings(),
                    *_emptied(plan),
                    *_scratch(plan),
                    *_start_folder(plan),
                    *_mounts(plan, paths),
                    *("--args", str(hiding)),
                    *(each for path in _private(plan) for each in ("--remount-ro", path)),
                    # Both are in memory, and have no size.
                    *("--remount-ro", "/dev", "--remount-ro", "/"),
                    *("--file", str(waiting), "/dev/null"),
                    *("--chdir", plan.folder, "--"),
                    *_limited(plan.limits),
                    *program,
                ),
                descriptors=(seccomp, hiding, waiting, *etc.descriptors, *paths.values()),
                guarded=_guarded(plan),
                released=released,
            )


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "it does not say why")


def _system() -> Iterator[str]:
    for folder in SYSTEM:
        if os.path.islink(folder):
            yield from ("--symlink", os.readlink(folder), folder)
        elif os.path.isdir(folder):
            yield from ("--ro-bind", folder, folder)


def _kernel_settings() -> Iterator[str]:
    """Yield read-only mounts over what root may write in /proc, also without any capability."""
    for name in _KERNEL if os.geteuid() == 0 else ():
        yield from ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")


def _emptied(plan: SandboxPlan) -> Iterator[str]:
    """Yield empty folders in the place of those that the system does not show."""
    for folder in _private(plan):
        yield from ("--size", str(plan.limits.scratch), "--tmpfs", folder)


def _private(plan: SandboxPlan) -> Iterator[str]:
    """Yield the private folders, but for those that are mounted whole, or in an empty folder."""
    over = (*plan.writes, *plan.reads, *plan.in_memory)
    yield from (path for path in plan.private if not is_within(path, over))


def _scratch(plan: SandboxPlan) -> Iterator[str]:
    """Yield empty folders in memory: those for temporary files, and the home folder."""
    for folder in plan.in_memory:
        yield from ("--size", str(plan.limits.scratch), "--tmpfs", folder)


def _network(plan: SandboxPlan) -> tuple[str, ...]:
    return ("--share-net",) if plan.network == "all" else ()


def _paths(plan: SandboxPlan) -> tuple[str, ...]:
    """Return what is mounted of the plan; what stands in another one comes after it, and counts."""
    return tuple(sorted({*plan.reads, *plan.writes, *plan.immovable, *plan.kept}))


def _mounts(plan: SandboxPlan, opened: Mapping[str, int]) -> Iterator[str]:
    """Yield the folders of the plan. A folder that is mounted keeps its name."""
    writable = {*plan.writes, *plan.immovable} - set(plan.kept)
    for path, descriptor in opened.items():
        yield from ("--bind-fd" if path in writable else "--ro-bind-fd", str(descriptor), path)


def _guarded(plan: SandboxPlan) -> tuple[str, ...]:
    """Return what is protected by a mount on a name that another program may take away.

    What is in a folder that is read-only as a whole stays so, whatever is replaced in it. So does
    what has its name in a folder that the sandbox alone has: a root of the plan, or a file of /etc.
    """
    mounted = dict.fromkeys((*plan.reads, *plan.kept), False)
    mounted |= dict.fromkeys({*plan.writes, *plan.immovable} - set(plan.kept), True)
    named = (path for path in mounted if _is_writable(os.path.dirname(path), mounted))
    own = etc_paths() if any(path.startswith("/etc/") for path in plan.masked) else ()
    masked = (path for path in plan.masked if path not in own and os.path.lexists(path))
    return (*named, *masked)


def _is_writable(path: str, mounted: Mapping[str, bool]) -> bool:
    """Return whether a folder is in one that is mounted and may be written, or is one."""
    while path not in mounted:
        if path == "/":
            return False
        path = os.path.dirname(path)
    return mounted[path]


def _start_folder(plan: SandboxPlan) -> tuple[str, ...]:
    """Return an empty folder where a program starts that may not read what is there."""
    seen = (*plan.reads, *plan.writes)
    inside = any(plan.folder == each or plan.folder.startswith(f"{each}/") for each in seen)
    return () if inside else ("--dir", plan.folder)


def masks(plan: SandboxPlan) -> Iterator[str]:
    """Yield empty folders, and a file that nobody can open, over what may not be read.

    Raises CannotConfine for more than bubblewrap takes.
    """
    if len(plan.masked) > _MOST_MASKS:
        raise CannotConfine(
            f"rules deny to read {len(plan.masked):,} of its files, and {_MOST_MASKS:,} "
            "can be hidden: a person has to name folders in these rules, or move the files",
            for_caller=True,
        )
    for path in plan.masked:
        if os.path.isdir(path):
            yield from ("--perms", "0000", "--size", _EMPTY, "--tmpfs", path, "--remount-ro", path)
        else:
            yield from ("--ro-bind", "/dev/null", path)


# The size of a folder in memory that holds nothing; less is none at all.
_EMPTY = "4096"
# Bubblewrap reads the table of all mounts for each further one, and takes 9,000 arguments.
_MOST_MASKS = 1_000


@contextmanager
def _held_back() -> Iterator[tuple[int, int]]:
    """Yield the two ends of a full pipe, by which bubblewrap says that all mounts are there.

    It copies what it reads there to nowhere, as the last of its steps, and goes on at its end.
    """
    waiting, released = os.pipe()
    try:
        size = fcntl.fcntl(released, fcntl.F_SETPIPE_SZ, select.PIPE_BUF)
        os.write(released, bytes(size))
        yield waiting, released
    finally:
        os.close(waiting)
        os.close(released)


@contextmanager
def _arguments_in_a_file(arguments: Iterable[str]) -> Iterator[int]:
    """Yield a file in memory with arguments that may be too long for a command line."""
    descriptor = os.memfd_create("arguments")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.writelines(os.fsencode(each) + b"\0" for each in arguments)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _limited(limits: ProcessLimits) -> Iterator[str]:
    """Yield how the program starts with its limits, by `prlimit` of util-linux."""
    values = {
        "cpu": None if limits.cpu is None else f"{limits.cpu}:{limits.cpu + CPU_GRACE}",
        "as": limits.memory,
        "nproc": limits.processes,
        "fsize": limits.file_size,
        "nofile": limits.open_files,
    }
    if all(value is None for value in values.values()):
        return
    yield shutil.which("prlimit", path=PROGRAMS) or "prlimit"
    for name, value in values.items():
        if value is not None:
            yield f"--{name}={value}"
    yield "--"

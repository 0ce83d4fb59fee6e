"""Runs one command and ends everything that it started; a separate program.

Its arguments:

    DESCRIPTOR [--descriptor=NUMBER]... [--group=FOLDER]... [--temporary=FOLDER]... [--no-core]
        [--beside=FILE [--beside-number=NUMBER]... [--beside-descriptor=NUMBER]...]
        [--guarded=DESCRIPTOR --report=DESCRIPTOR [--released=DESCRIPTOR]]
        -- PROGRAM ARGUMENT...

The descriptor is a pipe whose other end the server holds and never writes to. Where it closes, the
server is gone (killed with -9, too) or wants the command ended, and every process that descends
from the command is killed. The same happens where the command has ended by itself. The command gets
the standard streams and the descriptors that are named; the supervisor keeps none of them open. The
command joins the control groups that are named, and they are removed after it, with the temporary
folders. With `--no-core` it leaves no core dump, neither in a file nor to a program of the system.
`--beside` is a file of Python whose `main` is called with numbers, in a process beside the command:
a fork of this one, since an interpreter takes longer to start. It alone gets its descriptors.
`--guarded` has paths, each followed by a null byte. Where one of these names leads to something
else than at the start, the command is ended, and the path is written to `--report`. A command that
is a sandbox reads from the pipe `--released`, which is full, once it is set up. Then all names are
looked at, and the descriptor is closed, for which it waits before it starts its program.

On Linux the supervisor adopts orphans, so a process that started its own session is found as well,
and the command dies with the supervisor. Elsewhere the processes of its group are killed.
"""

from __future__ import annotations

# Every program waits for this one to start. `signal` and `typing` import so much that they would
# take longer than all that is done here.
import _signal as signal  # type: ignore[import-not-found]
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import NoReturn

    from policy.processes.guarded_names import GuardedNames

_PATIENCE = 2.0  # seconds; some cannot be killed: of another user, or stuck in the kernel
_PAUSES = (0.0005, 0.001, 0.002)  # the last one from then on
# <sys/prctl.h>
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def run(arguments: list[str]) -> NoReturn:
    """Run a command to its end and exit with its exit status."""
    end = arguments.index("--")
    server, settings = int(arguments[0]), Settings(arguments[1:end])
    command = arguments[end + 1 :]
    os.set_inheritable(server, False)  # noqa: FBT003 - so the system has it
    _set_process(_PR_SET_CHILD_SUBREAPER, 1)
    woken = _woken_by_children()
    _take_no_signals()
    for descriptor in settings.beside_descriptors:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - so the system has it
    guarded = _guarded(settings)
    if settings.released >= 0:
        os.set_inheritable(settings.released, False)  # noqa: FBT003 - so the system has it
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        _become(command, supervisor, settings)
    _leave_streams(settings.descriptors)
    if settings.beside is not None:
        if os.fork() == 0:
            if settings.released >= 0:
                os.close(settings.released)
            _run_beside(settings.beside, settings.beside_numbers)
        for descriptor in settings.beside_descriptors:
            os.close(descriptor)
    status = _watched(child, woken, server, guarded, settings)
    if status is None:
        _kill((*_children(child), child))
    _end_descendants()
    _remove(settings)
    if status is None:
        os.killpg(0, signal.SIGKILL)
        os._exit(1)
    _leave_like(status)


class Settings:
    """What is said before the command."""

    def __init__(self, arguments: list[str]) -> None:
        named = [argument.partition("=") for argument in arguments]

        def values(option: str) -> list[str]:
            return [value for name, _, value in named if name == option]

        def numbers(option: str) -> list[int]:
            return [int(value) for value in values(option)]

        self.core = "--no-core" not in arguments
        self.descriptors = numbers("--descriptor")
        self.groups = values("--group")
        self.temporary = values("--temporary")
        self.beside = next(iter(values("--beside")), None)
        self.beside_numbers = numbers("--beside-number")
        self.beside_descriptors = numbers("--beside-descriptor")
        self.guarded = next(iter(numbers("--guarded")), None)
        self.report = next(iter(numbers("--report")), -1)
        self.released = next(iter(numbers("--released")), -1)


def _become(command: list[str], supervisor: int, settings: Settings) -> NoReturn:
    try:
        if not settings.core:
            _leave_no_core()
        for group in settings.groups:
            with open(f"{group}/cgroup.procs", "w", encoding="ascii") as members:
                members.write("0")
        _set_process(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(1)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], command)  # noqa: S606 - what the call asked for
    finally:
        os._exit(127)


def _run_beside(file: str, numbers: list[int]) -> NoReturn:
    try:
        _set_process(_PR_SET_PDEATHSIG, signal.SIGKILL)
        folder, name = os.path.split(file)
        sys.path.append(folder)
        __import__(name.removesuffix(".py")).main(*numbers)
    finally:
        os._exit(0)


def _leave_streams(given: list[int]) -> None:
    """Close this process's ends of the command's streams: they end when the command closes them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    for descriptor in given:
        os.close(descriptor)


def _woken_by_children() -> int:
    """Return a descriptor that becomes readable once a child has ended."""
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    return woken


def _take_no_signals() -> None:
    """Ignore signals to the whole group, such as `kill 0`, which must not end the supervisor."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)


def _guarded(settings: Settings) -> GuardedNames | None:
    """Return the names to guard, as they are before the command starts."""
    if settings.guarded is None:
        return None
    # It is beside this file, whose folder is searched.
    module = __import__("guarded_names")
    with open(settings.guarded, "rb") as listed:
        paths = [os.fsdecode(path) for path in listed.read().split(b"\0")[:-1]]
    os.set_inheritable(settings.report, False)  # noqa: FBT003 - so the system has it
    names: GuardedNames = module.GuardedNames(paths)
    return names


def _watched(
    child: int, woken: int, server: int, guarded: GuardedNames | None, settings: Settings
) -> int | None:
    """Wait for the child and return its status; None if it has to be ended.

    That is so once the server has ended, or a guarded name was lost, which is reported.
    """
    # Not `select`: a descriptor has the number that it has in the server, which may be any.
    waited_for = select.poll()
    for descriptor in (server, woken, *(() if guarded is None else guarded.descriptors)):
        waited_for.register(descriptor, select.POLLIN)
    if settings.released >= 0:
        waited_for.register(settings.released, select.POLLOUT)
    is_set_up = False
    while True:
        # This comes first: a program may have ended by itself, with what it was after.
        lost = None if guarded is None else guarded.lost()
        if lost is not None:
            _report(lost, settings.report)
            return None
        if is_set_up:
            waited_for.unregister(settings.released)
            os.close(settings.released)
            is_set_up = False
        for ended, status in _reaped():
            if ended == child:
                return status
        wait = None if guarded is None else 1 + int(guarded.wait() * 1_000)
        ready = {descriptor for descriptor, _ in waited_for.poll(wait)}
        if server in ready:
            return None
        if woken in ready:
            os.read(woken, 4096)
        if settings.released in ready:
            is_set_up = True
            if guarded is not None:
                guarded.look_again()


def _report(lost: str, report: int) -> None:
    """Say why the command is about to end: whoever sees its end reads that."""
    try:
        os.write(report, os.fsencode(lost))
    except OSError:
        return  # the server has ended


def _reaped() -> Iterator[tuple[int, int]]:
    """Yield the children that have ended, adopted ones too; raise ChildProcessError without any."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        yield pid, status


def _end_descendants() -> None:
    """Kill until none is left: processes orphaned meanwhile become children of this one.

    Mostly there are none, or the first process of a sandbox, which is about to end. So all
    processes of the machine are looked at only where killing the children has not been enough.
    """
    until = time.monotonic() + _PATIENCE
    for pause in _pauses():
        if time.monotonic() > until:
            return
        try:
            for _ in _reaped():
                pass
        except ChildProcessError:
            return
        own = os.getpid()
        _kill(_descendants(own) if pause == _PAUSES[-1] else _children(own))
        time.sleep(pause)


def _kill(processes: Iterable[int]) -> None:
    for pid in processes:
        try:
            os.kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def _pauses() -> Iterator[float]:
    yield from _PAUSES
    while True:
        yield _PAUSES[-1]


def _remove(settings: Settings) -> None:
    """Remove what was there for the command alone, as far as that is possible."""
    for group in settings.groups:
        until = time.monotonic() + _PATIENCE
        while os.path.isdir(group) and time.monotonic() < until:
            try:
                os.rmdir(group)
            except OSError:
                # It is busy until its last process has gone.
                time.sleep(_PAUSES[-1])
    for folder in settings.temporary:
        try:
            os.rmdir(folder)
        except OSError:
            # It imports a lot, and most folders have stayed empty.
            import shutil

            shutil.rmtree(folder, ignore_errors=True)


def _children(pid: int) -> list[int]:
    """Return the children of a process with one thread; none where the system lists none."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as children:
            return [int(child) for child in children.read().split()]
    except (OSError, ValueError):
        return []


def _descendants(root: int) -> list[int]:
    """Return the descendants of a process, as far as the system reports them."""
    children: dict[int, list[int]] = {}
    try:
        running = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for pid in running:
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                # The name of the program may contain blanks and parentheses.
                parent = int(stat.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        children.setdefault(parent, []).append(pid)
    found = list(children.get(root, ()))
    for pid in found:
        found += children.get(pid, ())
    return found


def _leave_like(status: int) -> NoReturn:
    """End as the command did: by the same exit status, or the same signal."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        _leave_no_core()
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _leave_no_core() -> None:
    """Keep this process, and what it becomes, from a core dump, as far as the system can.

    A dump that goes to a program (`|` in core_pattern, see core(5)) is made whatever the limit, but
    not with 1, which is also too little for a file (`cprm.limit == 1` in Linux's fs/coredump.c). It
    cannot be 1 where this process starts with a hard limit of 0, as another user than root.
    """
    try:
        import resource

        limit = 1 if sys.platform.startswith("linux") else 0
        resource.setrlimit(resource.RLIMIT_CORE, (limit, limit))
    except (ImportError, OSError, ValueError):
        return


def _set_process(option: int, value: int) -> None:
    """Call prctl(2), which is there on Linux alone."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes
    except ImportError:  # Python was built without libffi
        return
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)

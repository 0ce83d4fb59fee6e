"""What a sandbox costs a program: `python -m bench.sandboxing`, half a minute.

Each subject starts `true` and waits for its end. Bubblewrap stands there twice: with the same
namespaces and little but `/usr`, and with the very arguments that the driver gives it. The
launcher's own supervisor is measured as well, since every program has that, confined or not; and
what it takes to look through 50,000 files for those that rules name by wildcards. Of each subject
the fastest tenth counts, since processes wait for a core on a machine that is not quiet. The exit
status is 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from time import perf_counter_ns

from policy.generation import ConfiningDriver, Reach
from policy.model import Bound, Confinement, NamedResources, ResourceSet
from policy.processes import Launcher, ProgramToStart, SupervisedLauncher
from policy.sandbox import ConfinedLauncher, ConfinedStart, SandboxPlan, driver_named, plan_of

_PROGRAM = ("/usr/bin/true",)
# The same namespaces, and what `true` needs to run.
_BARE = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"),
    *("--new-session", "--die-with-parent", "--ro-bind", "/usr", "/usr"),
    *("--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"),
    *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
)
_PLAIN, _BWRAP = "nothing", "bubblewrap alone"
_SAME = "bubblewrap alone, the driver's arguments"
_DRIVER, _LAUNCHED = "driver bubblewrap", "launcher, bubblewrap"
_SEARCH = "a search of 50,000 files"
_DENIED = ResourceSet(included=("**/.env", "**/*.pem", "**/secrets/**", "**/id_*"))
# What may be how many times as long as what.
_GOALS = ((_DRIVER, _SAME, 1.5), (_DRIVER, _BWRAP, 2.5), (_LAUNCHED, _SAME, 3.5))


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.sandboxing", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    rounds = parser.parse_args().rounds
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as large,
        asyncio.Runner() as runner,
        ExitStack() as opened,
    ):
        _fill(Path(large))
        plan = _plan(Path(folder))
        same = opened.enter_context(driver_named("bubblewrap").confined(plan, _PROGRAM))
        subjects = _subjects(plan, same, runner)
        taken = _taken({**subjects, _SEARCH: lambda: _searched(large)}, rounds)
    print("| | ms | × nothing | × bubblewrap alone | × with the same arguments |")
    print("|---|--:|--:|--:|--:|")
    for name, nanoseconds in taken.items():
        beside = (taken[name] / taken[each] for each in (_PLAIN, _BWRAP, _SAME))
        ratios = " | ".join(f"{each:.2f}" for each in beside)
        print(f"| {name} | {nanoseconds / 1e6:.1f} | {ratios} |")
    missed = [goal for goal in _GOALS if taken[goal[0]] > goal[2] * taken[goal[1]]]
    for name, against, most in missed:
        print(f"missed: {name} takes more than {most} × {against}")
    return 1 if missed else 0


def _plan(folder: Path) -> SandboxPlan:
    (folder / ".git" / "hooks").mkdir(parents=True)
    home = os.path.expanduser("~")
    workspace = os.path.realpath(folder)
    return plan_of(Reach(), folder=workspace, home=home, workspace=workspace)


def _fill(folder: Path) -> None:
    for number in range(500):
        below = folder / str(number % 20) / str(number)
        below.mkdir(parents=True)
        for file in range(100):
            (below / f"{file}.py").touch()
    (below / ".env").touch()


def _searched(folder: str) -> None:
    """Make the plan for a large workspace in which rules deny files by wildcards."""
    workspace = os.path.realpath(folder)
    denied = Bound(without=(NamedResources(rule="denied", resources=_DENIED),))
    plan = plan_of(
        Reach(),
        folder=workspace,
        home=os.path.expanduser("~"),
        workspace=workspace,
        confinement=Confinement(reads=denied),
    )
    if len(plan.masked) != 1:
        raise RuntimeError("the file was not found")


def _subjects(
    plan: SandboxPlan, same: ConfinedStart, runner: asyncio.Runner
) -> Mapping[str, Callable[[], None]]:
    bwrap = shutil.which("bwrap") or "bwrap"

    def launched(launcher: Launcher) -> Callable[[], None]:
        return lambda: runner.run(_launched(launcher))

    return {
        _PLAIN: lambda: _run(_PROGRAM),
        _BWRAP: lambda: _run((bwrap, *_BARE, "--", *_PROGRAM)),
        _SAME: lambda: _started(same),
        _DRIVER: lambda: _confined("bubblewrap", plan),
        "driver landlock": lambda: _confined("landlock", plan),
        "launcher, not confined": launched(SupervisedLauncher()),
        _LAUNCHED: launched(ConfinedLauncher(driver_named("bubblewrap"), lambda _: plan)),
        "launcher, landlock": launched(ConfinedLauncher(driver_named("landlock"), lambda _: plan)),
    }


def _run(arguments: tuple[str, ...], descriptors: tuple[int, ...] = ()) -> None:
    subprocess.run(arguments, check=True, pass_fds=descriptors, stdin=subprocess.DEVNULL)


def _confined(driver: ConfiningDriver, plan: SandboxPlan) -> None:
    with ExitStack() as started:
        start = started.enter_context(driver_named(driver).confined(plan, _PROGRAM))
        _run(start.arguments, start.descriptors)
        for folder in start.temporary:
            os.rmdir(folder)


def _started(start: ConfinedStart) -> None:
    """Start what was made before: bubblewrap reads its files again."""
    for descriptor in start.descriptors:
        with suppress(OSError):  # a folder of the plan is no file to be read
            os.lseek(descriptor, 0, os.SEEK_SET)
    _run(start.arguments, start.descriptors)


async def _launched(launcher: Launcher) -> None:
    program = ProgramToStart(arguments=_PROGRAM, env={})
    started = await launcher.launch(program, stdin=0, stdout=1, stderr=2)
    try:
        if await started.wait():
            raise RuntimeError("the program has failed")
    finally:
        await started.end()


def _taken(subjects: Mapping[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Return the fastest tenth of each subject, in nanoseconds; they take turns."""
    found: dict[str, list[int]] = {name: [] for name in subjects}
    for number in range(rounds + 1):
        for name, run in subjects.items():
            before = perf_counter_ns()
            run()
            if number:
                found[name].append(perf_counter_ns() - before)
    return {name: sorted(times)[len(times) // 10] for name, times in found.items()}


if __name__ == "__main__":
    raise SystemExit(main())

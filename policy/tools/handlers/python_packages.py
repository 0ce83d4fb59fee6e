"""`PythonPackages`: installs the packages of calls in a sandbox of its own, and keeps them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from policy.catalog import package_name
from policy.diagnostics import visible
from policy.generation import PythonSettings
from policy.processes import LaunchedProgram, Launcher, ProgramToStart
from policy.runtime import Threads, owner_here
from policy.sandbox import SandboxMissing, refused_connections
from policy.tools.handlers.interpreter_paths import InterpreterPath
from policy.tools.handlers.package_folder import (
    PackageFolder,
    Unusable,
    distributions_in,
    require_plain,
    size_of,
)
from policy.tools.handlers.pip import ENVIRONMENT, last_errors, pip_arguments, pip_problem
from policy.tools.handlers.program_run import run_to_end
from policy.tools.install_failed import InstallFailed

_LOG = logging.getLogger(__name__)
_THREADS = Threads("keeping installed packages", most=4)
_ERRORS = 50_000  # bytes of what pip prints
_BETWEEN = 0.25  # seconds from one look at the size to the next
_PACKAGES, _TEMPORARY = "packages", "tmp"


class PythonPackages:
    """Installs packages below `root` as `python` says, and keeps them for later calls."""

    def __init__(self, python: PythonSettings, root: Path) -> None:
        self._python = python
        self._folder = PackageFolder(
            root, keep=python.keep.total_seconds(), most=python.installations
        )
        self._installing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def installed(
        self,
        requirements: Sequence[str],
        *,
        interpreter: InterpreterPath,
        env: Mapping[str, str],
        launcher: Launcher,
    ) -> AsyncIterator[str]:
        """Return the folder that has the packages, kept within the block.

        `env` is the environment of the installer. Raises InstallFailed or SandboxMissing.
        """
        python = self._python
        if python.index is None and python.wheels is None:
            raise InstallFailed(
                "none is installed here: `[service.python]` has neither `index` nor `wheels`"
            )
        holding = ExitStack()
        try:
            place = await _THREADS.run(lambda: self._place(requirements, interpreter.path))
            lock = self._installing.setdefault(place, asyncio.Lock())
            async with lock:
                if not await _THREADS.run(lambda: self._folder.use(place)):
                    await self._install(place, requirements, interpreter, env, launcher)
                holding.enter_context(self._folder.held(place, owner_here()))
        except (SandboxMissing, InstallFailed):
            raise
        except Unusable as error:
            raise InstallFailed(str(error)) from error
        except OSError as error:
            raise InstallFailed(
                f"the folder of packages cannot be used: {error.strerror}"
            ) from error
        with holding:
            yield place

    def _place(self, requirements: Sequence[str], interpreter: str) -> str:
        self._folder.clean_if_due()
        python, real = self._python, os.path.realpath(interpreter)
        of_interpreter = os.stat(real)
        return self._folder.place_of(
            {
                "interpreter": [interpreter, real, of_interpreter.st_size, of_interpreter.st_mtime],
                "source": [python.index, python.wheels, _wheels_in(self._wheels)],
                "packages": python.packages,
                "requirements": sorted(requirements),
            }
        )

    @property
    def _wheels(self) -> str | None:
        return None if self._python.wheels is None else os.path.expanduser(self._python.wheels)

    async def _install(
        self,
        place: str,
        requirements: Sequence[str],
        interpreter: InterpreterPath,
        env: Mapping[str, str],
        launcher: Launcher,
    ) -> None:
        by = owner_here()
        with self._folder.new(by) as staging:
            target, temporary = f"{staging}/{_PACKAGES}", f"{staging}/{_TEMPORARY}"
            os.mkdir(target)
            os.mkdir(temporary)
            wheels = () if self._wheels is None else (self._wheels,)
            program = ProgramToStart(
                arguments=pip_arguments(
                    interpreter.path, requirements, self._python, target=target, temp=temporary
                ),
                env={**env, **ENVIRONMENT},
                folder=staging,
                libraries=(*wheels, *interpreter.libraries),
                installs=staging,
            )
            await self._run(program, launcher, staging, interpreter.path)
            await _THREADS.run(lambda: self._take(target, place, by))
        found = " ".join(f"{name}=={version}" for name, version in distributions_in(place))
        _LOG.info("installed for code: %s", visible(found, 1000))

    async def _run(
        self, program: ProgramToStart, launcher: Launcher, staging: str, interpreter: str
    ) -> None:
        """Run the installer within its limits; raise InstallFailed if it fails."""
        python, started = self._python, list[LaunchedProgram]()

        async def start(out: int, err: int) -> LaunchedProgram:
            nothing = os.open(os.devnull, os.O_RDONLY)
            try:
                launched = await launcher.launch(program, stdin=nothing, stdout=out, stderr=err)
            finally:
                os.close(nothing)
            started.append(launched)
            return launched

        running = asyncio.ensure_future(run_to_end(start, most=_ERRORS))
        outgrown = asyncio.ensure_future(_outgrown(staging, python.size))
        try:
            await asyncio.wait(
                (running, outgrown), timeout=python.timeout, return_when=asyncio.FIRST_COMPLETED
            )
            if running.done():
                done = running.result().value
            elif outgrown.done():
                raise InstallFailed(f"they are larger than {python.size:,} bytes")
            else:
                raise InstallFailed(f"it took longer than {python.timeout:g} seconds")
        finally:
            for each in (running, outgrown):
                each.cancel()
            await asyncio.gather(running, outgrown, return_exceptions=True)
        if done["exit_code"] != 0:
            errors = str(done["stderr"])
            for path in (staging, self._wheels):
                # Where folders of this machine are is no business of a model.
                errors = errors if path is None else errors.replace(path, "…")
            raise InstallFailed(_why({**done, "stderr": errors}, started, interpreter))

    def _take(self, target: str, place: str, by: Hashable) -> None:
        """Move what was installed to its place; raise Unusable for what is not wanted."""
        require_plain(target)
        if size_of(target) > self._python.size:
            raise Unusable(f"they are larger than {self._python.size:,} bytes")
        if self._python.packages is not None:
            found = {package_name(name) for name, _ in distributions_in(target)}
            others = sorted(found - {*self._python.packages})
            if others:
                shown = visible(", ".join(others), 300)
                raise Unusable(f"they need others than `[service.python] packages` has: {shown}")
        self._folder.put(target, place, by)


async def _outgrown(folder: str, most: int) -> None:
    """Return once a folder holds more bytes than that."""
    while await _THREADS.run(lambda: size_of(folder)) <= most:  # noqa: ASYNC110 - of a disk
        await asyncio.sleep(_BETWEEN)


def _why(done: Mapping[str, Any], started: Sequence[LaunchedProgram], interpreter: str) -> str:
    """Return why an installation has failed: what its sandbox has refused, or what pip says."""
    refused = [each for program in started for each in refused_connections(program)]
    if refused:
        first = refused[0]
        return f"the sandbox does not connect to {visible(first.target, 300)}: {first.why}"
    if "sandbox" in done and any(each["verb"] == "start" for each in done["sandbox"]["denied"]):
        return f"the sandbox does not start pip: {last_errors(done['stderr'])}"
    return pip_problem(done["stderr"], interpreter=interpreter)


def _wheels_in(folder: str | None) -> list[tuple[str, int, int]]:
    """Return what tells one state of a folder of wheels from another; raise Unusable."""
    if folder is None:
        return []
    try:
        with os.scandir(folder) as entries:
            found = [(each.name, each.stat()) for each in entries if each.name.endswith(".whl")]
    except OSError as error:
        raise Unusable(f"the folder of `wheels` cannot be read: {error.strerror}") from error
    return sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in found)

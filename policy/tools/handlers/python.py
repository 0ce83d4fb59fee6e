"""`python_exec`: a Python program in the workspace, with packages that are installed for it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from policy.catalog import PYTHON_EXEC
from policy.generation import state_root
from policy.model import Execution
from policy.tools.handler import ExecutionContext
from policy.tools.handlers.interpreter_paths import find_interpreter
from policy.tools.handlers.interpreter_run import (
    Interpreted,
    environment_for,
    require_short,
    run_code,
)
from policy.tools.handlers.limits import Limits
from policy.tools.handlers.native import Run
from policy.tools.handlers.package_folder import distributions_in
from policy.tools.handlers.python_packages import PythonPackages

# In the state of this user, which no tool may write.
_FOLDER = "python-packages"


def python_exec(limits: Limits) -> Run:
    """Return a function that runs Python programs, keeping `limits.output` bytes of each stream."""
    packages = PythonPackages(limits.python, state_root() / _FOLDER)

    async def run(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        asked, code = input.get("timeout"), input["code"]
        require_short(PYTHON_EXEC, code)
        env = environment_for(PYTHON_EXEC, ctx)
        home = env.get("HOME", "/")
        name = limits.python.interpreter
        interpreter = find_interpreter(name, env, workspace=ctx.workspace, home=home)
        if isinstance(interpreter, str):
            raise Execution(PYTHON_EXEC, interpreter)
        variables = {"PYTHONDONTWRITEBYTECODE": "1"}
        libraries, installed = interpreter.libraries, list[str]()
        async with AsyncExitStack() as kept:
            if input.get("requirements"):
                place = await kept.enter_async_context(
                    packages.installed(
                        input["requirements"],
                        interpreter=interpreter,
                        env=env,
                        launcher=ctx.launcher,
                    )
                )
                libraries = (*libraries, place)
                # No `.pth` file counts in such a folder, and no program of it is in PATH.
                variables["PYTHONPATH"] = place
                installed = [f"{name}=={version}" for name, version in distributions_in(place)]
            program = Interpreted(
                code=code, interpreter=interpreter.path, variables=variables, libraries=libraries
            )
            seconds = float(limits.command_seconds if asked is None else asked)
            done = await run_code(PYTHON_EXEC, program, seconds=seconds, ctx=ctx, limits=limits)
        if installed:
            done = replace(done, value={**done.value, "installed": installed})
        return done.output()

    return run

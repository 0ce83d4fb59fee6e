"""`python_exec`, a tool that runs Python code with packages that are installed for it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from policy.catalog.code_tools import CODE_EXEC, tool_that_runs_code
from policy.catalog.requirements import name_in, package_name, read_requirement
from policy.catalog.tool import ToolSpec

PYTHON_EXEC = "python_exec"
# The tools of this catalogue that start programs, in the sandbox that is configured.
STARTS_PROGRAMS = ("bash_exec", CODE_EXEC, PYTHON_EXEC)


def python_exec_spec(*, most: int, packages: Iterable[str] | None) -> ToolSpec:
    """Return the definition of `python_exec`.

    `most` is how many requirements a call may have, and `packages` are those that may be named,
    None: all.
    """
    named = None if packages is None else frozenset(map(package_name, packages))
    return _spec(most, named)


@lru_cache(maxsize=64)
def _spec(most: int, packages: frozenset[str] | None) -> ToolSpec:
    def read(written: list[str]) -> list[str]:
        try:
            return _requirements(written, packages)
        except ValueError as error:
            raise PydanticCustomError("requirement", "{why}", {"why": str(error)}) from error

    requirements = (
        Annotated[list[str], Field(max_length=most), AfterValidator(read)] | None,
        Field(
            default=None,
            description="Packages that it imports, by name, with versions if they matter: "
            "`numpy>=2.1,<3`. Only wheels are installed.",
        ),
    )
    return tool_that_runs_code(
        "PythonExec",
        "Run a Python program in the workspace, in a sandbox; returns what it prints.",
        after={"requirements": requirements},
        seconds="How many seconds it may take, once all is installed.",
    )


def _requirements(written: list[str], packages: frozenset[str] | None) -> list[str]:
    """Return requirements in their one spelling, sorted; raise ValueError."""
    found = sorted(map(read_requirement, written))
    names = [name_in(each) for each in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"`{name}` is named twice: join its versions, as in `{name}>=1,<2`")
        if packages is not None and name not in packages:
            known = ", ".join(sorted(packages)) or "there are none"
            raise ValueError(
                f"`{name}` is none of the packages that may be installed here: {known}"
            )
    return found

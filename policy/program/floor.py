"""The floor: files that no rule may let a call write, because they are the policy itself.

It covers every file a generation read, the policy folder, where a new file would be read next,
and the names of all folders above them: renaming or deleting `/srv` moves `/srv/rules` away as
surely as writing there.
"""

from __future__ import annotations

import posixpath
from functools import partial
from typing import TYPE_CHECKING

from policy import later
from policy.checks import checked
from policy.program.evaluation import DeclaredResources, Evaluation
from policy.program.expressions import TestOf
from policy.program.truth import Absent, Truth, Undecided
from policy.records import dataclass
from policy.values import escape_glob

# A call of a tool that writes nothing needs none of these.
if TYPE_CHECKING:
    from policy.program.resource_tests import compile_resource_test
    from policy.program.together import Together, together
else:
    compile_resource_test = later.function("policy.program.resource_tests", "compile_resource_test")
    together = later.function("policy.program.together", "together")

_TEXT = "writes the policy's own files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Absolute paths, as spelled and with links resolved: files, and folders whose files count.

    A folder that holds the workspace cannot be closed as a whole, or nothing could be written;
    there only what is a policy file by its name counts.
    """

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def compile_floor(floor: Floor, declared: DeclaredResources) -> TestOf | None:
    """Return the test that a call writes something of the policy itself.

    None where there is no floor, or where the tool's complete declarations know of no write.
    """
    verbs = {resource.verb for resource in declared.resources}
    if not (floor.files or floor.folders) or (declared.complete and not verbs & {"writes", "runs"}):
        return None
    tests = together("writes", declared) if declared.prepared else None
    names = sorted(_with_folders((*floor.files, *floor.folders)))
    policies = [f"{escape_glob(folder)}/**/*.policy" for folder in floor.folders]
    below = [f"{escape_glob(folder)}/**" for folder in floor.folders]
    spelled = [escape_glob(name) for name in names]
    narrow = _writes([*spelled, *policies], declared, tests)
    wide = _writes([*spelled, *below], declared, tests)

    def writes_floor(call: Evaluation) -> Truth:
        open_below = _holds_workspace(floor.folders, call.facts.workspace)
        return narrow(call) if open_below else wide(call)

    return writes_floor


def _writes(items: list[str], declared: DeclaredResources, tests: Together | None) -> TestOf:
    test = checked.ResourceTest(
        verb="writes",
        form="some",
        operand=checked.ValueSet(kind="paths", included=tuple(items)),
        permits=False,
        text=_TEXT,
    )
    number = None if tests is None else tests.number(test, covering=False, absent_is_false=True)
    if tests is not None and number is not None:
        return partial(_looked_up, tests, number)
    body = compile_resource_test(test, declared, covering=False)

    def writes(call: Evaluation) -> Truth:
        truth = body(call)
        if isinstance(truth, Undecided):
            return truth.within(_TEXT)
        return False if isinstance(truth, Absent) else truth

    return writes


def _looked_up(tests: Together, number: int, call: Evaluation) -> Truth:
    """Return the answer to a test that is asked with the tool's others."""
    found = tests.ask(call)
    if number in found:
        return True
    if ~number not in found:
        return False
    truth = tests.alone(number, call)
    return truth.within(_TEXT) if isinstance(truth, Undecided) else truth


def _holds_workspace(folders: tuple[str, ...], workspace: str | None) -> bool:
    if workspace is None:
        return False
    here = posixpath.normpath(workspace)
    return any(here == folder or here.startswith(f"{folder}/") for folder in folders)


def _with_folders(paths: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        while path not in found:
            found.add(path)
            path = posixpath.dirname(path)
    return found

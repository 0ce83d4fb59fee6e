"""Compiles the test that a call writes a file of the floor.

Where any reading of a path is such a file, the call writes it: the path as spelled, where its links
lead, and, by device and inode, every other name of a file (hard links) or a folder (bind mounts).
What may be such a file or not is indeterminate.
"""

from __future__ import annotations

import posixpath
from functools import partial

from policy.checks import checked
from policy.evaluation.batched_tests import BatchedTests, batch_tests
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.expressions import TestOf
from policy.evaluation.floor import Floor
from policy.evaluation.floor_names import FloorNames, writes_by_any_name
from policy.evaluation.resource_tests import compile_resource_test
from policy.evaluation.truth import Absent, Indeterminate, Truth
from policy.values import escape_glob

_TEXT = "writes the policy's own files"


def compile_floor(
    floor: Floor, declared: DeclaredResources, *, with_inline_code: bool = False
) -> TestOf | None:
    """Return the test of whether a call writes a file of the policy itself.

    None where there is no floor, or where the tool is declared complete and writes nothing.
    `with_inline_code`: what inline code writes is allowed, as what a script writes is.
    """
    verbs = {resource.verb for resource in declared.resources}
    if floor.is_empty or (declared.complete and not verbs & {"writes", "runs"}):
        return None
    tests = batch_tests("writes", declared) if declared.prepared else None
    spelled = [escape_glob(name) for name in sorted(floor.names())]
    policies = [f"{escape_glob(folder)}/**/*{floor.policy_ending}" for folder in floor.folders]
    below = [f"{escape_glob(folder)}/**" for folder in floor.folders]
    excluded = (checked.InlineCodeItem(),) if with_inline_code else ()
    narrow = _writes([*spelled, *policies], excluded, declared, tests)
    wide = _writes([*spelled, *below], excluded, declared, tests)
    names: FloorNames | None = None

    def writes_floor(call: Evaluation) -> Truth:
        nonlocal names
        open_below = _holds_workspace(floor.folders, call.facts.workspace)
        truth = narrow(call) if open_below else wide(call)
        if truth is True:
            return True
        if names is None:
            names = FloorNames(floor)
        return True if writes_by_any_name(names, call, declared, is_open=open_below) else truth

    return writes_floor


def _writes(
    items: list[str],
    excluded: tuple[checked.SetPart, ...],
    declared: DeclaredResources,
    tests: BatchedTests | None,
) -> TestOf:
    test = checked.ResourceTest(
        verb="writes",
        form="some",
        operand=checked.ValueSet(kind="paths", included=tuple(items), excluded=excluded),
        permits=False,
        text=_TEXT,
    )
    number = None if tests is None else tests.number(test, covering=False, absent_is_false=True)
    if tests is not None and number is not None:
        return partial(_looked_up, tests, number)
    body = compile_resource_test(test, declared, covering=False)

    def writes(call: Evaluation) -> Truth:
        truth = body(call)
        if isinstance(truth, Indeterminate):
            return truth.within(_TEXT)
        return False if isinstance(truth, Absent) else truth

    return writes


def _looked_up(tests: BatchedTests, number: int, call: Evaluation) -> Truth:
    """Return the result of a test that is evaluated in the tool's batch."""
    found = tests.ask(call)
    if number in found:
        return True
    if ~number not in found:
        return False
    truth = tests.alone(number, call)
    return truth.within(_TEXT) if isinstance(truth, Indeterminate) else truth


def _holds_workspace(folders: tuple[str, ...], workspace: str | None) -> bool:
    if workspace is None:
        return False
    here = posixpath.normpath(workspace)
    return any(here == folder or here.startswith(f"{folder}/") for folder in folders)

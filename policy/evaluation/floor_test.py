"""Compiles the test that a call writes a file of the floor.

Where any reading of a path is such a file, the call writes it: the path as spelled, where its links
lead, and, by device and inode, every other name of a file (hard links) or a folder (bind mounts).
What may be such a file or not is indeterminate.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from policy.checks import checked
from policy.evaluation.batched_tests import BatchedTests, batch_tests
from policy.evaluation.condition_scope import TestOf
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.floor import Floor, ProtectedFile
from policy.evaluation.floor_names import FloorNames, protected_file, writes_by_any_name
from policy.evaluation.possible_resources import may_be_handed
from policy.evaluation.resource_tests import compile_resource_test
from policy.evaluation.settings_files import settings_file
from policy.evaluation.truth import Absent, Indeterminate, Truth
from policy.values import escape_glob

FloorTruth: TypeAlias = Truth | ProtectedFile
FloorOf: TypeAlias = Callable[[Evaluation], FloorTruth]

_TEXT = "writes the policy's own files"
_HANDED = "code that nobody sees may write what it is given"


def compile_floor(
    floor: Floor, declared: DeclaredResources, *, with_inline_code: bool = False
) -> FloorOf | None:
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
    # Without where builds and installers usually write: their code could write anywhere.
    narrow_named = _writes([*spelled, *policies], excluded, declared, None)
    wide_named = _writes([*spelled, *below], excluded, declared, None)
    names: FloorNames | None = None
    files = (*floor.files, *floor.any_case)

    settings = _settings_test(floor.settings, declared, tests)

    def writes_policy(call: Evaluation) -> Truth:
        nonlocal names
        open_below = _holds_workspace(floor.folders, call.facts.workspace)
        truth = narrow(call) if open_below else wide(call)
        effects = call.effects(declared)
        if truth is True and any(item.is_of_unseen_code for item in effects.of("writes")):
            truth = (narrow_named if open_below else wide_named)(call)
        if truth is True:
            return True
        if names is None:
            names = FloorNames(floor)
        if writes_by_any_name(names, call, declared, is_open=open_below):
            return True
        handed = truth is False and effects.handed
        if handed and any(may_be_handed(handed, each) for each in files):
            return Indeterminate(_HANDED, text=_TEXT, about="resources")
        return truth

    def writes_floor(call: Evaluation) -> FloorTruth:
        truth = writes_policy(call)
        if truth is True:
            path = protected_file(floor, call, declared)
            return True if path is None else ProtectedFile(path)
        found = settings(call)
        return truth if found is None else found

    return writes_floor


def _settings_test(
    settings: tuple[str, ...], declared: DeclaredResources, tests: BatchedTests | None
) -> Callable[[Evaluation], ProtectedFile | None]:
    """Return the test of whether a call writes a settings file of an agent, or may."""
    if not settings:
        return lambda call: None
    spelled = [escape_glob(name) for path in settings for name in (path, posixpath.dirname(path))]
    may_write = _writes(spelled, (checked.InlineCodeItem(),), declared, tests)

    def writes_settings(call: Evaluation) -> ProtectedFile | None:
        truth = may_write(call)
        found = settings_file(settings, call, declared)
        if found is None and isinstance(truth, Indeterminate):
            effects = call.effects(declared)
            if not effects.certain:
                return ProtectedFile(settings[0], truth.why, of_agent=True)
        return found

    return writes_settings


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
        surely=True,
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

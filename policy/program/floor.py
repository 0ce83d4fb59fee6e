"""The floor: files that no rule may let a call write, because they are the policy itself.

It covers every file a generation read, and the names of all folders above them: renaming or
deleting `/srv` moves `/srv/rules` away as surely as writing there.
"""

from __future__ import annotations

import posixpath

from policy.checks import checked
from policy.program.evaluation import DeclaredResources, Evaluation
from policy.program.expressions import TestOf
from policy.program.resource_tests import compile_resource_test
from policy.program.truth import Absent, Truth, Undecided
from policy.values import escape_glob


def compile_floor(paths: tuple[str, ...], declared: DeclaredResources) -> TestOf | None:
    """Return the test that a call writes one of `paths` or a folder above one of them.

    None where there is no floor, or where the tool's complete declarations know of no write.
    """
    verbs = {resource.verb for resource in declared.resources}
    if not paths or (declared.complete and not verbs & {"writes", "runs"}):
        return None
    items = tuple(escape_glob(name) for name in sorted(_with_folders(paths)))
    test = checked.ResourceTest(
        verb="writes",
        form="some",
        operand=checked.ValueSet(kind="paths", included=items),
        permits=False,
        text="writes the policy's own files",
    )
    body = compile_resource_test(test, declared, covering=False)

    def writes_floor(call: Evaluation) -> Truth:
        truth = body(call)
        if isinstance(truth, Undecided):
            return truth.within(test.text)
        return False if isinstance(truth, Absent) else truth

    return writes_floor


def _with_folders(paths: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        while path not in found:
            found.add(path)
            path = posixpath.dirname(path)
    return found

"""The result of a resource test for each resource by itself, and why: for explanations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from policy.checks import checked
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.effects import KnownResource
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.resource_tests import follows_as_spelled, why_indeterminate
from policy.evaluation.set_items import patterns_of
from policy.evaluation.set_tests import SetTest
from policy.evaluation.truth import Truth, negated
from policy.programs import Invocation, covers, uncovered_commands
from policy.values import Path, PathContext, read_path


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTruth:
    """What a test would be if the call had this resource alone.

    `uncovered` are the commands, it and those that it runs, that keep `runs only` from being true,
    each with what no pattern covers. `inside` is a file below a tree because of which `reads X` is
    true of the tree; empty if the tree's own name is the reason.
    """

    item: KnownResource
    truth: Truth
    uncovered: tuple[tuple[Invocation, str], ...] = ()
    inside: str = ""


def tested_set(
    test: checked.ResourceTest, declared: DeclaredResources, *, covering: bool
) -> SetTest | None:
    """Return the set that a test is about; None if it is about all resources."""
    if test.operand is None:
        return None
    return SetTest(
        test.operand,
        declared.profiles,
        redirections_covered=covering or test.any_redirection,
        prepared=declared.prepared,
    )


def resource_truths(
    test: checked.ResourceTest, declared: DeclaredResources, call: Evaluation, *, members: SetTest
) -> Iterator[ResourceTruth]:
    """Yield the result of a test of a set for each known resource of its verb, for explanations."""
    assert test.operand is not None
    covering = members.redirections_covered
    only = test.form == "only" or not test.operand.included
    beside = () if test.beside is None else patterns_of(test.beside, declared.profiles)
    effects = call.effects(declared)
    for item in effects.of(test.verb):
        some = not only and test.form != "outside"
        answer = (members.some if some else members.whole)(item.thing, call, effects.paths)
        if answer is None and only and follows_as_spelled(item, beside):
            answer = True
        truth: Truth = answer if answer is not None else why_indeterminate(item.thing)
        uncovered: tuple[tuple[Invocation, str], ...] = ()
        if only and truth is not True and isinstance(item.thing, Invocation):
            uncovered = _uncovered(item.thing, members, redirections_covered=covering)
        inside = ""
        if some and truth is True:
            inside = _file_inside(item.thing, members, call, effects.paths)
        yield ResourceTruth(
            item=item,
            truth=negated(truth) if test.form == "outside" and not only else truth,
            uncovered=uncovered,
            inside=inside,
        )


def _file_inside(thing: object, members: SetTest, call: Evaluation, paths: PathContext) -> str:
    """Return a file below a tree that is in the set although the tree by its name is not."""
    if not isinstance(thing, Path) or thing.contents is None:
        return ""
    # By names alone: the disk was looked at when the tree was listed.
    spelled = replace(paths, resolve=None, folds=None, look=None, known_sets={})
    if members.some(replace(thing, contents=None), call, spelled) is True:
        return ""
    for file in thing.contents.paths():
        found = read_path(file, spelled)
        if isinstance(found, Path) and members.some(found, call, spelled) is True:
            return file
    return ""


def _uncovered(
    command: Invocation, members: SetTest, *, redirections_covered: bool
) -> tuple[tuple[Invocation, str], ...]:
    patterns = members.commands
    if covers(command, patterns, redirections_covered=redirections_covered) is True:
        return ((command, "an exception of the set matches it"),)
    found = uncovered_commands(command, patterns, redirections_covered=redirections_covered)
    return tuple(found)

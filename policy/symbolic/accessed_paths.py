"""`AccessedPaths`: what tests say of the paths that a call accesses with one verb.

A path has several readings: as it is spelled, where links lead, without invisible characters, and
with folded letter case. Where a test is true or false, it is so in every reading. So if not all
readings of all paths are in a set, one reading of one path is not, or a path cannot be read at all;
and what is true of all paths is true of that reading as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

from policy.catalog import SchemaView, Verb
from policy.checks import checked
from policy.evaluation import DeclaredResources
from policy.solving import Clauses
from policy.symbolic.patterns.globs import PRINTED_PATHS, as_path
from policy.symbolic.patterns.path_sets import (
    SetLanguages,
    all_paths,
    paths_of_a_call,
    set_languages,
)
from policy.symbolic.points import Demand, Points
from policy.symbolic.situation import HOME, WORKSPACE
from policy.symbolic.truths import Truths

Form: TypeAlias = Literal["some", "outside", "only"]


class AccessedPaths:
    """The paths that calls of a tool access with a verb, by the declarations of one layer.

    `ordinary` is the literal that each path is read as it is spelled.
    """

    def __init__(
        self,
        clauses: Clauses,
        view: SchemaView,
        verb: Verb,
        declared: DeclaredResources,
        *,
        ordinary: int,
    ) -> None:
        self._ordinary = ordinary
        self._clauses = clauses
        self.declared = declared
        self._verb: Verb = verb
        self._are_files = _are_files(verb, declared)
        self._all_are_known = (
            declared.complete and not declared.unseen and "runs" not in declared.verbs
        )
        self._spelled = Points(clauses, all_paths())
        self._folded = Points(clauses, all_paths())
        # That there is no path, and that one of the paths cannot be read.
        self._none, self._unreadable = clauses.variable(), clauses.variable()
        clauses.require(-ordinary, -self._unreadable)
        if verb in certain_verbs(view, declared):
            clauses.require(-self._none)
        if self._all_are_known:
            one = clauses.variable()
            clauses.require(one, self._unreadable, self._none)
            self._spelled.some(Demand(one))

    def note(self, values: checked.ValueSet, form: Form, truth: Truths, *, absent: bool) -> None:
        """Note the truth of a test. `absent`: without paths, it is false."""
        languages, folded = set_languages(values), set_languages(_folded(values))
        if languages is None or folded is None:
            return
        if self._are_files and self._all_are_known:
            self._note_of_files(languages, folded, form, truth)
        elif self._are_files:
            self._note_of_known_files(languages, form, truth, absent=absent)
        elif self._verb == "reads":
            self._note_of_trees(languages, form, truth, self._spelled)
            self._note_of_trees(folded, form, truth, self._folded)
            if form == "some":
                self._spelled.some(Demand(truth.holds, (languages.items,)))
            if form == "some" and languages.is_rooted and self._all_are_known:
                self._note_of_met_trees(languages, folded, truth)

    def examples(self, holding: frozenset[int]) -> Iterator[str]:
        """Yield paths that an assignment says there are, in the folders of a shown call."""
        within = paths_of_a_call(HOME, WORKSPACE)
        return map(as_path, self._spelled.examples(holding, within, PRINTED_PATHS))

    def _note_of_files(
        self, languages: SetLanguages, folded: SetLanguages, form: Form, truth: Truths
    ) -> None:
        require, always = self._clauses.require, truth.holds if form == "only" else truth.fails
        spelled, folding = self._clauses.variable(), self._clauses.variable()
        for points, literal, one in (
            (self._spelled, spelled, languages),
            (self._folded, folding, folded),
        ):
            # All are outside of the set, or all in it.
            outside, inside = ((one.exact,), ()) if form == "some" else ((), (one.exact,))
            points.all(Demand(always, inside, outside))
            points.some(Demand(literal, outside, inside))
            require(-self._none, -literal)
        require(-self._unreadable, -always)
        require(-self._ordinary, -folding)
        if form == "only":
            # That something is outside of one set hardly excludes anything; of all sets in which
            # everything could be, most exclude each other.
            self._clauses.prefer(spelled)
            require(always, spelled, folding, self._unreadable, self._none)
        else:
            require(always, spelled, folding, self._unreadable)
            require(-self._none, always)

    def _note_of_known_files(
        self, languages: SetLanguages, form: Form, truth: Truths, *, absent: bool
    ) -> None:
        """Note what is said of files, besides which there may be hidden ones."""
        exact = (languages.exact,)
        match form:
            case "some":
                self._spelled.some(Demand(truth.holds, exact))
                self._spelled.all(Demand(truth.fails, (), exact))
            case "outside":
                self._spelled.some(Demand(truth.holds, (), exact))
                self._spelled.all(Demand(truth.fails, exact))
            case _:
                self._spelled.all(Demand(truth.holds, exact))
                if not absent:
                    self._spelled.some(Demand(truth.fails, (), exact))

    def _note_of_met_trees(
        self, languages: SetLanguages, folded: SetLanguages, truth: Truths
    ) -> None:
        """Note that a tree that does not certainly miss a set may meet it in one reading."""
        spelled, folding = self._clauses.variable(), self._clauses.variable()
        self._clauses.require(truth.fails, spelled, folding, self._unreadable)
        self._clauses.require(-self._unreadable, -truth.fails)
        self._clauses.require(-self._ordinary, -folding)
        self._spelled.some(Demand(spelled, (languages.items,)))
        self._folded.some(Demand(folding, (folded.items,)))

    def _note_of_trees(
        self, languages: SetLanguages, form: Form, truth: Truths, points: Points
    ) -> None:
        """Note what is said of something in a tree.

        A tree is partly in a set if something in it may match an item; an exception only counts
        where it covers the tree. An item that begins with `**/` meets a tree only as it is spelled.
        """
        rooted = () if languages.rooted is None else (languages.rooted,)
        without = () if languages.without is None else (languages.without,)
        match form:
            case "some":
                points.all(Demand(truth.fails, (), rooted))
            case "outside":
                points.all(Demand(truth.fails, (languages.items,), without))
            case _:
                points.all(Demand(truth.holds, (languages.items,), without))


def certain_verbs(view: SchemaView, declared: DeclaredResources) -> frozenset[str]:
    """Return the verbs of arguments that every call of a tool has, as strings."""
    return frozenset(
        resource.verb
        for resource in declared.resources
        if resource.only_for is None
        and not resource.uri
        and len(resource.steps) == 1
        and view.is_always_there(resource.steps)
        and view.lookup(resource.steps).types == {"string"}
    )


def _are_files(verb: Verb, declared: DeclaredResources) -> bool:
    """Return whether every path that calls access with a verb is that of one file, as spelled."""
    return "runs" not in declared.verbs and not any(
        resource.verb == verb and not resource.is_one for resource in declared.resources
    )


def _folded(values: checked.ValueSet) -> checked.ValueSet:
    """Return the set with which a path is compared where letter case is ignored."""
    included, excluded = (
        tuple(map(_folded_part, parts)) for parts in (values.included, values.excluded)
    )
    return replace(values, included=included, excluded=excluded)


def _folded_part(part: checked.SetPart) -> checked.SetPart:
    if isinstance(part, checked.ValueSet):
        return _folded(part)
    return part.casefold() if isinstance(part, str) else part

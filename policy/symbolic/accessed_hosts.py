"""`AccessedHosts`: what tests say of the hosts that a call connects to.

A test of one endpoint is true, false or indeterminate by itself: an endpoint is certainly in a set,
certainly not, or neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from policy.catalog import SchemaView
from policy.checks import checked
from policy.evaluation import DeclaredResources
from policy.solving import Clauses
from policy.symbolic.accessed_paths import Form, certain_verbs
from policy.symbolic.patterns.hosts import (
    PRINTED_ENDPOINTS,
    HostLanguages,
    all_endpoints,
    as_url,
    host_languages,
    shown_endpoints,
)
from policy.symbolic.points import Demand, Points
from policy.symbolic.truths import Truths
from policy.values import REDIRECTED


class AccessedHosts:
    """The endpoints that calls of a tool connect to, by the declarations of one layer.

    `ordinary` is the literal that each of them can be read.
    """

    def __init__(
        self, clauses: Clauses, view: SchemaView, declared: DeclaredResources, *, ordinary: int
    ) -> None:
        self._clauses = clauses
        self.declared = declared
        # Whether every effect is that of an argument which is a host, or cannot be read.
        self._all_are_known = (
            declared.complete
            and not declared.unseen
            and "runs" not in declared.verbs
            and not any(each.uri for each in declared.resources if each.verb == "connects")
        )
        self._points = Points(clauses, all_endpoints())
        # That there is no endpoint, and that one of them cannot be read.
        self._none, self._unreadable = clauses.variable(), clauses.variable()
        clauses.require(-ordinary, -self._unreadable)
        if "connects" in certain_verbs(view, declared):
            clauses.require(-self._none)
        if self._all_are_known:
            self._there_is(Demand(clauses.true), self._unreadable, self._none)

    def note(self, values: checked.ValueSet, form: Form, truth: Truths, *, absent: bool) -> None:
        """Note the truth of a test. `absent`: without endpoints, it is false."""
        languages = host_languages(values)
        if languages is None:
            return
        # What is not an endpoint: hosts that a program is redirected to, and what code accesses.
        unnamed = (self._clauses.true,) if not self._all_are_known and _names_others(values) else ()
        if form == "some":
            self._note_some(languages, truth, unnamed)
        else:
            # `outside` is the negation of what `only` says of the endpoints.
            inside = truth if form == "only" else truth.negated()
            self._note_all(languages, inside, unnamed, form, absent=absent)

    def examples(self, holding: frozenset[int]) -> Iterator[str]:
        """Yield URLs that an assignment says there are."""
        found = self._points.examples(holding, shown_endpoints(), PRINTED_ENDPOINTS)
        return map(as_url, found)

    def _note_some(self, languages: HostLanguages, truth: Truths, unnamed: tuple[int, ...]) -> None:
        certain, possible = (languages.certain,), (languages.possible,)
        self._there_is(Demand(truth.holds, certain), *unnamed)
        self._points.all(Demand(-truth.holds, (), certain))
        self._points.all(Demand(truth.fails, (), possible))
        if self._all_are_known:
            self._there_is(Demand(-truth.fails, possible), self._unreadable)
            self._clauses.require(-self._unreadable, -truth.fails)

    def _note_all(
        self,
        languages: HostLanguages,
        inside: Truths,
        unnamed: tuple[int, ...],
        form: Form,
        *,
        absent: bool,
    ) -> None:
        """Note whether all endpoints are in a set; `inside` is what the test says of that."""
        certain, possible = (languages.certain,), (languages.possible,)
        nothing = (self._none,) if absent else ()
        self._points.all(Demand(inside.holds, certain))
        self._points.all(Demand(-inside.fails, possible))
        self._there_is(Demand(inside.fails, (), possible), *unnamed, *nothing)
        if self._all_are_known:
            others = (self._none,) if form == "only" else ()
            self._there_is(Demand(-inside.holds, (), certain), self._unreadable, *others)
            self._clauses.require(-self._unreadable, -inside.holds)

    def _there_is(self, demand: Demand, *others: int) -> None:
        """Note that there is such an endpoint, or that one of the other literals holds."""
        if self._clauses.true in others:
            return
        one = self._clauses.variable()
        self._clauses.require(-demand.literal, one, *others)
        self._points.some(Demand(one, demand.inside, demand.outside))


def _names_others(values: checked.ValueSet) -> bool:
    """Return whether a set says something about what is no endpoint."""
    return any(
        _names_others(part)
        if isinstance(part, checked.ValueSet)
        else part == REDIRECTED or isinstance(part, checked.InlineCodeItem)
        for part in (*values.included, *values.excluded)
    )

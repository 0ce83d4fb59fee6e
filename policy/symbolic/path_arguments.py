"""What the text of a field says of the path that it is declared to name.

Tests of the text and tests of what a call reads or writes are about one value: where the text
spells a path that is certainly in a set, the test of the set is not false, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from policy.checks import checked
from policy.evaluation import DeclaredResources
from policy.solving import Clauses, Language
from policy.symbolic.accessed_paths import Form
from policy.symbolic.patterns.path_texts import PathTexts, settled_texts, texts_of_paths
from policy.symbolic.subjects import Subject
from policy.symbolic.text_value import TextValue
from policy.symbolic.truths import Truths


class PathArguments:
    """The fields that name paths; `text_of` returns the string of a field that tests are about."""

    def __init__(self, clauses: Clauses, text_of: Callable[[Subject], TextValue | None]) -> None:
        self._clauses = clauses
        self._text_of = text_of

    def note(
        self,
        values: checked.ValueSet,
        form: Form,
        truth: Truths,
        *,
        verb: str,
        declared: DeclaredResources,
    ) -> None:
        """Note what the texts of fields say of a test of paths, and it of them."""
        fields = list(fields_of_paths(declared, verb))
        texts = [text for field in fields if (text := self._text_of(field)) is not None]
        said = texts_of_paths(values) if texts else None
        if said is None:
            return
        # Whether the field is all that the call accesses with the verb.
        alone = sum(resource.verb == verb for resource in declared.resources) == 1
        alone = alone and declared.complete and "runs" not in declared.verbs
        if form == "some":
            inside = [-truth.fails]
            outside = [-truth.holds] if alone else []
        else:
            # `outside` is the negation of what `only` says of all paths.
            all_in = truth if form == "only" else truth.negated()
            inside = [-all_in.fails] if alone else []
            outside = [-all_in.holds]
        for text in texts:
            self._require(text, said, inside=inside, outside=outside)

    def _require(
        self, text: TextValue, said: PathTexts, *, inside: list[int], outside: list[int]
    ) -> None:
        """Require literals where a text spells a path in the set, and where it spells another.

        A path is read as it is spelled, and without invisible characters, and so is a text.
        """
        settled = text.spellings_in(settled_texts())
        surely = self._spellings(text, said.surely)
        perhaps = self._spellings(text, said.perhaps)
        for at, _ in enumerate(settled):
            there = (-text.is_text, -settled[at])
            for literal in inside:
                if surely:
                    self._clauses.require(*there, -surely[at], literal)
            for literal in outside:
                if perhaps:
                    self._clauses.require(*there, perhaps[at], literal)
        for spelled in self._spellings(text, said.by_their_end):
            for literal in inside:
                self._clauses.require(-text.is_text, -spelled, literal)

    def _spellings(self, text: TextValue, language: Language | None) -> tuple[int, ...]:
        return () if language is None else text.spellings_in(language)


def fields_of_paths(declared: DeclaredResources, verb: str) -> Iterator[Subject]:
    """Yield the fields that name one file each, as text alone."""
    for resource in declared.resources:
        plain = not (resource.uri or resource.tree or resource.tree_field or resource.only_for)
        if resource.verb == verb and plain and len(resource.steps) == 1:
            yield ("input", resource.steps[0])

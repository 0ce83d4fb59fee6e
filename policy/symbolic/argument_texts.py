"""What the text of a field says of the path or the host that it is declared to name.

Tests of the text and tests of what a call reads, writes or connects to are about one value: where
the text spells what is certainly in a set, the test of the set is not false, and the other way
round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from policy.checks import checked
from policy.evaluation import DeclaredResources
from policy.solving import Clauses, Language
from policy.symbolic.accessed_paths import Form
from policy.symbolic.patterns.path_texts import texts_of_paths
from policy.symbolic.patterns.spelled_texts import SpelledTexts
from policy.symbolic.patterns.url_texts import texts_of_hosts
from policy.symbolic.subjects import Subject
from policy.symbolic.text_value import TextValue
from policy.symbolic.truths import Truths


class ArgumentTexts:
    """The fields that name paths or hosts; `text_of` returns the string that tests are about.

    `ordinary` is the literal that URLs are such as people write, and paths spelled as they are.
    """

    def __init__(
        self,
        clauses: Clauses,
        text_of: Callable[[Subject], TextValue | None],
        *,
        ordinary: int,
    ) -> None:
        self._clauses = clauses
        self._text_of = text_of
        self._ordinary = ordinary

    def note(
        self,
        values: checked.ValueSet,
        form: Form,
        truth: Truths,
        *,
        verb: str,
        declared: DeclaredResources,
    ) -> None:
        """Note what the texts of fields say of a test of paths or hosts, and it of them."""
        fields = list(named_fields(declared, verb))
        texts = [text for field in fields if (text := self._text_of(field)) is not None]
        said = _texts_of(values) if texts else None
        if said is None:
            return
        # Whether the field is all that the call accesses with the verb.
        alone = sum(resource.verb == verb for resource in declared.resources) == 1
        alone = alone and declared.complete and "runs" not in declared.verbs
        if verb == "connects":
            alone = alone and not declared.unseen
        # `outside` is the negation of what `only` says of all that the call accesses.
        said_of = truth.negated() if form == "outside" else truth
        is_decisive = (True, alone) if form == "some" else (alone, True)
        for text in texts:
            if verb != "connects" and said.settled is not None:
                spelled = text.is_spelled_in(said.settled)
                self._clauses.require(-self._ordinary, -text.is_text, spelled)
            if is_decisive[0]:
                self._require_inside(text, said, said_of)
            if is_decisive[1]:
                self._require_outside(text, said, said_of)

    def _require_inside(self, text: TextValue, said: SpelledTexts, truth: Truths) -> None:
        """Require that a test is not false where a text spells what is in the set.

        What is accessed is read as it is spelled, and without invisible characters, and so is a
        text. A URL with such characters cannot be read, so that the test is indeterminate.
        """
        require, settled = self._clauses.require, self._spellings(text, said.settled)
        for inside, spelled in zip(self._spellings(text, said.surely), settled, strict=False):
            require(-text.is_text, -spelled, -inside, -truth.fails)
        for spelled in self._spellings(text, said.by_their_end):
            require(-text.is_text, -spelled, -truth.fails)
        if said.readable is not None and said.surely is not None:
            inside, readable = map(text.is_spelled_in, (said.surely, said.readable))
            require(-text.is_text, -readable, -inside, truth.holds)
            require(-self._ordinary, -text.is_text, readable)

    def _require_outside(self, text: TextValue, said: SpelledTexts, truth: Truths) -> None:
        """Require that a test is not true where a text spells what is not in the set."""
        require, settled = self._clauses.require, self._spellings(text, said.settled)
        for inside, spelled in zip(self._spellings(text, said.perhaps), settled, strict=False):
            require(-text.is_text, -spelled, inside, -truth.holds)
        if said.readable is not None and said.perhaps is not None:
            inside, readable = map(text.is_spelled_in, (said.perhaps, said.readable))
            require(-text.is_text, -readable, inside, truth.fails)

    def _spellings(self, text: TextValue, language: Language | None) -> tuple[int, ...]:
        return () if language is None else text.spellings_in(language)


def _texts_of(values: checked.ValueSet) -> SpelledTexts | None:
    return texts_of_hosts(values) if values.kind == "hosts" else texts_of_paths(values)


def named_fields(declared: DeclaredResources, verb: str) -> Iterator[Subject]:
    """Yield the fields that name one file or one host each, as text alone."""
    for resource in declared.resources:
        plain = resource.is_one and not (resource.uri or resource.only_for)
        if resource.verb == verb and plain and len(resource.steps) == 1:
            yield ("input", resource.steps[0])

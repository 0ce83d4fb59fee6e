"""What resource tests imply about each other is found once, whichever claim asks first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import SchemaView
from policy.checks import checked
from policy.evaluation import DeclaredResources
from policy.solving import Clauses
from policy.symbolic.reading import Scope
from policy.symbolic.related_tests import RelatedTests
from policy.symbolic.resource_facts import ResourceFacts
from tests.unit.symbolic.test_accessed_paths import FILE, TESTS

COMPLETE = DeclaredResources(FILE.resources, complete=True, unseen=False)
HIDDEN = DeclaredResources(FILE.resources, complete=False, unseen=True)
ASKED = st.lists(
    st.tuples(TESTS, st.builds(Scope, st.sampled_from((COMPLETE, HIDDEN)), st.booleans())),
    max_size=4,
)
Asked = list[tuple[checked.ResourceTest, Scope]]


def _clauses(asked: Asked, related: RelatedTests) -> list[list[int]]:
    clauses = Clauses()
    view, ordinary = SchemaView(FILE.schema), clauses.variable()
    facts = ResourceFacts(clauses, view, ordinary=ordinary, related=related)
    for test, scope in asked:
        facts.truth_of(test, scope)
    return clauses.all


@given(asked=ASKED, earlier=ASKED)
def test_an_earlier_claim_changes_no_clause(asked: Asked, earlier: Asked) -> None:
    related = RelatedTests()
    _clauses([*earlier, *reversed(asked)], related)
    assert _clauses(asked, related) == _clauses(asked, RelatedTests())

"""Rules checked before, by unit and text, moved to their present places.

A rule's checked form depends on its text and on its surroundings: everything that a rule can refer
to, which excludes other rules. So a rule without diagnostics keeps its meaning while the
surroundings are the same, wherever its text is. See `surroundings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from policy.checks import CheckedRule, rule_id
from policy.model import Span, Verdict
from policy.syntax import tree

# A unit's kind, and the text of a rule in it.
Key: TypeAlias = tuple[str, str]

# Rules that are in no file any more are kept until they are a fifth of all, and this many.
_MOST_FORGOTTEN = 200


class CheckedRules:
    """The texts and checked forms of the rules of one policy, kept between builds.

    Not thread-safe. `prune` removes rules that are in no file any more.
    """

    def __init__(self) -> None:
        self.known: dict[str, tree.KnownRule] = {}
        self._surroundings = ""
        self._rules: dict[Key, CheckedRule] = {}

    def enter(self, surroundings: str) -> None:
        """Forget rules that were checked in other surroundings."""
        if surroundings != self._surroundings:
            self._surroundings = surroundings
            self._rules = {}

    def all_of(
        self, context: str, rules: tuple[tree.KnownRule, ...], *, prefix: str, grants: bool
    ) -> list[CheckedRule] | None:
        """Return the checked forms of a unit's rules, as `rule` does, if all are remembered.

        Rules that grant are left out for a unit without grants.
        """
        found: list[CheckedRule] = []
        for rule in rules:
            checked = self.rule(context, rule, id=rule_id(rule.name, rule.span, prefix))
            if checked is None:
                return None
            if grants or checked.verdict is not Verdict.ALLOW:
                found.append(checked)
        return found

    def rule(
        self, context: str, rule: tree.Rule | tree.KnownRule, *, id: str
    ) -> CheckedRule | None:
        """Return a rule's checked form, with its span and its `id`."""
        key = (context, text_of(rule))
        found = self._rules.get(key)
        if found is None:
            return None
        # An unmoved rule is the same object from build to build.
        placed = self._rules[key] = _placed(found, id, rule.span)
        return placed

    def keep(self, context: str, rule: tree.Rule | tree.KnownRule, checked: CheckedRule) -> None:
        """Keep the checked form of a rule without diagnostics."""
        self._rules[context, text_of(rule)] = checked

    def meet(self, file: tree.PolicyFile) -> None:
        """Remember the texts of a file's rules."""
        self.known.update({rule.text: rule for rule in file.known})

    def prune(self, trees: Sequence[tree.PolicyFile]) -> None:
        """Forget rules that are in no tree any more, once there are many of them."""
        known = [file.known for file in trees]
        most = _MOST_FORGOTTEN + 5 * sum(map(len, known)) // 4
        if max(len(self.known), len(self._rules)) <= most:
            return
        self.known = {rule.text: rule for rules in known for rule in rules}
        parsed = (one for file in trees for one in file.statements if isinstance(one, tree.Rule))
        live = self.known.keys() | {rule.span.text for rule in parsed}
        self._rules = {key: rule for key, rule in self._rules.items() if key[1] in live}


def text_of(rule: tree.Rule | tree.KnownRule) -> str:
    """Return the text of a rule as written, comments included."""
    return rule.text if isinstance(rule, tree.KnownRule) else rule.span.text


def _placed(found: CheckedRule, id: str, span: Span) -> CheckedRule:
    """Return a rule with this span: the same object if it has not moved."""
    return found if found.id == id and found.span == span else at_place(found, id, span)


def at_place(rule: CheckedRule, id: str, span: Span) -> CheckedRule:
    """Return a checked rule with another span."""
    return CheckedRule(
        id=id,
        verdict=rule.verdict,
        tools=rule.tools,
        when=rule.when,
        unless=rule.unless,
        because=rule.because,
        audit=rule.audit,
        shadow=rule.shadow,
        with_approval=rule.with_approval,
        speaks_of_resources=rule.speaks_of_resources,
        slots=rule.slots,
        text=rule.text,
        terms=rule.terms,
        of_pack=rule.of_pack,
        reads=rule.reads,
        span=span,
    )

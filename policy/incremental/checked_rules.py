"""Rules checked before, by unit and text, moved to their present places.

What a rule comes to depends on its text and on its surroundings: on everything a rule can see,
which no other rule is part of. So a rule of which nothing was said means the same as long as the
surroundings stay, wherever its text stands. See `surroundings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from policy.checks import CheckedRule, rule_id
from policy.model import Span, Verdict
from policy.syntax import tree

# A unit's kind, and the text of a rule in it.
Key: TypeAlias = tuple[str, str]

# What no file holds any more is kept until it is a fifth of all, and this much.
_MOST_FORGOTTEN = 200


class CheckedRules:
    """The texts and the checked forms of the rules of one policy, kept from build to build.

    Not for several threads at once. What no file holds any more goes with `prune`.
    """

    def __init__(self) -> None:
        self.known: dict[str, tree.KnownRule] = {}
        self._surroundings = ""
        self._rules: dict[Key, CheckedRule] = {}

    def enter(self, surroundings: str) -> None:
        """Forget what was checked in other surroundings."""
        if surroundings != self._surroundings:
            self._surroundings = surroundings
            self._rules = {}

    def all_of(
        self, context: str, rules: tuple[tree.KnownRule, ...], *, prefix: str, gives: bool
    ) -> list[CheckedRule] | None:
        """Return what the rules of a unit come to, as `rule` does, if all of them are remembered.

        Of a unit that gives nothing, what gives is left out.
        """
        found: list[CheckedRule] = []
        for rule in rules:
            checked = self.rule(context, rule, id=rule_id(rule.name, rule.span, prefix))
            if checked is None:
                return None
            if gives or checked.verdict is not Verdict.ALLOW:
                found.append(checked)
        return found

    def rule(
        self, context: str, rule: tree.Rule | tree.KnownRule, *, id: str
    ) -> CheckedRule | None:
        """Return what a rule comes to, at its place and under its `id`."""
        key = (context, text_of(rule))
        found = self._rules.get(key)
        if found is None:
            return None
        # What stays where it was is the very same from build to build.
        placed = self._rules[key] = _placed(found, id, rule.span)
        return placed

    def keep(self, context: str, rule: tree.Rule | tree.KnownRule, checked: CheckedRule) -> None:
        """Keep what a rule came to, of which nothing was said."""
        self._rules[context, text_of(rule)] = checked

    def meet(self, file: tree.PolicyFile) -> None:
        """Know the rules of a file by their texts."""
        self.known.update({rule.text: rule for rule in file.known})

    def prune(self, trees: Sequence[tree.PolicyFile]) -> None:
        """Forget what no tree holds any more, once that is much of what is remembered."""
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
    """Return a rule at its place: the very same one if it stands there."""
    return found if found.id == id and found.span == span else at_place(found, id, span)


def at_place(rule: CheckedRule, id: str, span: Span) -> CheckedRule:
    """Return a checked rule as it stands elsewhere."""
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
        span=span,
    )

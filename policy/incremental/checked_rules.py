"""Rules that were checked, by unit and text, in; the same rules at their places, out.

What a rule comes to depends on its text and on its surroundings: on everything a rule can see,
which no other rule is part of. So a rule of which nothing was said means the same as long as the
surroundings stay, wherever its text stands. See `surroundings`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from policy.checks import CheckedRule, rule_id
from policy.source import Span
from policy.syntax import Head, KnownRule, tree
from policy.verdict import Verdict

# A unit's kind, and the text of a rule in it.
Key: TypeAlias = tuple[str, str]


# What no file holds any more is kept until it is a fifth of all, and this much.
_MOST_FORGOTTEN = 200


class CheckedRules:
    """The heads and the checked forms of the rules of one policy, kept from build to build.

    Not for several threads at once. What no file holds any more goes with `prune`.
    """

    def __init__(self) -> None:
        self.heads: dict[str, Head] = {}
        self._surroundings = ""
        self._rules: dict[Key, CheckedRule] = {}
        # What stood in other surroundings until something was good again.
        self._before: tuple[str, dict[Key, CheckedRule]] = ("", {})
        self._units: dict[tuple[str, int], tuple[object, tuple[CheckedRule, ...]]] = {}

    def enter(self, surroundings: str) -> None:
        """Forget what holds elsewhere; the last surroundings are kept aside, until `settle`."""
        if surroundings == self._surroundings:
            return
        left = (self._surroundings, self._rules)
        found, rules = self._before
        self._rules = rules if found == surroundings else {}
        self._surroundings, self._before = surroundings, left
        self._units = {}

    def settle(self) -> None:
        """Let go of the surroundings before these: what was built in them was good."""
        self._before = ("", {})

    def unit(
        self, context: str, statements: tuple[tree.Statement, ...]
    ) -> tuple[CheckedRule, ...] | None:
        """Return the checked rules of the very same statements, if all were remembered."""
        found = self._units.get((context, id(statements)))
        return None if found is None or found[0] is not statements else found[1]

    def keep_unit(
        self,
        context: str,
        statements: tuple[tree.Statement, ...],
        rules: tuple[CheckedRule, ...],
    ) -> None:
        """Keep what a unit came to; all of its rules are remembered."""
        self._units[context, id(statements)] = (statements, rules)

    def all_of(
        self, context: str, statements: Sequence[tree.Statement], *, prefix: str, gives: bool
    ) -> list[CheckedRule] | None:
        """Return what the rules of a unit come to, as `rule` does, if all of them are known.

        Of a unit that gives nothing, what gives is left out.
        """
        known = self._rules
        keys = {(context, one.head.text) for one in statements if type(one) is KnownRule}
        if not known.keys() >= keys:
            return None
        found: list[CheckedRule] = []
        for rule in statements:
            if type(rule) is KnownRule:
                key, span = (context, rule.head.text), rule.span
                checked = known[key] = _placed(known[key], rule_id(rule.name, span, prefix), span)
                if gives or checked.verdict is not Verdict.ALLOW:
                    found.append(checked)
            elif isinstance(rule, tree.Rule):
                return None
        return found

    def rule(self, context: str, rule: KnownRule, *, id: str) -> CheckedRule | None:
        """Return what a rule comes to, at its place and under its `id`."""
        key = (context, rule.head.text)
        found = self._rules.get(key)
        if found is None:
            return None
        # What stays where it was is the very same from build to build.
        placed = self._rules[key] = _placed(found, id, rule.span)
        return placed

    def keep(self, context: str, rule: KnownRule, checked: CheckedRule) -> None:
        """Keep what a rule came to, of which nothing was said."""
        self._rules[context, rule.head.text] = checked

    def meet(self, statements: Iterable[tree.Statement]) -> None:
        """Know the rules of a file that was parsed by their texts, and let go of their parts."""
        heads = self.heads
        for rule in statements:
            if isinstance(rule, KnownRule):
                if rule.is_parsed:
                    rule.forget()
                head = rule.head
                if heads.get(head.text) is not head:
                    heads[head.text] = head

    def prune(self, trees: Iterable[tree.PolicyFile]) -> None:
        """Forget what no tree holds any more, once that is much of what is remembered."""
        statements = [file.statements for file in trees]
        most = _MOST_FORGOTTEN + 5 * sum(map(len, statements)) // 4
        if max(len(self.heads), len(self._rules), len(self._units)) <= most:
            return
        live = {
            rule.head.text: rule.head
            for rules in statements
            for rule in rules
            if isinstance(rule, KnownRule)
        }
        held = set(map(id, statements))
        self.heads = live
        self._rules = {key: rule for key, rule in self._rules.items() if key[1] in live}
        self._units = {key: unit for key, unit in self._units.items() if key[1] in held}


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

"""Skip parsing of rules whose text was parsed before, until their parts are needed.

The result of parsing a statement depends on its text alone. So for a rule that parsed without a
diagnostic, its text, name and verdict suffice while its checked form is remembered.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

from policy.model import Source
from policy.syntax import tree
from policy.syntax.parser import Parsed
from policy.syntax.statement import parse_statement
from policy.syntax.statement_splitter import without_comments


def parse_known(rule: tree.KnownRule) -> tree.Rule:
    """Return the rule with its parts."""
    start, end = rule.span.start, rule.span.end
    text = without_comments(rule.source, start, end)
    node = parse_statement(
        rule.source, text, start, start_rule="statement", engine=rule.engine
    ).node
    assert isinstance(node, tree.Rule)
    return node


def without_parts(parsed: Parsed, *, engine: tree.Engine = "tables") -> Parsed:
    """Return a file with its rules reduced to their texts, except those with a diagnostic."""
    source = parsed.tree.source
    said = sorted(one.span.start for one in parsed.diagnostics if one.span is not None)
    known = list(parsed.tree.known)
    others: list[tree.Statement] = []
    for statement in parsed.tree.statements:
        span = statement.span
        is_silent = bisect_left(said, span.start) == bisect_left(said, span.end)
        if is_silent and isinstance(statement, tree.Rule):
            known.append(_known(statement, source, engine))
        else:
            others.append(statement)
    known.sort(key=lambda rule: rule.span.start)
    return replace(parsed, tree=replace(parsed.tree, statements=tuple(others), known=tuple(known)))


def _known(rule: tree.Rule, source: Source, engine: tree.Engine) -> tree.KnownRule:
    return tree.KnownRule(
        name=rule.name,
        verdict=rule.verdict,
        shadow=rule.shadow,
        text=rule.span.text,
        engine=engine,
        source=source,
        span=rule.span,
    )

"""Edits of a rule file's text, as proposals make them: a new rule, or an exception to one.

Only what has to change does, and comments stay; `finished` keeps a canonical file canonical.
"""

from __future__ import annotations

from dataclasses import replace

from policy.model import Source, Verdict
from policy.syntax import Engine, Parsed, format_source, parse, print_clause, print_tree, tree
from policy.verify.proposal.exact_condition import NOWHERE


def rule_at(parsed: Parsed, name: str, line: int) -> tree.Rule | None:
    """Return the rule with this name, or the unnamed one at this line."""
    rules = [found for found in parsed.tree.statements if isinstance(found, tree.Rule)]
    named = [rule for rule in rules if rule.name is not None and rule.name == name]
    if named:
        return named[0]
    here = [rule for rule in rules if rule.name is None and rule.span.line == line]
    return here[0] if here else None


def with_rule(parsed: Parsed, rule: tree.Rule) -> str:
    """Return the text with one more rule, after the last rule or default."""
    anchors = [s for s in parsed.tree.statements if isinstance(s, tree.Rule | tree.Default)]
    text = parsed.tree.source.text
    end = _line_end(text, anchors[-1].span.end) if anchors else len(text)
    return f"{text[:end]}{_on_its_own(rule)}{text[end:]}"


def with_exception(parsed: Parsed, rule: tree.Rule, conditions: tuple[tree.Expr, ...]) -> str:
    """Return the text with an `unless` in the rule for these conditions, beside any existing."""
    return _excepted(parsed, rule, conditions)


def with_allowed_part(
    parsed: Parsed, rule: tree.Rule, conditions: tuple[tree.Expr, ...], *, name: str, tool: str
) -> str:
    """Return the text with a rule `with approval` split in two.

    The rule now excludes the calls for which these conditions hold, and a new rule after it allows
    those of them that it allowed with approval. Conditions on accessed resources are only in the
    new rule: in an `unless`, every resource would have to be inside for it to hold.
    """
    left_out = tuple(c for c in conditions if not isinstance(c, tree.ResourceTest))
    allowed = replace(
        rule,
        name=name,
        tools=exact_tool(tool),
        clauses=_of_allow(rule.clauses, conditions),
    )
    text = _excepted(parsed, rule, left_out)
    length = len(text) - len(parsed.tree.source.text)
    end = _line_end(text, rule.span.end + length)
    return f"{text[:end]}{_on_its_own(allowed)}{text[end:]}"


def allowing(name: str, tool: str, conditions: tuple[tree.Expr, ...]) -> tree.Rule:
    """Return the rule that allows this tool where all of the conditions hold."""
    return tree.Rule(
        name=name,
        shadow=False,
        verdict=Verdict.ALLOW,
        tools=exact_tool(tool),
        clauses=(tree.When(test=all_of(conditions), span=NOWHERE),),
        span=NOWHERE,
    )


def exact_tool(name: str) -> tree.Tools:
    """Return the selector for exactly one tool."""
    return tree.Tools(
        included=(tree.ToolRef(origin=None, pattern=name, span=NOWHERE),), span=NOWHERE
    )


def all_of(conditions: tuple[tree.Expr, ...]) -> tree.Expr:
    """Return one condition that holds where all of these hold."""
    flat: list[tree.Expr] = []
    for condition in conditions:
        parts = condition.operands if isinstance(condition, tree.And) else (condition,)
        flat += (part for part in parts if part not in flat)
    return flat[0] if len(flat) == 1 else tree.And(operands=tuple(flat), span=NOWHERE)


def _excepted(parsed: Parsed, rule: tree.Rule, conditions: tuple[tree.Expr, ...]) -> str:
    text = parsed.tree.source.text
    new = all_of(conditions)
    old = next((clause for clause in rule.clauses if isinstance(clause, tree.Unless)), None)
    if old is None:
        clause = print_clause(tree.Unless(test=new, span=NOWHERE))
        return f"{text[: rule.span.end]}\n  {clause}{text[rule.span.end :]}"
    before = old.test.operands if isinstance(old.test, tree.Or) else (old.test,)
    either = tree.Or(operands=(*before, new), span=NOWHERE)
    clause = print_clause(tree.Unless(test=either, span=NOWHERE))
    return f"{text[: old.span.start]}{clause}{text[old.span.end :]}"


def _of_allow(
    clauses: tuple[tree.Clause, ...], conditions: tuple[tree.Expr, ...]
) -> tuple[tree.Clause, ...]:
    tests = tuple(clause.test for clause in clauses if isinstance(clause, tree.When))
    kept = [clause for clause in clauses if isinstance(clause, tree.After | tree.Unless)]
    return (tree.When(test=all_of((*tests, *conditions)), span=NOWHERE), *kept)


def _on_its_own(rule: tree.Rule) -> str:
    text = print_tree(tree.PolicyFile(source=_NONE, header=None, statements=(rule,)))
    return f"\n\n{text.rstrip()}"


_NONE = Source(name="", text="")


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


def finished(parsed: Parsed, text: str, *, engine: Engine) -> str:
    """Return a new text, in canonical form if the file was; `engine` as in `parse`."""
    source = parsed.tree.source
    text = text if text.endswith("\n") else text + "\n"
    if parsed.diagnostics or format_source(parsed) != source.text:
        return text
    return format_source(parse(Source(name=source.name, text=text), engine=engine))

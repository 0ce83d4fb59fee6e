"""Printing, parsing and formatting policy text keep its meaning."""

from __future__ import annotations

from hypothesis import assume, example, given
from hypothesis import strategies as st

from policy.model import Source
from policy.syntax import Parsed, format_source, parse, print_clause, print_expr, print_tree
from policy.syntax import tree as t
from tests import strategies


def read(text: str) -> Parsed:
    return parse(Source(name="law.policy", text=text))


@given(strategies.policy_files())
def test_printing_and_parsing_again_is_the_identity(tree: t.PolicyFile) -> None:
    text = print_tree(tree)
    parsed = read(text)
    assert parsed.diagnostics == (), text
    assert parsed.tree == tree, text


@given(strategies.expressions)
def test_an_expression_is_printed_on_one_line(expression: t.Expr) -> None:
    said = print_expr(expression)
    assert "\n" not in said
    (let,) = read(f"policy for every agent\nlet x = {said}\n").tree.statements
    assert isinstance(let, t.Let)
    assert let.value == expression


@given(strategies.clauses)
def test_a_printed_clause_parses_to_the_clause(clauses: tuple[t.Clause, ...]) -> None:
    said = " ".join(map(print_clause, clauses))
    (rule,) = read(f"policy for every agent\ndeny * {said}\n").tree.statements
    assert isinstance(rule, t.Rule)
    assert rule.clauses == clauses


_comments = st.from_regex(r"#[ a-z\"/#]{0,5}", fullmatch=True).map(str.rstrip)


@st.composite
def commented(draw: st.DrawFn) -> str:
    """Draw the text of a policy with comments and blank lines strewn between its words."""
    lines: list[str] = []
    for line in print_tree(draw(strategies.policy_files())).splitlines():
        if draw(st.booleans()):
            lines.append(draw(st.sampled_from(["", "  "])) + draw(_comments))
        lines += draw(st.sampled_from([[], [], [""], ["", "  ", ""]]))
        behind = draw(st.sampled_from(["", "  "]))
        lines.append(line + (behind + draw(_comments) if behind else ""))
    return draw(st.sampled_from(["\n", "\r\n"])).join([*lines, ""])


_rules = st.builds(
    "policy for every agent\n{}deny * when {} and {}\n".format,
    st.sampled_from(["", "a: "]),
    *[strategies.expressions.map(lambda said: f"({print_expr(said)})")] * 2,
)


@st.composite
def commented_inside(draw: st.DrawFn) -> str:
    """Draw the text of a policy with comments wherever a statement may go on in the next line."""
    text = draw(st.one_of(_rules, strategies.policy_files(most=2).map(print_tree)))
    tree = read(text).tree
    last = text.rstrip().rfind("\n") + 1
    places = [place for place in range(last, len(text)) if text[place - 1] in " ,(["]
    for place in sorted(draw(st.sets(st.sampled_from(places or [0]), max_size=2)))[::-1]:
        before = draw(st.sampled_from([" ", " ", "\n  "]))
        broken = f"{text[:place]}{before}{draw(_comments)}\n  {text[place:]}"
        # A blank inside a string is none between words.
        parsed = read(broken)
        if not parsed.diagnostics and parsed.tree == tree:
            text = broken
    return text


commented_anywhere = st.one_of(commented(), commented_inside())


@given(commented_anywhere)
def test_formatting_keeps_the_meaning_and_every_comment(text: str) -> None:
    parsed = read(text)
    assert parsed.diagnostics == ()
    again = read(format_source(parsed))
    assert again.tree == parsed.tree
    assert sorted(c.text for c in again.tree.comments) == sorted(
        c.text for c in parsed.tree.comments
    )


@given(commented_anywhere)
@example(
    "policy for every agent\na: allow file_read\n  when reads only workspace # why\n"
    '  and input.path != "x"\n'
)
@example('policy for every agent\ndeny * when reads ["a", # one\n  "b"]\n')
def test_formatting_is_idempotent(text: str) -> None:
    once = format_source(read(text))
    assert format_source(read(once)) == once


@given(st.text())
@example("\ufeff\x00\r\u202e#")
@example('allow "\\')
@example("policy for every agent\nx: deny * when input.a matches /")
def test_any_text_gives_a_tree_or_errors_inside_it(text: str) -> None:
    _inside(text)


def _inside(text: str) -> None:
    parsed = read(text)
    for diagnostic in parsed.diagnostics:
        span = diagnostic.span
        assert span is not None
        assert 0 <= span.start <= span.end <= len(text)
        assert diagnostic.message
        assert diagnostic.help
    assert isinstance(format_source(parsed), str)


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """Draw a valid policy with pieces of it deleted, doubled, moved or replaced."""
    text = print_tree(draw(strategies.policy_files()))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        piece = text[start:end]
        match draw(st.sampled_from(["delete", "double", "move", "replace"])):
            case "delete":
                text = text[:start] + text[end:]
            case "double":
                text = text[:end] + piece + text[end:]
            case "move":
                rest = text[:start] + text[end:]
                to = draw(st.integers(0, len(rest)))
                text = rest[:to] + piece + rest[to:]
            case _:
                text = text[:start] + draw(st.text(max_size=4)) + text[end:]
    return text


@given(spoiled())
def test_a_broken_policy_gives_a_tree_or_errors_inside_it(text: str) -> None:
    _inside(text)


@given(strategies.policy_files(), st.text(), st.integers(0, 4))
def test_a_broken_statement_leaves_the_others_as_they_are(
    tree: t.PolicyFile, broken: str, place: int
) -> None:
    statement = " ".join(f"?? {broken}".split())
    before = t.PolicyFile(
        source=tree.source, header=tree.header, statements=tree.statements[:place]
    )
    assume(before.header is not None)
    after = t.PolicyFile(source=tree.source, header=None, statements=tree.statements[place:])
    parsed = read(f"{print_tree(before)}{statement}\n{print_tree(after)}")
    assert parsed.tree == tree
    assert parsed.diagnostics

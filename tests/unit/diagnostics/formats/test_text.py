"""Diagnostics as text: the message, the source line, help and page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policy.diagnostics import Label, diagnose, render
from policy.model import Source, Span

WRITER = Source(
    name="agents/writer.policy",
    text='policy for agent "writer"\n' + "\n" * 10 + "allow file_raed when reads only project\n",
)


def at(source: Source, text: str) -> Span:
    """Return the span of the first occurrence of `text`."""
    start = source.text.index(text)
    return source.span(start, start + len(text))


def one(line: str, marked: str, *, label: str = "") -> str:
    """Return how a mistake at `marked` in a file of one line is shown."""
    source = Source(name="a.policy", text=line)
    problem = diagnose("syntax-error", "wrong", span=at(source, marked), label=label)
    return render([problem], sources={source.name: source})


def under(shown: str) -> tuple[str, str]:
    """Return the source line of a rendering and the marks below it, without the gutter."""
    lines = shown.splitlines()
    return lines[2].removeprefix("1 | "), lines[3].removeprefix("  | ")


def test_a_diagnostic_shows_its_line_its_mark_its_help_and_its_page() -> None:
    problem = diagnose(
        "unknown-tool",
        "no tool is called `file_raed`",
        span=at(WRITER, "file_raed"),
        label="not in the catalogue",
        help="did you mean `file_read`?",
    )
    assert render([problem], sources={WRITER.name: WRITER}, root="rules/") == (
        "error[unknown-tool]: no tool is called `file_raed`\n"
        "  --> rules/agents/writer.policy:12:7\n"
        "12 | allow file_raed when reads only project\n"
        "   |       ^^^^^^^^^ not in the catalogue\n"
        "   = help: did you mean `file_read`?\n"
        "   = page: placet check --explain unknown-tool\n"
        "\n"
        "1 error\n"
    )


def test_what_ships_with_placet_lies_in_no_folder_of_the_policy() -> None:
    pack = Source(name="placet:network", text="pack\n")
    problem = diagnose("syntax-error", "a name is missing", span=at(pack, "pack"))
    shown = render([problem], sources={pack.name: pack}, root="rules/")
    assert " --> placet:network:1:1\n" in shown
    assert '"uri": "placet:network"' in render([problem], "sarif", root="rules/")


def test_other_places_are_shown_with_their_own_remarks() -> None:
    other = Source(name="global.policy", text="policy for every agent\n")
    problem = diagnose(
        "unknown-name",
        "no set is called `project`",
        span=at(WRITER, "project"),
        labels=(
            Label(span=at(other, "every agent"), text="elsewhere"),
            Label(span=at(WRITER, "writer"), text="another line"),
            Label(span=at(WRITER, "reads"), text="same line"),
        ),
    )
    shown = render([problem], sources={WRITER.name: WRITER, other.name: other})
    assert shown.splitlines()[2:-3] == [
        "12 | allow file_raed when reads only project",
        "   |                                 ^^^^^^^",
        "   |                      ----- same line",
        "  ::: global.policy:1:12",
        " 1 | policy for every agent",
        "   |            ----------- elsewhere",
        "  ::: agents/writer.policy:1:19",
        ' 1 | policy for agent "writer"',
        "   |                   ------ another line",
    ]


def test_a_mistake_without_a_line_names_its_file() -> None:
    shown = render([diagnose("empty-policy", "no policy file is here", file="rules/")])
    assert shown.splitlines()[:2] == [
        "error[empty-policy]: no policy file is here",
        " --> rules/",
    ]


def test_a_line_whose_text_is_not_at_hand_is_named_without_an_excerpt() -> None:
    problem = diagnose("syntax-error", "wrong", span=at(WRITER, "allow"), label="here")
    assert render([problem]).splitlines()[1:3] == ["  --> agents/writer.policy:12:1", "   = here"]


def test_a_mistake_over_several_lines_is_marked_to_the_end_of_its_first() -> None:
    source = Source(name="a.policy", text="deny *\n  when x\n")
    problem = diagnose("syntax-error", "wrong", span=source.span(5, 12))
    assert under(render([problem], sources={source.name: source})) == ("deny *", "     ^")


def test_the_end_of_a_line_can_be_marked() -> None:
    source = Source(name="a.policy", text="deny\n")
    problem = diagnose("syntax-error", "wrong", span=source.span(4, 4))
    assert under(render([problem], sources={source.name: source})) == ("deny", "    ^")


def test_marks_stand_under_what_follows_tabs_and_wide_letters() -> None:
    assert under(one("a\tb x", "x")) == ("a   b x", "      ^")
    assert under(one("漢字 x", "x")) == ("漢字 x", "     ^")
    assert under(one("漢字 x", "字")) == ("漢字 x", "  ^^")
    assert under(one("e\u0301 x", "x")) == ("e\u0301 x", "  ^")


def test_nothing_in_a_source_line_is_hidden_or_reordered() -> None:
    assert under(one("a\u202eb\x1b[2Jc", "c")) == (
        "a\\u{202e}b\\u{1b}[2Jc",
        " " * 19 + "^",
    )
    assert under(one("a\u200bb", "\u200b")) == ("a\\u{200b}b", " ^^^^^^^^")


def test_text_from_a_policy_cannot_start_a_line_of_its_own() -> None:
    problem = diagnose("unknown-tool", "no tool is called `a\nerror[x]: b\r\x1b[0m`", help="x\ny")
    shown = render([problem])
    assert "no tool is called `a\\u{a}error[x]: b\\u{d}\\u{1b}[0m`" in shown
    assert "help: x\\u{a}y\n" in shown


def test_a_long_line_is_shown_around_its_mistake() -> None:
    shown, marks = under(one("a" * 5000 + "X" + "b" * 5000, "X", label="here"))
    assert len(shown) < 200
    assert shown.startswith("…a")
    assert shown.endswith("b…")
    assert marks == " " * shown.index("X") + "^ here"


def test_the_last_line_counts_what_was_found() -> None:
    error, warning = (
        diagnose("syntax-error", "wrong"),
        diagnose("byte-order-mark", "mark", file="a"),
    )
    assert render([]) == "no problems found\n"
    assert render([error, warning]).endswith("\n1 error, 1 warning\n")
    assert render([warning, *(diagnose("syntax-error", w) for w in "ab")]).endswith(
        "\n2 errors, 1 warning\n"
    )


def test_the_same_diagnostics_in_any_order_are_shown_the_same() -> None:
    problems = [diagnose("syntax-error", w, span=at(WRITER, w)) for w in ("reads", "allow")]
    assert render(problems) == render(problems[::-1])
    assert render(problems).index("allow") < render(problems).index("reads")


@given(st.text(max_size=300), st.data())
def test_any_text_and_place_can_be_shown(text: str, data: st.DataObject) -> None:
    source = Source(name="a.policy", text=text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    problem = diagnose("syntax-error", text, span=source.span(start, end), label=text, help=text)
    lines = render([problem], sources={source.name: source}).splitlines()
    assert len(lines) in (7, 8)
    assert "^" in lines[3]

"""Edits of one key leave every other byte of a file as it is."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.config_edit import read_value, write_key, write_value
from policy.config_edit.toml_edit import Missing, set_value, unset_value, value_at
from policy.config_edit.toml_values import read_key
from policy.generation import comments
from policy.values import Unreadable
from tests.examples import examples

FILE = """\
# Configuration of the desk.

[timeouts]   # how long
default = '30s'   # of any tool
tools = { bash_exec = "2m", web_fetch = 20 }

# What may be done.
[permissions.tools]
  "memory_*" = "allow"
  bash       = "deny"       # never

# The researcher.
[permissions.agents.researcher.tools]
web_search = "ask"
"""


def put(text: str, key: str, value: Any) -> str:
    path = read_key(key)
    assert not isinstance(path, Unreadable)
    edited = set_value(text, path, value)
    assert isinstance(edited, str), edited
    return edited


def take(text: str, key: str) -> str:
    path = read_key(key)
    assert not isinstance(path, Unreadable)
    edited = unset_value(text, path)
    assert isinstance(edited, str), edited
    return edited


def changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines that went and those that came, between what both have in common."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


def test_a_value_is_written_in_its_place() -> None:
    edited = put(FILE, "permissions.tools.bash", "ask")
    assert changed(FILE, edited) == (
        ['  bash       = "deny"       # never'],
        ['  bash       = "ask"       # never'],
    )


def test_a_new_key_goes_below_the_last_one_of_its_table() -> None:
    edited = put(FILE, "permissions.tools.code_exec", "ask")
    assert changed(FILE, edited) == ([], ['  code_exec = "ask"'])
    assert edited.index("code_exec") < edited.index("# The researcher.")


def test_a_new_table_goes_to_the_end() -> None:
    edited = put(FILE, "service.bash.timeout", "90s")
    assert edited == FILE + '\n[service.bash]\ntimeout = "90s"\n'


def test_a_key_of_an_inline_table_is_set_within_it() -> None:
    edited = put(FILE, "timeouts.tools.bash_exec", "5m")
    assert changed(FILE, edited)[1] == ['tools = { bash_exec = "5m", web_fetch = 20 }']
    assert tomllib.loads(put(FILE, "timeouts.tools.file_read", 5))["timeouts"]["tools"] == {
        "bash_exec": "2m",
        "web_fetch": 20,
        "file_read": 5,
    }
    assert tomllib.loads(take(FILE, "timeouts.tools.web_fetch"))["timeouts"]["tools"] == {
        "bash_exec": "2m"
    }


def test_a_dotted_key_goes_beside_its_kind() -> None:
    text = 'permissions.tools.a = "deny" # a\n\n[service]\n'
    edited = put(text, "permissions.tools.b", "ask")
    assert edited == 'permissions.tools.a = "deny" # a\npermissions.tools.b = "ask"\n\n[service]\n'
    assert take(edited, "permissions.tools.b") == text


def test_an_entry_goes_with_the_comment_on_its_line_alone() -> None:
    edited = take(FILE, "permissions.tools.bash")
    assert changed(FILE, edited) == (['  bash       = "deny"       # never'], [])


def test_a_table_goes_with_its_last_key_unless_something_is_said_there() -> None:
    assert take("[a]\nx = 1\n\n[b]\ny = 2\n", "b.y") == "[a]\nx = 1\n\n"
    assert take("[a]\nx = 1\n\n[b]\ny = 2\n\n[c]\n", "b.y") == "[a]\nx = 1\n\n[c]\n"
    assert take("[b] # why\ny = 2\n", "b.y") == "[b] # why\n"
    assert take("[b]\n# why\ny = 2\n", "b.y") == "[b]\n# why\n"
    assert take("[b]\ny = 2\n\n# of the next\n[c]\n", "b.y") == "[b]\n\n# of the next\n[c]\n"


def test_line_endings_stay_those_of_the_file() -> None:
    text = FILE.replace("\n", "\r\n")
    for key in ("permissions.tools.code_exec", "service.bash.timeout", "permissions.tools.bash"):
        edited = put(text, key, "ask")
        assert edited.count("\n") == edited.count("\r\n")
        assert edited.replace("\r\n", "\n") == put(FILE, key, "ask")


def test_a_file_without_a_last_line_ending_gets_one() -> None:
    assert put("[a]\nx = 1", "a.y", 2) == "[a]\nx = 1\ny = 2\n"
    assert take("[a]\nx = 1\ny = 2", "a.y") == "[a]\nx = 1\n"
    assert put("# nothing", "a.y", 2) == "# nothing\n\n[a]\ny = 2\n"


@pytest.mark.parametrize(
    ("text", "key", "why"),
    [
        (FILE, "permissions.tools", "is a table"),
        ('a = "x"\n', "a.b", "not a table"),
        ("[[a]]\nb = 1\n", "a.b", "list of tables"),
        ("[[a]]\nb = 1\n", "a.c.d", "list of tables"),
        ("a = [\n 1, # one\n]\n", "a", "comments"),
        ("a = { b = [ 1, # one\n 2 ] }\n", "a.b", "comments"),
    ],
)
def test_what_cannot_be_edited_by_key_is_refused(text: str, key: str, why: str) -> None:
    path = read_key(key)
    assert not isinstance(path, Unreadable)
    refused = set_value(text, path, 1)
    assert isinstance(refused, Unreadable)
    assert why in refused.reason


def test_a_table_is_not_unset_as_a_whole() -> None:
    refused = unset_value(FILE, ("permissions", "tools"))
    assert isinstance(refused, Unreadable)
    assert "one by one" in refused.reason
    assert unset_value(FILE, ("permissions", "tools", "nothing")) == Missing()


# --- words


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("permissions.tools.memory_*", ("permissions", "tools", "memory_*")),
        ('permissions.tools."mcp github/*"', ("permissions", "tools", "mcp github/*")),
        ("a . 'b.c' . \"d\\u0041\"", ("a", "b.c", "dA")),
    ],
)
def test_a_key_is_dotted_and_quoted_where_needed(text: str, path: tuple[str, ...]) -> None:
    assert read_key(text) == path
    assert read_key(write_key(path)) == path


@pytest.mark.parametrize(
    "text",
    ["", " ", ".", "a.", ".a", "a..b", "a = 1", "a\n.b", "a b", '"a', "a]", "\ud800", "a." * 40],
)
def test_what_is_no_key_is_refused(text: str) -> None:
    assert isinstance(read_key(text), Unreadable)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ask", "ask"),
        ("30s", "30s"),
        ("file_*", "file_*"),
        ("true", True),
        ("12", 12),
        ('"12"', "12"),
        ('["a", "b"]', ["a", "b"]),
        ('"# no comment"', "# no comment"),
    ],
)
def test_a_value_is_toml_or_a_single_word(text: str, value: Any) -> None:
    assert read_value(text) == value


@pytest.mark.parametrize("text", ["", "two words", "[", '"a" # b', "1\nb = 2", "a=b", "\ud800"])
def test_what_is_no_value_is_refused(text: str) -> None:
    assert isinstance(read_value(text), Unreadable)


@pytest.mark.parametrize("value", [None, object(), {1: 2}, [[None]], "\ud800"])
def test_what_toml_has_no_word_for_is_refused(value: Any) -> None:
    assert isinstance(write_value(value), Unreadable)


# --- laws

NAMES = st.sampled_from(["a", "b", "c", "a.b", "memory_*", "é", 'q"', "#", "[x]", "true", ""])
SCALARS = st.one_of(
    st.sampled_from(["ask", "deny", "# no", "it's", 'say "it"', "a\nb", "'''", '"""']),
    st.booleans(),
    st.integers(-9, 9),
    st.floats(allow_nan=False),
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=3))
COMMENTS = st.sampled_from(["# it's", '# "x" = 1', "#", "# [t]", "# é", "## a.b = 'c"])
ENDINGS = st.sampled_from(["\n", "\r\n"])


@st.composite
def files(draw: st.DrawFn) -> str:
    """Give TOML with comments, blank lines, indents and odd quoting in odd places."""
    lines: list[str] = []
    tables = draw(st.lists(st.lists(NAMES, min_size=1, max_size=3), max_size=4))
    said: list[str] = ["", *(f"[{write_key(tuple(table))}]" for table in tables)]
    for header in said:
        lines += draw(st.lists(st.one_of(COMMENTS, st.just("")), max_size=2))
        if header:
            lines.append(draw(st.sampled_from(["", "  "])) + header + draw(tails()))
        for name in draw(st.lists(NAMES, max_size=3, unique=True)):
            lines += draw(st.lists(st.one_of(COMMENTS, st.just("")), max_size=1))
            lines.append(draw(entries(name)) + draw(tails()))
    text = "".join(line + draw(ENDINGS) for line in lines)
    return text.rstrip("\r\n") if draw(st.booleans()) else text


@st.composite
def tails(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(["", " ", "  "])) + draw(st.one_of(st.just(""), COMMENTS))


@st.composite
def entries(draw: st.DrawFn, name: str) -> str:
    key = write_key((name,)) if draw(st.booleans()) else write_key((name, draw(NAMES)))
    value = write_value(draw(VALUES))
    form = draw(st.sampled_from(["{}", "{}", "[\n  {},\n]", "{{ k = {} }}", "{{ k = 1, l = {} }}"]))
    return f"{draw(st.sampled_from(['', ' ']))}{key} = {form.format(value)}"


def is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except ValueError:
        return False
    return True


FILES = files().filter(is_toml)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(tuple)


def comment_lines(text: str) -> list[str]:
    """Return the lines that hold nothing but a comment."""
    return [line.strip() for line in text.splitlines() if line.strip() in comments(text)]


def without_empty(table: dict[str, Any]) -> dict[str, Any]:
    parts = {k: without_empty(v) if isinstance(v, dict) else v for k, v in table.items()}
    return {k: v for k, v in parts.items() if v != {}}


@settings(max_examples=examples(100))
@given(text=FILES, path=PATHS, value=VALUES)
def test_setting_changes_that_key_and_keeps_every_comment(
    text: str, path: tuple[str, ...], value: Any
) -> None:
    edited = set_value(text, path, value)
    if isinstance(edited, Unreadable):
        return
    assert comments(edited) == comments(text)
    assert value_at(tomllib.loads(edited), path) == value
    went, came = changed(text, edited)
    assert len(went) <= 3 and len(came) <= 4


@settings(max_examples=examples(100))
@given(text=FILES, path=PATHS, value=VALUES)
def test_what_was_set_can_be_unset(text: str, path: tuple[str, ...], value: Any) -> None:
    if value_at(tomllib.loads(text), path) is not None:
        return
    edited = set_value(text, path, value)
    if isinstance(edited, Unreadable):
        return
    back = unset_value(edited, path)
    assert isinstance(back, str)
    assert comments(back) == comments(text)
    assert without_empty(tomllib.loads(back)) == without_empty(tomllib.loads(text))


@settings(max_examples=examples(100))
@given(text=FILES, data=st.data())
def test_unsetting_keeps_every_line_of_comment(text: str, data: st.DataObject) -> None:
    known = list(paths(tomllib.loads(text), ()))
    if not known:
        return
    path = data.draw(st.sampled_from(known))
    edited = unset_value(text, path)
    if isinstance(edited, str):
        assert comment_lines(edited) == comment_lines(text)
        assert value_at(tomllib.loads(edited), path) is None


def paths(table: dict[str, Any], above: tuple[str, ...]) -> Any:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from paths(value, (*above, name))
        else:
            yield (*above, name)


@given(text=st.text(alphabet="a.b =\"'#[]{}\n\t1*\\", max_size=30))
def test_no_text_for_a_key_or_value_gets_out_of_its_place(text: str) -> None:
    value = read_value(text)
    path = read_key(text)
    if not isinstance(path, Unreadable):
        assert read_key(write_key(path)) == path
    if not isinstance(value, Unreadable):
        written = write_value(value)
        assert isinstance(written, str) and "\n" not in written

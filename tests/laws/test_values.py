"""The parsers of values agree with simple references, never raise, and take bounded time."""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from policy.model import freeze
from policy.programs import (
    NO_PROFILES,
    ScriptAnalysis,
    analyse_script,
    matches_command,
    read_command_pattern,
)
from policy.shell import Script, read_script
from policy.values import (
    PathContext,
    Regex,
    Unreadable,
    add,
    check_value,
    compare_numbers,
    compare_text,
    compile_name_glob,
    compile_path_glob,
    compile_regex,
    compile_text_glob,
    escape_for_display,
    escape_glob,
    exact,
    has_wildcard,
    host_in,
    is_ordinary,
    links_in,
    multiply,
    parse_date,
    parse_duration,
    parse_time,
    path_in,
    path_overlaps,
    path_within,
    read_endpoint,
    read_host_pattern,
    read_json,
    read_path,
    read_path_pattern,
    read_recipient,
    recipient_in,
    subtract,
    url_parts,
    with_scheme,
    without_invisible,
)
from policy.values.globs import matches_sequence, path_segments

CONTEXT = PathContext(cwd="/w/sub", workspace="/w", home="/home/ada")
# Letters that make patterns and texts meet often.
glob_text = st.text("ab*?\\/", max_size=8)
plain_text = st.text("ab/\n*", max_size=10)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


# ------------------------------------------------------------------ globs


def _reference(pattern: str, text: str) -> bool:
    """Match by trying everything."""
    if not pattern:
        return not text
    head, rest = pattern[0], pattern[1:]
    if head == "*":
        return any(_reference(rest, text[cut:]) for cut in range(len(text) + 1))
    if head == "\\" and rest[:1] in ("*", "?", "\\") and rest:
        return text[:1] == rest[0] and _reference(rest[1:], text[1:])
    return bool(text) and (head == "?" or head == text[0]) and _reference(rest, text[1:])


def _reference_path(pattern: list[str], segments: list[str]) -> bool:
    if not pattern:
        return not segments
    if pattern[0] == "**":
        cuts = range(len(segments) + 1)
        return any(_reference_path(pattern[1:], segments[cut:]) for cut in cuts)
    if not segments:
        return False
    return _reference(pattern[0], segments[0]) and _reference_path(pattern[1:], segments[1:])


@given(glob_text, plain_text)
def test_a_text_glob_agrees_with_trying_everything(pattern: str, text: str) -> None:
    assert compile_text_glob(pattern)(text) == _reference(pattern, text)
    assert compile_name_glob(pattern)(text) == _reference(pattern, text)


@given(st.lists(st.sampled_from(["a", "b", "a*", "?", "*", "**", ""]), max_size=5),
       st.lists(st.sampled_from(["a", "b", "ab", ""]), max_size=6))  # fmt: skip
def test_a_path_glob_agrees_with_trying_everything(pattern: list[str], names: list[str]) -> None:
    source, text = "/".join(pattern), "/".join(names)
    expected = _reference_path(list(path_segments(source)), list(path_segments(text)))
    assert compile_path_glob(source)(text) == expected


@given(any_text)
def test_an_escaped_glob_matches_only_its_text(text: str) -> None:
    assert not has_wildcard(escape_glob(text))
    assert compile_text_glob(escape_glob(text))(text)
    assert not compile_text_glob(escape_glob(text))(text + "a")


@given(st.lists(st.sampled_from([None, "a", "b"]), max_size=12), st.text("ab", max_size=60))
def test_a_glob_takes_at_most_pattern_times_text_steps(
    pattern: list[str | None], text: str
) -> None:
    steps = 0

    def counted(wanted: str) -> Callable[[str], bool]:
        def test(char: str) -> bool:
            nonlocal steps
            steps += 1
            return char == wanted

        return test

    tests = [None if wanted is None else counted(wanted) for wanted in pattern]
    matches_sequence(tests, text)
    assert steps <= len(pattern) * max(len(text), 1)


def test_a_huge_text_is_matched() -> None:
    text = "a" * 1_000_000
    assert not compile_text_glob("*a*a*a*b")(text)
    assert compile_text_glob("*a?a*")(text)
    assert compile_path_glob("/**/b")("/" + "a/" * 300_000 + "b")


# ------------------------------------------------------------------ text


@given(any_text)
def test_plain_text_is_ordinary_and_stays_plain(text: str) -> None:
    settled = without_invisible(text)
    assert is_ordinary(settled)
    assert without_invisible(settled) == settled


@given(any_text, st.integers(0, 50))
def test_text_for_people_hides_nothing_and_is_bounded(text: str, limit: int) -> None:
    shown = escape_for_display(text, limit)
    assert all(char.isprintable() or char.isspace() for char in shown)
    assert is_ordinary(shown.replace("…", "")) or not is_ordinary(text)
    assert len(shown.partition("…[+")[0]) <= max(limit, len(text) and limit)


@given(any_text, any_text)
def test_comparing_text_is_undecided_only_for_odd_text(text: str, wanted: str) -> None:
    answer = compare_text(lambda each: each == wanted, text)
    if is_ordinary(text):
        assert answer is (text == wanted)


# ------------------------------------------------------------------ numbers


@given(st.integers(-(2**70), 2**70) | st.floats(), st.integers(-(2**70), 2**70) | st.floats(),
       st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))  # fmt: skip
def test_numbers_compare_as_their_digits_say(a: Any, b: Any, op: str) -> None:
    left, right = exact(a), exact(b)
    answer = compare_numbers(op, a, b)
    if left is None or right is None:
        assert answer is None
    else:
        x, y = Fraction(left), Fraction(right)
        results = {"==": x == y, "!=": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}
        assert answer is results[op]


@given(st.integers(-1000, 1000), st.integers(-1000, 1000), st.integers(0, 3))
def test_cents_are_computed_exactly(a: int, b: int, places: int) -> None:
    scale = 10**places
    x, y = a / scale, b / scale
    total, rest, product = add(x, y), subtract(x, y), multiply(x, y)
    assert total is not None
    assert rest is not None
    assert product is not None
    assert Fraction(repr(total)) == Fraction(a + b, scale)
    assert Fraction(repr(rest)) == Fraction(a - b, scale)
    assert Fraction(repr(product)) == Fraction(a * b, scale * scale)


# ------------------------------------------------------------------ JSON


@given(json_values)
def test_json_is_read_as_python_reads_it(value: Any) -> None:
    text = json.dumps(value)
    assert read_json(text) == freeze(json.loads(text))
    assert read_json(text.encode()) == freeze(json.loads(text))
    assert check_value(value) is None
    assert check_value(read_json(text)) is None


@given(st.binary(max_size=80))
def test_reading_json_never_raises_on_bytes(data: bytes) -> None:
    read_json(data)


@given(st.text('{}[]":,0123456789eE+-.\\udD8aN ntrufalse', max_size=60))
def test_json_that_is_read_has_the_value_python_reads(text: str) -> None:
    value = read_json(text)
    if not isinstance(value, Unreadable):
        again = json.loads(text, parse_float=lambda digits: Decimal(digits))
        assert _same_json(value, again)


def _same_json(value: Any, again: Any) -> bool:
    if isinstance(again, Decimal):
        return Decimal(repr(value) if isinstance(value, float) else value) == again
    if isinstance(again, dict):
        return set(value) == set(again) and all(_same_json(value[k], again[k]) for k in again)
    if isinstance(again, list):
        pairs = zip(value, again, strict=True)
        return len(value) == len(again) and all(_same_json(a, b) for a, b in pairs)
    return bool(value == again) and type(value) is type(again)


@given(json_values, st.text(max_size=5))
def test_a_duplicate_key_is_refused(value: Any, key: str) -> None:
    name, item = json.dumps(key), json.dumps(value)
    escaped = '"' + "".join(f"\\u{ord(c):04x}" for c in key if ord(c) < 0x10000) + '"'
    for second in {name, escaped if all(ord(c) < 0x10000 for c in key) else name}:
        text = f'{{"x": [{{{name}: {item}, {second}: {item}}}]}}'
        assert isinstance(read_json(text), Unreadable)


# ------------------------------------------------------------------ paths

path_text = st.text("ab./~%2eF\\ é:$", min_size=1, max_size=20)


@given(path_text)
def test_reading_a_path_again_changes_nothing(text: str) -> None:
    read = read_path(text, CONTEXT)
    assume(not isinstance(read, Unreadable))
    assert not isinstance(read, Unreadable)
    assert posixpath.normpath(read.lexical) == read.lexical
    assert read_path(read.lexical, CONTEXT) == read


@given(st.text("ab./w", min_size=1, max_size=20))
def test_a_path_inside_a_folder_stays_inside(text: str) -> None:
    read = read_path(text, CONTEXT)
    pattern = read_path_pattern("/w/**")
    assert not isinstance(pattern, Unreadable)
    if isinstance(read, Unreadable):
        return
    where = posixpath.normpath(posixpath.join("/w/sub", text)).replace("//", "/")
    inside = where == "/w" or where.startswith("/w/")
    assert path_in(read, (pattern,), (), CONTEXT) is inside


@given(st.lists(st.sampled_from(["a", "b", "*", "**"]), min_size=1, max_size=4),
       st.lists(st.sampled_from(["a", "b"]), max_size=3),
       st.lists(st.sampled_from(["a", "b"]), max_size=3))  # fmt: skip
def test_a_tree_within_a_pattern_has_every_path_in_it(
    items: list[str], folder: list[str], below: list[str]
) -> None:
    pattern = read_path_pattern("/" + "/".join(items))
    tree = read_path("/" + "/".join(folder), CONTEXT, tree=True)
    file = read_path("/" + "/".join((*folder, *below)), CONTEXT)
    assert not isinstance(pattern, Unreadable)
    assert not isinstance(tree, Unreadable)
    assert not isinstance(file, Unreadable)
    inside = path_in(file, (pattern,), (), CONTEXT)
    if path_within(tree, (pattern,), (), context=CONTEXT):
        assert inside
    if inside:
        assert path_overlaps(tree, (pattern,), (), context=CONTEXT)


# ------------------------------------------------------------------ commands


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), min_size=1, max_size=5))
def test_quoted_words_are_read_back(words: list[str]) -> None:
    script = read_script(shlex.join(words))
    if isinstance(script, Unreadable) or script.gaps:
        return
    (command,) = script.commands
    assert [word.text for word in command.words] == words
    assert all(word.known and not word.home for word in command.words)


@given(st.lists(st.text("ab-=c*'\" ", min_size=1, max_size=6), min_size=1, max_size=4))
def test_ordinary_quoted_words_can_be_read(words: list[str]) -> None:
    assume(not any(word.startswith("=") for word in words))  # zsh replaces `=ls`
    script = read_script(shlex.join(("echo", *words)))
    assert isinstance(script, Script)
    assert [word.text for word in script.commands[0].words] == ["echo", *words]


@given(st.lists(st.sampled_from(["a", "b", "-x", "--y=1"]), max_size=5))
def test_a_wildcard_matches_a_command_only_without_options(words: list[str]) -> None:
    script = analyse_script(" ".join(("prog", *words)), NO_PROFILES)
    pattern = read_command_pattern("prog *", NO_PROFILES)
    assert isinstance(script, ScriptAnalysis)
    assert not isinstance(pattern, Unreadable)
    clean = not any(word.startswith("-") for word in words)
    assert matches_command(script.commands[0], pattern) is (True if clean else None)


# ------------------------------------------------------------------ hosts


@given(st.integers(0, 2**32 - 1))
def test_every_spelling_of_an_ipv4_address_is_one_address(number: int) -> None:
    address = IPv4Address(number)
    for spelling in (str(address), str(number), hex(number), f"[::ffff:{address}]"):
        endpoint = read_endpoint(f"http://{spelling}/")
        assert not isinstance(endpoint, Unreadable)
        assert endpoint.address == address
        assert endpoint.host == str(address)


@given(st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?([.][a-z]{2,6}){1,3}", fullmatch=True),
       st.sampled_from(["", ":8443"]), st.sampled_from(["", "/a/b", "/x?y=http://z"]))  # fmt: skip
def test_case_and_a_trailing_dot_do_not_change_a_host(name: str, port: str, tail: str) -> None:
    endpoint = read_endpoint(f"https://{name}{port}{tail}")
    assume(not isinstance(endpoint, Unreadable))
    assert endpoint == read_endpoint(f"HTTPS://{name.upper()}.{port}{tail}")
    assert endpoint == read_endpoint(f"{name}{port}{tail}")
    pattern, other = read_host_pattern(name), read_host_pattern(f"*.{name}")
    assert not isinstance(endpoint, Unreadable)
    assert not isinstance(pattern, Unreadable)
    assert not isinstance(other, Unreadable)
    assert host_in(endpoint, (pattern,), (), None) is True
    assert host_in(endpoint, (other,), (), None) is False


# ------------------------------------------------------------------ any text at all

READERS: dict[str, Callable[[str], object]] = {
    "path": lambda text: read_path(text, CONTEXT),
    "path pattern": read_path_pattern,
    "endpoint": read_endpoint,
    "host pattern": read_host_pattern,
    "script": read_script,
    "understanding": lambda text: analyse_script(text, NO_PROFILES),
    "command pattern": lambda text: read_command_pattern(text, NO_PROFILES),
    "recipient": read_recipient,
    "recipient set": lambda text: recipient_in(text, ("*@corp.example",)),
    "json": read_json,
    "url parts": url_parts,
    "scheme": lambda text: with_scheme(text, "https"),
    "links": links_in,
    "time": parse_time,
    "date": parse_date,
    "span": parse_duration,
    "regex": compile_regex,
}


@pytest.mark.parametrize("name", READERS)
@given(text=any_text | st.text("ab:/.@[]%*?<>$&|'\"~ 0123-+\\\u200b\u0301é①", max_size=30))
def test_no_text_makes_a_reader_raise(name: str, text: str) -> None:
    READERS[name](text)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("piece", ["a", "/", "(", '"', "[", "a:", "@", ".", "\\", "http://a)", "é"])
def test_a_huge_text_is_read_or_refused(name: str, piece: str) -> None:
    # What is quadratic takes minutes even so.
    READERS[name](piece * (200_000 // len(piece)))


@given(st.text("abc", max_size=30), st.sampled_from(["a+", "(a|b)*c", "b", "^a", "c$", "x*"]))
def test_a_regex_replaces_what_it_finds(text: str, source: str) -> None:
    regex = compile_regex(source)
    assert isinstance(regex, Regex)
    spans = regex.spans("é" + text)
    assert spans is not None
    assert all(0 <= start < end <= len(text) + 1 for start, end in spans)
    if source != "^a" and not spans:
        assert regex.replace_all("é" + text, "#") == "é" + text

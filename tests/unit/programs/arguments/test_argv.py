"""Arguments are parsed in the style of their program, as far as it is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.programs import Profile
from policy.programs.arguments.argv import parse_arguments
from policy.programs.arguments.items import OperandItem, OptionItem
from policy.programs.profiles.merger import profile_of
from policy.programs.profiles.profile_file import ProfileFile, read_profile_file
from policy.shell import Word

PROFILE = """
flags = "-r|--recursive -f|--force --forward -v -NUM"
values = "-n|--number --color? -i? -l#"
operands = "read..."
[options]
"-o|--output" = "write"
"--pair" = "text read"
"-c" = "code last"
"""


def profile(text: str = PROFILE, **keys: str) -> Profile:
    added = "".join(f"{key} = {value}\n" for key, value in keys.items())
    read = read_profile_file("x.toml", added + text)
    assert isinstance(read, ProfileFile), read
    return profile_of("x", [read.section])


def opaque(text: str = "", *, many: bool = False) -> Word:
    return Word(text, "opaque", many=many)


def shown(words: list[Word], known: Profile) -> list[str]:
    """Return options as `name=value` and operands as they are; `?` marks what is not known."""
    found = []
    for item in parse_arguments(tuple(words), known).items:
        match item:
            case OperandItem(word=word, may_be_option=unsure):
                found.append(f"{word.text}{'?' if unsure else ''}")
            case OptionItem(option=None, spelled=spelled):
                found.append(f"{spelled}??")
            case OptionItem(option=option, value=value, more=more, words=run):
                assert option is not None
                values = [one.text for one in ((value,) if value else ()) + more + run]
                found.append("=".join((option.name, *values)))
    return found


def given_words(line: str, known: Profile) -> list[str]:
    return shown([Word(text) for text in line.split()], known)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("-rf a", "--recursive --force a"),
        ("a -r b", "a --recursive b"),
        ("-oout a", "--output=out a"),
        ("-o out a", "--output=out a"),
        ("-rvo out a", "--recursive -v --output=out a"),
        ("--output=out", "--output=out"),
        ("--output out", "--output=out"),
        ("--out=x --rec", "--output=x --recursive"),
        ("--for", "--for??"),
        ("--force", "--force"),
        ("-- -r", "-r"),
        ("a -- -r --", "a -r --"),
        ("--color a", "--color a"),
        ("--color=auto a", "--color=auto a"),
        ("-i.bak a", "-i=.bak a"),
        ("-i a", "-i a"),
        ("-l0r", "-l=0 --recursive"),
        ("-lr", "-l --recursive"),
        ("-5 -n 5", "-NUM=5 --number=5"),
        ("-r5", "--recursive -NUM=5"),
        ("-", "-"),
        ("-o -r", "--output=-r"),
        ("-o", "--output"),
        ("-rx a", "--recursive -x?? a"),
        ("--what=x a", "--what=x?? a"),
        ("--pair a b c", "--pair=a=b c"),
        ("-c code -r --", "-c=code -r --"),
    ],
)
def test_words_of_the_usual_style(line: str, wanted: str) -> None:
    assert given_words(line, profile()) == wanted.split()


@pytest.mark.parametrize(
    ("line", "wanted"), [("-r a -f", "--recursive a -f"), ("a --", "a --"), ("-- a", "a")]
)
def test_posix_options_end_at_the_first_operand(line: str, wanted: str) -> None:
    assert given_words(line, profile(style='"posix"')) == wanted.split()


WORDS = """
style = "words"
flags = "-not !"
values = "-name -Xmx?"
operands = "read..."
[options]
"-exec" = "argv-until"
"""


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("a -name b c", "a -name=b c"),
        ("-not ! a", "-not ! a"),
        ("-name=b", "-name=b"),
        ("-Xmx2g", "-Xmx=2g"),
        ("-exec rm {} ; -not", "-exec=rm={} -not"),
        ("-exec rm {} + a", "-exec=rm={} a"),
        ("-exec rm", "-exec=rm"),
        ("-n", "-n??"),
    ],
)
def test_options_that_are_whole_words(line: str, wanted: str) -> None:
    assert given_words(line, profile(WORDS)) == wanted.split()


def test_pairs() -> None:
    pairs = profile('style = "pairs"\nvalues = "bs"\n[options]\nof = "write"\n')

    assert given_words("of=a bs=1=2 what=x b", pairs) == ["of=a", "bs=1=2", "what=x??", "b"]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [("xf a b", "-x -f=a b"), ("fx a b", "-f=a -x b"), ("-xf a b", "-x -f=a b"), ("q", "-q??")],
)
def test_the_first_word_can_hold_options_without_a_dash(line: str, wanted: str) -> None:
    tar = 'bundled_first = true\nflags = "-x"\noperands = "text..."\n[options]\n"-f" = "read"\n'
    assert given_words(line, profile(tar)) == wanted.split()


def test_a_plus_makes_another_option() -> None:
    known = profile('plus = true\nflags = "-e"\nvalues = "-o"\noperands = "text..."\n')

    assert given_words("+e -e +o x", known) == ["+e", "-e", "+o=x"]


def test_options_end_where_a_command_begins() -> None:
    known = profile('flags = "-n"\noperands = "text argv..."\n')

    assert given_words("a -n b -n", known) == ["a", "-n", "b", "-n"]
    assert given_words("a -n b -x", known) == ["a", "-n", "b", "-x"]


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        (opaque(), ["?"]),
        (opaque("a"), ["a"]),
        (opaque("-"), ["-??"]),
        (opaque("-r"), ["--recursive", "-??"]),
        (opaque("-o"), ["--output="]),
        (opaque("--output="), ["--output="]),
        (opaque("--output"), ["--output??"]),
        (Word("*.txt", "glob", many=True), ["*.txt?"]),
        (Word("./*", "glob", many=True), ["./*"]),
        (Word("-*", "glob", many=True), ["-*??"]),
    ],
)
def test_a_word_that_is_not_known_may_be_an_option(word: Word, wanted: list[str]) -> None:
    assert shown([word], profile()) == wanted
    assert shown([Word("--"), word], profile()) == [word.text]


def test_an_operand_that_is_not_known_may_mean_an_option() -> None:
    known = profile('operands = "text..."\n[means]\n"+*" = "--force"\n')

    assert shown([opaque("+a"), opaque("b")], known) == ["+a?", "b"]


WORD_TEXTS = st.lists(st.text("-=roxNUM5+{};ab", max_size=6), max_size=6)


@given(WORD_TEXTS)
def test_all_words_after_two_dashes_are_operands(texts: list[str]) -> None:
    assert shown([Word(text) for text in ("--", *texts)], profile()) == texts


@given(WORD_TEXTS)
def test_no_word_with_a_dash_is_an_operand_before_two_dashes(texts: list[str]) -> None:
    words = tuple(Word(text) for text in texts if text != "--")
    operands = [
        item.word.text
        for item in parse_arguments(words, profile()).items
        if isinstance(item, OperandItem)
    ]

    assert not [text for text in operands if len(text) > 1 and text.startswith("-")]


@given(WORD_TEXTS, st.sampled_from(["words", "pairs"]))
def test_a_word_is_an_operand_or_part_of_an_option(texts: list[str], style: str) -> None:
    known = profile(WORDS.replace('"words"', f'"{style}"'))
    items = parse_arguments(tuple(map(Word, texts)), known).items
    taken = [
        text
        for item in items
        for text in (
            [item.word.text]
            if isinstance(item, OperandItem)
            else [item.spelled, *(one.text for one in (item.value, *item.words) if one)]
        )
    ]

    assert all(text in "".join(taken) for text in texts if not set(text) & set("-;="))

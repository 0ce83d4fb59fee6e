"""Words that may be an address, a script or a file in a special form."""

from __future__ import annotations

import pytest

from policy.programs.words.readers import WORD_READERS
from policy.programs.words.sibling_files import sibling_files
from policy.shell import Word


def _said(role: str, word: Word) -> list[str]:
    doings = WORD_READERS[role](word)
    touched = [f"{one.verb} {'?' if one.name is None else one.name}" for one in doings.accesses]
    return [*touched, "runs"] if doings.gap else touched


@pytest.mark.parametrize(
    ("role", "text", "wanted"),
    [
        ("database", "app", []),
        ("database", "postgres://u:p@db.example:5432/x", ["connects db.example:5432"]),
        (
            "database",
            "postgresql://a.example,b.example/",
            ["connects a.example", "connects b.example"],
        ),
        ("database", "postgres:///x", []),
        ("database", "postgres://%2ftmp/x", ["connects ?"]),
        ("database", "postgres:///x?host=evil.example", ["connects ?"]),
        ("database", "dbname=x host=evil.example", ["connects evil.example"]),
        ("database", "host = 'evil.example' port=1", ["connects evil.example"]),
        ("database", "host='evil.exa\\mple'", ["connects ?"]),
        ("database", "service=evil", ["connects ?", "reads ?"]),
        ("database", "dbname=x user=y sslmode=require", []),
        ("image", "alpine:3", []),
        ("image", "library/alpine", []),
        ("image", "docker.io/library/alpine", []),
        ("image", "evil.example/x:1", ["connects evil.example"]),
        ("image", "localhost:5000/x", ["connects localhost:5000"]),
        ("image", "docker://evil.example/x", ["connects evil.example"]),
        ("image", "oci://x", ["connects ?"]),
        ("url", "repos/a/b", []),
        ("url", "12", []),
        ("url", "https://evil.example/x", ["connects https://evil.example/x"]),
        ("client-variable", "ON_ERROR_STOP=1", []),
        ("client-variable", "x=\\! id", ["reads ?", "writes ?", "runs"]),
        ("client-variable", "PROMPT1=x", ["reads ?", "writes ?", "runs"]),
        ("clock", "+%F", []),
        ("clock", "010100002020", ["reads ?", "writes ?", "runs"]),
        ("filter-rule", "- *.o", []),
        ("filter-rule", "exclude merge x", []),
        ("filter-rule", ": .filter", []),
        ("filter-rule", ": /a/b", ["reads ?"]),
        ("filter-rule", "merge a", ["reads a"]),
        ("filter-rule", ".,- a", ["reads a"]),
        ("filter-rule", "._a", ["reads a"]),
        ("filter-rule", "unheard of", ["reads ?"]),
        ("listing-format", "json", []),
        ("listing-format", "jsonpath={.a}", []),
        ("listing-format", "go-template-file=a", ["reads a"]),
        ("listing-format", "unheard=a", ["reads ?"]),
        ("name-or-read", "tango", []),
        ("name-or-read", "a.theme", ["reads a.theme"]),
        ("name-or-script", "markdown+smart-raw_tex", []),
        ("name-or-script", "a.lua", ["reads a.lua", "runs"]),
        ("mailbox", "ada@corp.example", ["sends ada@corp.example"]),
        ("mailbox", "|id", ["sends ?", "writes ?", "runs"]),
        ("mailbox", "/etc/x", ["sends /etc/x", "writes ?"]),
        ("page", "ls", []),
        ("page", "./a.1", ["reads ./a.1", "reads ?"]),
        ("repository", "a/b", []),
        ("repository", "evil.example/a/b", ["connects evil.example"]),
        ("url", "x@https://evil.example/y", ["connects https://evil.example/y"]),
        ("module", "./cmd", ["reads ./cmd"]),
        ("module", "main.go", ["reads main.go"]),
        ("module", "net/http", []),
        ("module", "evil.example/x@latest", ["connects evil.example"]),
        ("module", "evil.example@latest", ["connects evil.example"]),
        ("user-at-host", "ada", []),
        ("user-at-host", "ada@a.example@evil.example", ["connects evil.example"]),
        ("inventory", "hosts.ini", ["reads hosts.ini"]),
        ("inventory", "evil.example,", ["connects evil.example"]),
        ("password", "pass:x", []),
        ("password", "stdin", []),
        ("password", "file:a", ["reads a"]),
        ("password", "unheard:a", ["reads ?"]),
    ],
)
def test_a_word_says_what_it_does(role: str, text: str, wanted: list[str]) -> None:
    assert _said(role, Word(text)) == wanted


@pytest.mark.parametrize(
    ("role", "word", "wanted"),
    [
        ("database", Word("", "opaque"), ["connects ?"]),
        ("image", Word("app:", "opaque"), ["connects ?"]),
        ("image", Word("evil.example/", "opaque"), ["connects evil.example"]),
        ("image", Word("a/app:", "opaque"), []),
        ("url", Word("", "opaque"), ["connects ?"]),
        ("url", Word("repos/", "opaque"), []),
        ("url", Word("http:", "opaque"), ["connects ?"]),
        ("clock", Word("+%", "opaque"), []),
        ("clock", Word("", "opaque"), ["reads ?", "writes ?", "runs"]),
        ("filter-rule", Word("- ", "opaque"), ["reads ?"]),
        ("listing-format", Word("jsonpath=", "opaque"), []),
        ("listing-format", Word("json", "opaque"), ["reads ?"]),
        ("name-or-script", Word("html", "opaque"), ["reads ?", "runs"]),
        ("name-or-read", Word("tango", "opaque"), ["reads ?"]),
        ("mailbox", Word("ada@", "opaque"), ["sends ?", "writes ?"]),
        ("mailbox", Word("", "opaque"), ["sends ?", "writes ?", "runs"]),
        ("page", Word("", "opaque"), ["reads ?"]),
        ("module", Word("", "opaque"), ["connects ?", "reads ?"]),
        ("module", Word("evil.example/", "opaque"), ["connects evil.example"]),
        ("module", Word("./", "opaque"), ["reads ?"]),
        ("user-at-host", Word("ada@", "opaque"), ["connects ?"]),
        ("password", Word("env:", "opaque"), []),
        ("password", Word("", "opaque"), ["reads ?"]),
        ("client-variable", Word("x=", "opaque"), ["reads ?", "writes ?", "runs"]),
    ],
)
def test_a_word_that_is_not_known_may_do_what_it_may_become(
    role: str, word: Word, wanted: list[str]
) -> None:
    assert _said(role, word) == wanted


@pytest.mark.parametrize(
    ("program", "name", "wanted"),
    [
        ("gzip", "a.txt", ("a.txt.gz",)),
        ("gunzip", "a.txt.gz", ("a.txt.gz.gz", "a.txt")),
        ("gunzip", "a.tgz", ("a.tgz.gz", "a.tar")),
        ("bunzip2", "a.txt", ("a.txt.bz2", "a.txt.out")),
        ("gpg", "a/b.sig", ("a/b.sig.gpg", "a/b.sig.asc", "a/b.sig.sig", "a/b")),
    ],
)
def test_a_file_is_written_beside_another(program: str, name: str, wanted: tuple[str, ...]) -> None:
    assert sibling_files(program, name) == wanted


def test_a_program_that_is_not_listed_may_add_any_end() -> None:
    assert {"a.gz", "a.xz", "a.zst", "a.gpg"} <= set(sibling_files("other", "a"))

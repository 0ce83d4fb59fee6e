"""Words that name a file in a special form."""

from __future__ import annotations

import pytest

from policy.programs.embedded.embedded_program import AccessedResource
from policy.programs.words.file_forms import (
    PathspecPart,
    read_form,
    read_mount,
    read_output_format,
    read_pathspec,
)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a.txt", "a.txt"),
        ("HEAD:.env", ".env"),
        ("HEAD~2:src/a.py", "src/a.py"),
        (":a.txt", "a.txt"),
        (":2:a.txt", "a.txt"),
        ("HEAD:", "."),
        ("./a:b", "./a:b"),
        ("src/*.py", "src"),
        ("*.txt", "."),
        ("main..topic", "main..topic"),
    ],
)
def test_a_pathspec_names_a_path_of_a_revision_or_of_the_work_tree(text: str, path: str) -> None:
    read = read_pathspec(text)

    assert read is not None
    assert read.path == path


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a.txt", PathspecPart("a.txt")),
        (".e*", PathspecPart(".", start=".e*")),
        ("src/*", PathspecPart("src", start="*")),
        ("*.e*", PathspecPart(".", ("*.e*",), "*")),
        ("src/a*v", PathspecPart("src", ("*v", "a*v"))),
        ("src*/.env", PathspecPart(".", (".env",))),
        ("a*b*c", PathspecPart(".", ("*b*c", "*c", "a*b*c"))),
        ("HEAD:.en?", PathspecPart(".", (".en", ".en?"))),
        ("x[!a-c].env", PathspecPart(".", (".env", "x?.env"))),
        ("a[b", PathspecPart(".", start="a*")),
        ("\\.e\\nv", PathspecPart(".env")),
        ("\\**.c", PathspecPart(".", ("*.c", "\\**.c"))),
        ("key*/", PathspecPart(".", start="key*")),
        ("/*", PathspecPart("/", start="*")),
        ("????????x", PathspecPart(".", tuple("?" * count + "x" for count in range(8, -1, -1)))),
        ("?????????x", PathspecPart(".", ("*x",))),
    ],
)
def test_a_wildcard_of_a_pathspec_crosses_folders(text: str, part: PathspecPart) -> None:
    assert read_pathspec(text) == part


@pytest.mark.parametrize("text", [":/a.txt", ":(top)a.txt", ":(icase)A.TXT"])
def test_a_pathspec_with_magic_names_what_cannot_be_told(text: str) -> None:
    assert read_pathspec(text) is None


@pytest.mark.parametrize("text", [":!a.txt", ":^a.txt", ":(exclude)a.txt", ":(top,exclude)a.txt"])
def test_a_pathspec_that_leaves_out_reads_nothing(text: str) -> None:
    assert read_pathspec(text) == PathspecPart("")


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("f=@a.txt", ["a.txt"]),
        ("f=<a.txt", ["a.txt"]),
        ("@a.txt", ["a.txt"]),
        ("f@a.txt", ["a.txt"]),
        ("f=@a.txt;type=x", ["a.txt;type=x", "a.txt"]),
        ("f=@a.txt,b.txt", ["a.txt,b.txt", "a.txt", "b.txt"]),
        ("f=me@corp.example", []),
        ("f=x", []),
    ],
)
def test_a_field_of_a_form_names_the_files_that_it_uploads(text: str, paths: list[str]) -> None:
    assert [one.name for one in read_form(text).accesses] == paths


def test_a_format_may_name_files_that_it_writes() -> None:
    assert read_output_format("%{http_code}").accesses == ()
    assert read_output_format("@f.txt").accesses == (AccessedResource("reads", "f.txt"),)
    written = read_output_format("x%output{a}y%output{>>b}z")
    assert written.accesses == (AccessedResource("writes", "a"), AccessedResource("writes", "b"))
    assert written.guarded


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("/a:/b", ["reads", "writes"]),
        ("/a:/b:ro", ["reads"]),
        ("~/a:/b:z,ro", ["reads"]),
        ("data:/b", []),
        ("type=bind,src=/a,dst=/b", ["reads", "writes"]),
        ("type=bind,source=/a,dst=/b,readonly", ["reads"]),
        ("type=volume,source=data,dst=/b", []),
        ("type=tmpfs,dst=/b", []),
    ],
)
def test_a_mount_gives_a_tree_of_this_machine(text: str, verbs: list[str]) -> None:
    touched = read_mount(text).accesses
    assert [one.verb for one in touched] == verbs
    assert {one.name for one in touched} <= {"/a", "~/a"}

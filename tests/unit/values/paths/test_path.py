"""Paths and sets of paths, by type of spelling; a test resolver follows links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from policy.values import (
    Path,
    PathContext,
    PathPattern,
    Unreadable,
    after_cd,
    folder_pattern,
    path_in,
    path_overlaps,
    path_pattern_text,
    path_within,
    read_path,
    read_path_pattern,
)

CONTEXT = PathContext(cwd="/w/sub", workspace="/w", home="/home/ada")


def following(links: Mapping[str, str]) -> Callable[[str], str | None]:
    """Return a resolver that follows `links`, as the system would."""

    def resolve(path: str) -> str | None:
        place = ""
        for part in path.split("/")[1:]:
            place = links.get(f"{place}/{part}", f"{place}/{part}") if part else place
        return place or "/"

    return resolve


def patterns(*texts: str) -> tuple[PathPattern, ...]:
    read = tuple(read_path_pattern(text) for text in texts)
    assert all(isinstance(each, PathPattern) for each in read), read
    return tuple(each for each in read if isinstance(each, PathPattern))


def judged(text: str, *items: str, context: PathContext = CONTEXT) -> bool | None:
    path = read_path(text, context)
    assert isinstance(path, Path), path
    return path_in(path, patterns(*items), (), context)


@pytest.mark.parametrize(
    ("text", "lexical"),
    [
        ("/a/b", "/a/b"),
        ("//a///b/", "/a/b"),
        ("a", "/w/sub/a"),
        ("../a/./b", "/w/a/b"),
        ("../../../../x", "/x"),
        ("~", "/home/ada"),
        ("~/x", "/home/ada/x"),
        ("./~", "/w/sub/~"),
        ("file:///a/b", "/a/b"),
        ("FILE://localhost/a%20b", "/a b"),
        ("file:/a/../b", "/b"),
        ("cafe\u0301", "/w/sub/café"),
        ("a b/[x] (1).txt", "/w/sub/a b/[x] (1).txt"),
        ("routes/$id.tsx", "/w/sub/routes/$id.tsx"),
        ("100%", "/w/sub/100%"),
    ],
)
def test_a_path_is_settled(text: str, lexical: str) -> None:
    assert read_path(text, CONTEXT) == Path(lexical=lexical)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        " /etc/passwd",
        "/etc/passwd\n",
        "a\x00b",
        "a\x1bb",
        "..\\x",
        "C:\\x",
        "C:/x",
        "~root/x",
        "$HOME/x",
        "${HOME}/x",
        "..%2fx",
        "%2e%2e/x",
        "http://host/x",
        "file://other/x",
        "file:x",
        "file:///a%2fb",
        "file:///a%00b",
        "file:///a%zz",
        "file:///a%252e",
        "file:///a?b",
        "file:///%ff",
        "/proc/self/root/etc",
        "/proc/1/root",
        "/proc/self/cwd/x",
        "/proc/thread-self/fd/3",
        "/dev/fd/3",
        "/x/../proc/self/root/x",
        "\ud800",
        "a" * 5000,
    ],
)
def test_what_may_name_another_file_is_unreadable(text: str) -> None:
    assert isinstance(read_path(text, CONTEXT), Unreadable)


def test_a_relative_path_needs_a_folder() -> None:
    assert isinstance(read_path("a", PathContext()), Unreadable)
    assert read_path("a", PathContext(workspace="/w")) == Path(lexical="/w/a")
    assert isinstance(read_path("~/a", PathContext(cwd="/w")), Unreadable)
    assert isinstance(read_path("a", PathContext(cwd="/w", directory_unknown=True)), Unreadable)
    assert read_path("/a", PathContext(directory_unknown=True)) == Path(lexical="/a")


def test_cd_is_followed() -> None:
    assert after_cd(("sub", ".."), {(): CONTEXT}).cwd == "/w/sub"
    assert after_cd(("/x", "y"), {(): CONTEXT}).cwd == "/x/y"
    assert after_cd(None, {(): CONTEXT}).directory_unknown
    assert after_cd(("a\\b",), {(): CONTEXT}).directory_unknown
    assert after_cd((), {(): CONTEXT}) == CONTEXT


def test_each_folder_is_entered_once_however_many_commands_follow() -> None:
    asked: list[str] = []

    def resolve(path: str) -> str:
        asked.append(path)
        return path

    known: dict[tuple[str, ...], PathContext] = {(): replace(CONTEXT, resolve=resolve)}
    folders = tuple(f"d{number}" for number in range(50))
    for end in range(len(folders) + 1):
        after_cd(folders[:end], known)

    assert len(asked) == len(folders)


def test_dots_leave_the_folder_that_a_link_leads_to() -> None:
    context = PathContext(cwd="/w", resolve=following({"/w/link": "/out/deep"}))
    assert read_path("link/../x", context) == Path(lexical="/w/x", resolved="/out/x")


def test_a_path_that_cannot_be_resolved_is_unreadable() -> None:
    context = PathContext(cwd="/w", resolve=lambda path: None)
    assert isinstance(read_path("a", context), Unreadable)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (".", "where `.` leads is not known, as `/w/x` could not be resolved"),
        ("/w/x", "where `/w/x` leads is not known"),
    ],
)
def test_the_folder_that_cannot_be_resolved_is_named(text: str, why: str) -> None:
    context = PathContext(cwd="/w/x", resolve=lambda path: path if path == "/w" else None)
    assert read_path(text, context) == Unreadable(reason=why)


@pytest.mark.parametrize(
    ("text", "item", "answer"),
    [
        ("/w/a", "/w/**", True),
        ("/w", "/w/**", True),
        ("/w-evil/a", "/w/**", False),
        ("../x", "**", True),
        ("/w/src/a", "src/**", True),
        ("src/a", "src/**", False),  # items are relative to the workspace, not the folder
        ("src/a", "./sub/src/**", True),
        ("/w/a", "./**", True),
        ("/x/a", "./**", False),
        ("/x/.env", "./**/.env", False),
        ("/w/a/.env", "./**/.env", True),
        ("/x/a", "a/../**", False),
        ("~/.ssh/id", "~/.ssh/**", True),
        ("/home/ada/.ssh", "~/.ssh/**", True),
        (".env", "**/.env", True),
        ("/x/.env.example", "**/.env", False),
        ("/W/a", "/w/**", False),
        ("/w/a/b", "/w/*", False),
        ("/w/cafe\u0301", "/w/café", True),
        ("/w/a\u200b.env", "/w/a.env", None),
        ("/w/a\u200b", "/w/**", True),
    ],
)
def test_a_path_is_in_a_pattern(text: str, item: str, answer: bool | None) -> None:
    assert judged(text, item) is answer


def test_both_readings_must_agree() -> None:
    context = PathContext(
        cwd="/w", workspace="/w", resolve=following({"/w/l": "/out/x", "/w/e": "/w/.env"})
    )
    assert judged("l", "/w/**", context=context) is None
    assert judged("l", "/out/**", context=context) is None
    assert judged("e", "/w/**", context=context) is True
    assert judged("e", "**/.env", context=context) is None
    assert judged("e", "**/.git", context=context) is False


def test_a_pattern_names_the_folder_its_links_lead_to() -> None:
    context = PathContext(workspace="/srv/w", resolve=following({"/srv/w": "/data/w"}))
    assert judged("/srv/w/a", "/srv/w/**", context=context) is True
    assert judged("a", "**", context=context) is True
    assert judged("/data/w/a", "/srv/w/**", context=context) is None


def test_excluded_items_are_out() -> None:
    path = read_path("/w/.env", CONTEXT)
    assert isinstance(path, Path)
    assert path_in(path, patterns("/w/**"), patterns("**/.env"), CONTEXT) is False
    assert path_in(path, patterns("/w/**"), patterns("**/.git"), CONTEXT) is True


def test_case_matters_only_where_the_file_system_folds_it() -> None:
    folding = PathContext(cwd="/w", workspace="/w", folds=lambda folder: True)
    assert judged(".Git/config", "**/.git/**", context=folding) is None
    assert judged(".git/config", "**/.git/**", context=folding) is True
    assert judged(".Git/config", "**/.git/**") is False
    assert isinstance(read_path(".env.", folding), Unreadable)
    assert isinstance(read_path("ENV~1", folding), Unreadable)


@pytest.mark.parametrize(
    ("folder", "item", "meets", "within"),
    [
        ("/w", "/w/**", True, True),
        ("/w/a", "/w/**", True, True),
        ("/", "/w/**", True, False),
        ("/x", "/w/**", False, False),
        ("/w", "/w/*.txt", True, False),
        ("/w", "/w", True, False),
        ("/w", "/*/a/b", True, False),
        ("/w", "**/.env", False, False),  # an item that floats meets only what is spelled
        ("/w/.env", "**/.env", True, False),
        ("/w/.git", "**/.git/**", True, True),
    ],
)
def test_a_tree_meets_and_stays_within(folder: str, item: str, meets: bool, within: bool) -> None:
    tree = read_path(folder, CONTEXT, tree=True)
    assert isinstance(tree, Path)
    assert path_overlaps(tree, patterns(item), (), context=CONTEXT) is meets
    assert path_within(tree, patterns(item), (), context=CONTEXT) is within


def test_a_tree_that_an_exception_meets_is_not_within() -> None:
    tree = read_path("/w", CONTEXT, tree=True)
    assert isinstance(tree, Path)
    excluded = patterns("/w/secret/**")
    assert path_within(tree, patterns("/w/**"), excluded, context=CONTEXT) is False
    assert path_overlaps(tree, patterns("/w/**"), excluded, context=CONTEXT) is True


@pytest.mark.parametrize(
    "text", ["", " ", "../x", "a/*/../b", "~root/x", "file:///x", "http://x/y", "a\x00", "a\u200b"]
)
def test_an_unclear_pattern_is_refused(text: str) -> None:
    assert isinstance(read_path_pattern(text), Unreadable)


def test_an_unknown_base_makes_a_pattern_undecidable() -> None:
    nowhere = PathContext(cwd="/w")
    assert judged("/w/a", "src/**", context=nowhere) is None
    assert judged("/w/a", "~/**", context=nowhere) is None
    assert judged("/w/a", "~/**", "/w/**", context=nowhere) is True


def test_a_folder_becomes_a_pattern_of_itself_alone() -> None:
    path = read_path("/w/[*]/x", CONTEXT)
    assert isinstance(path, Path)
    assert path_in(path, (folder_pattern("/w/[*]/"),), (), CONTEXT) is True
    assert path_in(path, (folder_pattern("/w/[a]"),), (), CONTEXT) is False
    assert [path_pattern_text(item) for item in patterns("~/a", "~", "/x//y/", "b")] == [
        "~/a", "~", "/x/y", "b"
    ]  # fmt: skip


def test_a_set_with_a_stream_is_certain_about_other_files() -> None:
    context = replace(CONTEXT, resolve=lambda path: None if path == "/dev/stdin" else path)

    assert judged("/etc/passwd", "/dev/stdin", context=context) is False
    assert judged("/dev/stdin", "/dev/stdin", context=context) is True

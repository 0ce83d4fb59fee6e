"""Path spellings that bypassed other guards, on a real disk: are they inside the workspace?

Each row is a text as a tool gets it, and the answer to `{W}/**`: True, False, None where the
readings differ, or UNREADABLE where the text may name another file.
"""

from __future__ import annotations

import os
from pathlib import Path as FilePath

import pytest

from policy.environment import Disk
from policy.values import (
    Path,
    PathContext,
    PathPattern,
    Unreadable,
    exact_path,
    links_passed,
    path_overlaps,
    path_within,
    read_path,
    read_path_pattern,
)

UNREADABLE = "unreadable"
_LINKS = {
    "out": "../out",
    "secret": "../out/secret.txt",
    "absolute": "{O}",
    "chain": "chain-2",
    "chain-2": "chain-3",
    "chain-3": "../out",
    "loop": "loop",
    "loop-a": "loop-b",
    "loop-b": "loop-a/x",
    "dangling": "../out/new",
    "odd": "none/../../out",
    "up": "..",
    "inner": "src",
    "inner-chain": "inner/main.py",
    "src/back": "../src",
    "src/far": "../out",
    "env": ".env",
    "process": "/proc/self/root",
    "where": "/proc/self/cwd",
    "thread": "/proc/thread-self/cwd",
    "first": "/dev/fd/0",
    "stream": "/dev/stdin",
}


@pytest.fixture
def disk(tmp_path: FilePath) -> FilePath:
    work, out = tmp_path / "ws", tmp_path / "out"
    for folder in (work / "src", out / "deep", tmp_path / "home" / ".ssh", tmp_path / "ws-evil"):
        folder.mkdir(parents=True)
    for file in (work / "src/main.py", work / ".env", out / "secret.txt", out / "other.txt"):
        file.write_text("x")
    for name, target in _LINKS.items():
        (work / name).symlink_to(target.replace("{O}", str(out)))
    os.link(out / "other.txt", work / "hard")
    (work / "cafe\u0301").write_text("x")
    return tmp_path


def context_of(disk: FilePath) -> PathContext:
    resolvers = Disk().resolvers()
    return PathContext(
        cwd=str(disk / "ws"),
        workspace=str(disk / "ws"),
        home=str(disk / "home"),
        resolve=resolvers.path,
        folds=resolvers.folds,
        other_names=resolvers.other_names,
    )


def filled(text: str, disk: FilePath) -> str:
    places = {"{W}": disk / "ws", "{O}": disk / "out", "{H}": disk / "home"}
    for name, place in places.items():
        text = text.replace(name, str(place))
    return text


def pattern(text: str) -> PathPattern:
    read = read_path_pattern(text)
    assert isinstance(read, PathPattern), read
    return read


def judged(text: str, item: str, disk: FilePath) -> bool | str | None:
    context = context_of(disk)
    path = read_path(filled(text, disk), context)
    if isinstance(path, Unreadable):
        return UNREADABLE
    return path_overlaps(path, (pattern(filled(item, disk)),), (), context=context)


_SPELLINGS: list[tuple[str, bool | str | None]] = [
    # separators and dots
    ("src/main.py", True),
    ("./src/./main.py", True),
    ("src//main.py", True),
    ("src/main.py/", True),
    ("src/main.py/.", True),
    ("src/../src/main.py", True),
    ("{W}", True),
    ("{W}/", True),
    ("{W}/.", True),
    ("//{W}//src", True),
    (".", True),
    ("..", False),
    ("../ws", True),
    ("../ws-evil/x", False),
    ("{W}-evil/x", False),
    ("{W}/../out/secret.txt", False),
    ("{W}/../ws/../out", False),
    ("/..//../{O}/secret.txt", False),
    ("src/../../out/secret.txt", False),
    ("../../../../../../../../../../../../../../../../etc/passwd", False),
    ("none/../src", True),
    ("...", True),
    (".../x", True),
    ("-rf", True),
    # links
    ("secret", None),
    ("out", None),
    ("out/", None),
    ("out/.", None),
    ("out/secret.txt", None),
    ("out/new/file", None),
    ("absolute/secret.txt", None),
    ("chain/secret.txt", None),
    ("dangling", None),
    ("src/far/secret.txt", None),
    ("src/back/far/deep/new", None),
    ("out/..", None),
    ("out/../ws/src/main.py", True),
    ("out/deep/../../ws/src", True),
    ("src/far/../x", None),
    ("up/ws/src/main.py", True),
    ("up/out/secret.txt", None),
    ("up", None),
    ("inner/main.py", True),
    ("inner/new/file.py", True),
    ("inner-chain", True),
    ("src/back/back/back/main.py", True),
    ("env", True),
    ("loop", UNREADABLE),
    ("loop/x", UNREADABLE),
    ("loop-a", UNREADABLE),
    ("odd/secret.txt", UNREADABLE),
    ("src/main.py/x", True),
    ("hard", UNREADABLE),
    # ways that lead every process elsewhere
    ("/proc/self/root{O}/secret.txt", UNREADABLE),
    ("/proc/self/root/../{O}/x", UNREADABLE),
    ("/proc//self/./root/etc/passwd", UNREADABLE),
    ("/proc/self/cwd/src/main.py", UNREADABLE),
    ("/proc/1/root/etc/passwd", UNREADABLE),
    ("/proc/self/fd/3", UNREADABLE),
    ("/proc/self/exe", UNREADABLE),
    ("/proc/self/task/1/cwd/x", UNREADABLE),
    ("/proc/thread-self/root/etc", UNREADABLE),
    ("/proc/thread-self/status", UNREADABLE),
    ("/proc/self/map_files/1-2", UNREADABLE),
    ("/dev/fd/0", UNREADABLE),
    ("/dev/./fd/3", UNREADABLE),
    ("../../../../../../../../../proc/self/root/etc", UNREADABLE),
    ("process/etc/passwd", UNREADABLE),
    ("where/src/main.py", UNREADABLE),
    ("thread", UNREADABLE),
    ("first", UNREADABLE),
    ("stream", UNREADABLE),
    ("/proc/self/status", False),
    ("/proc/meminfo", False),
    ("/dev/stdin", False),
    ("/dev/null", False),
    ("src/proc/self/root/x", True),
    ("dev/fd/src/main.rs", True),
    # encodings
    ("src/main.py\x00/../../../out/secret.txt", UNREADABLE),
    ("src/main\x1b.py", UNREADABLE),
    ("src/main.py\n", UNREADABLE),
    ("src/\tmain.py", UNREADABLE),
    ("src/\x85main.py", UNREADABLE),
    ("src/main.py ", UNREADABLE),
    ("\u00a0src/main.py", UNREADABLE),
    ("src/\ud800", UNREADABLE),
    ("..%2fout%2fsecret.txt", UNREADABLE),
    ("%2e%2e/out/secret.txt", UNREADABLE),
    ("..%252fout", UNREADABLE),
    ("src/%6dain.py", UNREADABLE),
    ("..\\out\\secret.txt", UNREADABLE),
    ("src\\main.py", UNREADABLE),
    ("C:\\out", UNREADABLE),
    ("c:/out", UNREADABLE),
    ("C:out", UNREADABLE),
    ("\\\\host\\share", UNREADABLE),
    ("//host/share/x", False),
    ("\uff0e\uff0e/out/secret.txt", UNREADABLE),
    ("..\uff0fout\uff0fsecret.txt", UNREADABLE),
    # It looks absolute, and is not.
    ("\u200b/etc/passwd", UNREADABLE),
    ("\u200b~/x", UNREADABLE),
    ("..\uff3cout", UNREADABLE),
    ("src/\u2025/x", UNREADABLE),
    ("src/\uff0e/x", UNREADABLE),
    ("src/最終（案）.pdf", True),
    ("src/cafe\u0301", True),
    ("cafe\u0301", True),
    ("src/naïve café.txt", True),
    ("src/[draft] *.md", True),
    ("src/\u202egnp.py", True),
    ("../\u200bout/secret.txt", False),
    # home, variables, globs of a shell
    ("~", False),
    ("~/.ssh/id_key", False),
    ("~root/.ssh/id_key", UNREADABLE),
    ("~+/src", UNREADABLE),
    ("~-", UNREADABLE),
    ("./~/x", True),
    ("src/~/x", True),
    ("$HOME/.ssh/id_key", UNREADABLE),
    ("${HOME}/.ssh/id_key", UNREADABLE),
    ("src/${UP}/x", UNREADABLE),
    ("$(pwd)/x", UNREADABLE),
    ("src/$id.tsx", True),
    ("src/*", True),
    # file URLs
    ("file://{W}/src/main.py", True),
    ("FILE://{W}/src/main.py", True),
    ("file:{W}/src/main.py", True),
    ("file://localhost{W}/src/main.py", True),
    ("file://LOCALHOST{W}/src/main.py", True),
    ("file://{O}/secret.txt", False),
    ("file://{W}/../out/secret.txt", False),
    ("file://{W}/src/%6dain.py", True),
    ("file://{W}/%2e%2e/out/secret.txt", False),
    ("file://{W}/..%2fout/secret.txt", UNREADABLE),
    ("file://{W}/%252e%252e/out", UNREADABLE),
    ("file://{W}/src/main.py%00.txt", UNREADABLE),
    ("file://{W}/src/a%0ab", UNREADABLE),
    ("file://{W}/src/main.py?x", UNREADABLE),
    ("file://{W}/src/main.py#x", UNREADABLE),
    ("file:src/main.py", UNREADABLE),
    ("file:../out/secret.txt", UNREADABLE),
    ("file://src/main.py", UNREADABLE),
    ("file://localhost:80{W}/src", UNREADABLE),
    ("file://user@localhost{W}/src", UNREADABLE),
    ("file://127.0.0.1{O}/secret.txt", UNREADABLE),
    ("file:////{O}/secret.txt", UNREADABLE),
    ("file:///C:/x", UNREADABLE),
    ("file:///%", UNREADABLE),
    ("file://", UNREADABLE),
    ("file:", UNREADABLE),
    ("http://host/x", UNREADABLE),
    ("vscode://file/x", UNREADABLE),
    # length
    ("", UNREADABLE),
    ("a" * 5000, UNREADABLE),
    ("a/" * 1900 + "b", True),
    ("x" * 300, UNREADABLE),
]


@pytest.mark.parametrize(("text", "answer"), _SPELLINGS)
def test_only_what_is_surely_in_the_workspace_is_in_it(
    disk: FilePath, text: str, answer: bool | str | None
) -> None:
    assert judged(text, "{W}/**", disk) == answer


@pytest.mark.parametrize(("text", "answer"), _SPELLINGS)
def test_what_is_in_the_workspace_is_opened_there(
    disk: FilePath, text: str, answer: bool | str | None
) -> None:
    exact = exact_path(filled(text, disk), context_of(disk))
    if answer is True:
        assert not isinstance(exact, Unreadable)
        assert os.path.realpath(exact) == exact
        assert f"{exact}/".startswith(f"{disk / 'ws'}/")
    elif isinstance(exact, str) and answer is False:
        assert not f"{exact}/".startswith(f"{disk / 'ws'}/")


@pytest.mark.parametrize(
    ("text", "item", "answer"),
    [
        ("env", "**/.env", None),
        ("up/ws/.env", "**/.env", True),
        (".env", "{W}/.env", True),
        (".e\u200bnv", "**/.env", None),
        ("\uff0eenv", "**/.env", False),
        ("out/x", "{O}/**", None),
        ("../out/x", "{W}/out/**", None),
        ("{O}/x", "{W}/absolute/**", None),
        ("~/.ssh/id_key", "~/.ssh/**", True),
        ("{H}/.ssh/id_key", "~/.ssh/**", True),
        ("~/.ssh/../.ssh/id_key", "{H}/.ssh/*", True),
        ("src/main.py", "{W}/hard", False),  # that the item has other names changes nothing
    ],
)
def test_items_name_what_their_links_lead_to(
    disk: FilePath, text: str, item: str, answer: bool | None
) -> None:
    assert judged(text, item, disk) is answer


def test_a_name_is_opened_as_the_disk_spells_it(disk: FilePath) -> None:
    context = context_of(disk)
    assert read_path("cafe\u0301", context) == Path(
        lexical=f"{disk}/ws/café", resolved=f"{disk}/ws/café"
    )
    assert exact_path("cafe\u0301", context) == f"{disk}/ws/cafe\u0301"
    assert exact_path("cafe\u0301", PathContext(cwd="/w")) == "/w/cafe\u0301"
    assert isinstance(exact_path("loop", context), Unreadable)


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("src/main.py", ()),
        ("env", ("{W}/env",)),
        ("out/secret.txt", ("{W}/out",)),
        ("chain/deep", ("{W}/chain",)),
        ("src/back/far/x", ("{W}/src/back", "{W}/src/far")),
        ("out/../ws/out/./x", ("{W}/out", "{W}/out")),
        ("up/ws/secret", ("{W}/up", "{W}/secret")),
    ],
)
def test_the_links_on_the_way_can_be_told(
    disk: FilePath, text: str, links: tuple[str, ...]
) -> None:
    context = context_of(disk)
    path = read_path(text, context)
    assert isinstance(path, Path)
    assert links_passed(path, context) == tuple(filled(link, disk) for link in links)


def test_who_follows_no_links_tells_none() -> None:
    context = PathContext(cwd="/w")
    path = read_path("a", context)
    assert isinstance(path, Path)
    assert links_passed(path, context) == ()


def test_why_nobody_knows_names_the_place(disk: FilePath) -> None:
    read = read_path("src/../loop/x", context_of(disk))
    assert isinstance(read, Unreadable)
    assert "loop" in read.reason
    hard = read_path("hard", context_of(disk))
    assert isinstance(hard, Unreadable)
    assert "hard links" in hard.reason


def test_a_tree_below_a_link_is_in_neither_place(disk: FilePath) -> None:
    context = context_of(disk)
    tree = read_path("out", context, tree=True)
    assert isinstance(tree, Path)
    for item in ("{W}/**", "{O}/**"):
        (place,) = (pattern(filled(item, disk)),)
        assert path_within(tree, (place,), (), context=context) is None
        assert path_overlaps(tree, (place,), (), context=context) is None
    both = (pattern(filled("{W}/**", disk)), pattern(filled("{O}/**", disk)))
    assert path_within(tree, both, (), context=context) is True

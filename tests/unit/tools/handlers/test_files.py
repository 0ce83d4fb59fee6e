"""The file tools on a real folder, with links where an attacker would put them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from policy.environment import follow_links
from policy.model import Execution, Facts, Resolvers
from policy.tools import ExecutionContext, Limits
from policy.tools.handlers.files import file_tools

Run = Callable[..., Any]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "secret").write_text("key")
    (folder / "a.txt").write_text("hello")
    return folder


@pytest.fixture
def run(workspace: Path) -> Run:
    tools = file_tools(Limits(read=1_000, write=1_000, entries=20))

    async def call(tool: str, path: str, *, resolve: Any = follow_links, **more: Any) -> Any:
        facts = Facts(
            cwd=str(workspace),
            workspace=str(workspace),
            home=str(workspace),
            resolvers=Resolvers(path=resolve),
        )
        ctx = ExecutionContext(workspace=str(workspace), facts=facts)
        return await tools[tool]({"path": path, **more}, ctx)

    return call


async def test_what_is_written_is_read(run: Run, workspace: Path) -> None:
    await run("file_mkdir", "deep/er")
    await run("file_write", "deep/er/x.txt", content="grüße\n")
    assert await run("file_read", "deep/er/x.txt") == "grüße\n"
    assert await run("file_read", str(workspace / "deep/../deep/er/x.txt")) == "grüße\n"
    assert await run("file_read", "~/a.txt") == "hello"
    assert [p.name for p in (workspace / "deep/er").iterdir()] == ["x.txt"]


@pytest.mark.parametrize("tool", ["file_read", "file_write", "file_delete", "file_chmod"])
@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link", "folder/secret", "."])
async def test_nothing_outside_is_reached(run: Run, workspace: Path, tool: str, path: str) -> None:
    (workspace / "link").symlink_to("../secret")
    (workspace / "folder").symlink_to("..")
    with pytest.raises(Execution):
        await run(tool, path, content="x", mode="600")
    assert (workspace.parent / "secret").read_text() == "key"


async def test_a_link_within_the_workspace_leads_where_it_was_judged_to_lead(
    run: Run, workspace: Path
) -> None:
    (workspace / "inner").symlink_to("a.txt")
    assert await run("file_read", "inner") == "hello"
    await run("file_write", "inner", content="new")
    assert (workspace / "a.txt").read_text() == "new"
    assert (workspace / "inner").is_symlink()


@pytest.mark.parametrize("tool", ["file_read", "file_write", "file_delete", "file_chmod"])
async def test_a_link_put_there_after_the_decision_is_not_followed(
    run: Run, workspace: Path, tool: str
) -> None:
    (workspace / "a.txt").unlink()
    (workspace / "a.txt").symlink_to("../secret")
    with pytest.raises(Execution, match=r"link|no longer"):
        # As judged, the path led to itself.
        await run(tool, "a.txt", resolve=lambda path: path, content="x", mode="777")
    assert (workspace.parent / "secret").read_text() == "key"
    assert (workspace.parent / "secret").stat().st_mode & 0o777 != 0o777


@pytest.mark.parametrize("tool", ["file_read", "file_write", "file_list", "file_mkdir"])
async def test_a_folder_swapped_for_a_link_after_the_decision_is_not_entered(
    run: Run, workspace: Path, tool: str
) -> None:
    (workspace / "sub").symlink_to("..")
    with pytest.raises(Execution):
        await run(tool, "sub/secret", resolve=lambda path: path, content="x")
    assert (workspace.parent / "secret").read_text() == "key"


async def test_a_hard_link_elsewhere_keeps_its_content(run: Run, workspace: Path) -> None:
    os.link(workspace.parent / "secret", workspace / "other")
    await run("file_write", "other", content="mine")
    assert (workspace.parent / "secret").read_text() == "key"


async def test_a_pipe_is_no_file_and_nobody_waits_for_it(run: Run, workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    for tool in ("file_read", "file_write"):
        with pytest.raises(Execution, match="not a regular file"):
            await run(tool, "pipe", content="x")


async def test_sizes_are_limited(run: Run, workspace: Path) -> None:
    (workspace / "big").write_bytes(b"x" * 1_001)
    with pytest.raises(Execution, match="larger than 1000"):
        await run("file_read", "big")
    with pytest.raises(Execution, match="larger than 1000"):
        await run("file_write", "new", content="x" * 1_001)
    assert not (workspace / "new").exists()


async def test_text_is_decoded_as_asked_or_not_at_all(run: Run, workspace: Path) -> None:
    (workspace / "latin").write_bytes(b"\xe9")
    assert await run("file_read", "latin", encoding="latin-1") == "é"
    with pytest.raises(Execution, match="not utf-8 text"):
        await run("file_read", "latin")
    for name in ("no-such", "zlib_codec", "rot13", "punycode", "idna", "utf-7", "\0"):
        with pytest.raises(Execution, match="encoding"):
            await run("file_read", "latin", encoding=name)
    with pytest.raises(Execution, match="not valid Unicode"):
        await run("file_write", "x", content="\ud800")


async def test_listings_show_links_as_links_and_end(run: Run, workspace: Path) -> None:
    (workspace / "up").symlink_to("..")
    (workspace / "sub").mkdir()
    (workspace / "sub/b").write_text("b")
    listed = await run("file_list", ".", recursive=True)
    assert [(e["path"], e["kind"]) for e in listed["entries"]] == [
        ("a.txt", "file"),
        ("sub", "folder"),
        ("sub/b", "file"),
        ("up", "link"),
    ]
    assert not listed["truncated"]
    for number in range(30):
        (workspace / f"n{number}").write_text("")
    assert (await run("file_list", "."))["truncated"]


async def test_a_folder_is_deleted_with_all_in_it_and_nothing_behind_its_links(
    run: Run, workspace: Path
) -> None:
    (workspace / "sub").mkdir()
    (workspace / "sub/up").symlink_to("../..")
    (workspace / "sub/b").write_text("b")
    await run("file_delete", "sub")
    assert not (workspace / "sub").exists()
    assert (workspace.parent / "secret").exists()


async def test_the_permission_bits_are_set_and_no_others(run: Run, workspace: Path) -> None:
    await run("file_chmod", "a.txt", mode="400")
    assert (workspace / "a.txt").stat().st_mode & 0o7777 == 0o400
    with pytest.raises(Execution, match="read-only"):
        await run("file_write", "a.txt", content="x")
    with pytest.raises(Execution, match="set-user"):
        await run("file_chmod", "a.txt", mode="4755")


@pytest.mark.parametrize("path", ["missing", "missing/x", "a.txt/x", "a\0b", "C:/x", "%2e%2e/x"])
async def test_what_cannot_be_used_is_said_plainly(run: Run, path: str) -> None:
    with pytest.raises(Execution) as caught:
        await run("file_read", path)
    assert "Traceback" not in caught.value.message
    assert "\0" not in caught.value.message

"""Hard links swapped continuously: the file tools open only the file that was judged.

A file that has several names when a call is judged may be read where its path may, so what is held
here is this: a denied file is never used in place of one that had a single name.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from policy import PolicyStore
from policy.catalog import ToolSpec
from policy.model import Execution, PermissionDenied
from policy.service import GovernedService, build_tool_service
from policy.tools import ExecutionContext, ToolDefinition, ToolHandler, builtin_handlers
from tests.examples import examples

RULES = """\
policy for every agent

default deny
read:   allow file_read, file_list when reads only workspace
write:  allow file_write, file_mkdir, file_chmod when writes only workspace
delete: allow file_delete when writes only workspace
keys:   deny * when reads "**/.env"
kept:   deny * when writes "**/.env"
"""
TRIES, MOST_TRIES = max(300, examples(3_000)), 100_000


class Judged:
    """A tool that keeps, of each of its outputs, how many names its file was judged with."""

    def __init__(self, inner: ToolHandler, path: Path) -> None:
        self._inner = inner
        self._path = str(path)
        self.outputs: list[tuple[Any, bool]] = []

    @property
    def spec(self) -> ToolSpec:
        return self._inner.spec

    @property
    def definition(self) -> ToolDefinition:
        return self._inner.definition

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        output = await self._inner.invoke(input, ctx)
        other_names = ctx.facts.resolvers.other_names
        assert other_names is not None
        self.outputs.append((output, other_names(self._path)))
        return output


@contextmanager
def swapping(work: Path) -> Iterator[None]:
    """Let `a.txt` be a file of its own, another name of `.env`, and nothing, in turns."""
    stop = threading.Event()
    here, aside = work / "a.txt", work / "aside"

    def swap() -> None:
        while not stop.is_set():
            aside.write_text("mine")
            os.rename(aside, here)
            os.link(work / ".env", aside)
            os.rename(aside, here)
            here.unlink(missing_ok=True)  # a tool may have deleted it

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / ".env").write_text("secret")
    (folder / ".env").chmod(0o600)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "global.policy").write_text(RULES)
    return folder


def serving(work: Path) -> tuple[GovernedService, Judged]:
    """Return the service, and its `file_read` as it was judged."""
    kept = [Judged(handler, work / "a.txt") for handler in builtin_handlers()]
    service = build_tool_service(
        PolicyStore(work.parent / "rules"), tools=kept, workspace=work, asks_per_session=0
    )
    return service, next(one for one in kept if one.spec.name == "file_read")


def was_noticed(refusals: list[str]) -> bool:
    """Return whether a call was refused because of another file than the one that was judged."""
    return any("than when it was judged" in message for message in refusals)


def nothing_more(refusals: list[str]) -> bool:
    """Return True: no outcome has to be seen."""
    return True


async def tried(
    service: GovernedService, tool: str, shown: Callable[[list[str]], bool], **input: Any
) -> list[str]:
    """Call a tool again and again; return how its refusals were explained.

    It goes on until the outcomes that the test needs to see are `shown`, since which of them come
    how often is a matter of luck.
    """
    refusals: list[str] = []
    for number in range(MOST_TRIES):
        if number >= TRIES and shown(refusals):
            break
        try:
            await service.execute(tool, {"path": "a.txt", **input})
        except (Execution, PermissionDenied) as error:
            refusals.append(error.message)
    return refusals


@pytest.mark.counted
async def test_a_denied_file_is_not_read_in_place_of_one_with_a_single_name(work: Path) -> None:
    service, reads = serving(work)
    with swapping(work):
        refusals = await tried(
            service,
            "file_read",
            lambda said: was_noticed(said) and ("mine", False) in reads.outputs,
        )
    assert ("secret", False) not in reads.outputs
    assert ("mine", False) in reads.outputs
    assert was_noticed(refusals)


@pytest.mark.counted
async def test_the_mode_of_a_denied_file_stays(work: Path) -> None:
    service, _ = serving(work)
    with swapping(work):
        refusals = await tried(service, "file_chmod", was_noticed, mode="644")
    assert (work / ".env").stat().st_mode & 0o777 == 0o600
    assert was_noticed(refusals)


@pytest.mark.long
@pytest.mark.counted
async def test_writing_and_deleting_leave_a_denied_file_as_it_is(work: Path) -> None:
    service, _ = serving(work)
    with swapping(work):
        await tried(service, "file_write", nothing_more, content="x")
        await tried(service, "file_delete", nothing_more)
    assert (work / ".env").read_text() == "secret"


async def test_a_folder_put_in_place_of_a_file_is_not_deleted(work: Path) -> None:
    """What was judged is a file; the folder that takes its place holds what was not looked at."""
    (work / "a.txt").write_text("mine")
    (work / "kept").mkdir()
    (work / "kept" / "b.txt").write_text("b")

    class Swapped(Judged):
        async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
            (work / "a.txt").unlink()
            (work / "kept").rename(work / "a.txt")
            return await super().invoke(input, ctx)

    service = build_tool_service(
        PolicyStore(work.parent / "rules"),
        tools=[Swapped(handler, work / "a.txt") for handler in builtin_handlers()],
        workspace=work,
    )
    with pytest.raises(Execution, match="another file than when it was judged"):
        await service.execute("file_delete", {"path": "a.txt"})
    assert (work / "a.txt" / "b.txt").read_text() == "b"

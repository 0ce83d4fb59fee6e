"""Measure what reading one resource takes: `python -m bench.resources`, some seconds.

Each is timed in turn with something everybody knows that does less, so that the ratio holds
whatever else the machine does. The table goes to standard output and `docs/performance.md`, the
numbers to `bench/results/resources.json`. The exit status is 0: what is fast depends on the
machine.
"""

from __future__ import annotations

import json
import os
import posixpath
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from bench.effort import tell
from bench.page import READING_MARKS, write
from bench.report import about_machine, machine
from bench.timing import median, per_call, ratio
from policy.environment import Disk
from policy.values import PathContext, PathPattern, path_overlaps, read_path, read_path_pattern

_ROUNDS = 9
_EACH = 400
_RESULTS = Path(__file__).parent / "results" / "resources.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`do` reads one resource, fresh from `items`; `beside` is what it is compared with."""

    what: str
    target: float
    items: Callable[[], Iterator[Any]]
    do: Callable[[Any], Any]
    beside: str
    beside_items: Callable[[], Iterator[Any]]
    beside_do: Callable[[Any], Any]


def fresh_reading(
    what: str,
    target: float,
    form: str,
    do: Callable[[str], Any],
    *,
    beside: str,
    beside_do: Callable[[str], Any],
) -> Reading:
    """Return a reading of texts that were never seen before: `form` with a number in each."""
    fresh = count()

    def texts() -> Iterator[str]:
        return (form.format(number) for number in fresh)

    return Reading(
        what=what,
        target=target,
        items=texts,
        do=do,
        beside=beside,
        beside_items=texts,
        beside_do=beside_do,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Microseconds of one reading, and how many times longer it takes than `beside`."""

    what: str
    median: float
    target: float
    beside: str
    beside_median: float
    times: float


def main() -> int:
    """Measure all readings; return the exit status."""
    # Those modules give what is defined here.
    from bench.resources_commands import command_readings
    from bench.resources_urls import url_readings

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        found = [_measured(reading) for reading in path_readings(folder.resolve())]
        found += [_measured(reading) for reading in url_readings()]
        found += [_measured(reading) for reading in command_readings()]
    about = machine(f"{datetime.now(UTC):%Y-%m-%d}")
    _RESULTS.parent.mkdir(exist_ok=True)
    rows = [asdict(row) for row in found]
    _RESULTS.write_text(json.dumps({"about": about, "readings": rows}, indent=1) + "\n")
    print(table(found))
    write(f"{about_machine(about)}\n\n{table(found)}\n", READING_MARKS)
    return 0


def table(found: list[Measured]) -> str:
    """Return the measurements as Markdown."""
    lines = [
        "| what | median µs | target µs | beside | median µs | times |",
        "| --- | --: | --: | --- | --: | --: |",
    ]
    lines += [
        f"| {row.what} | {row.median:.1f} | {row.target:g} | {row.beside} "
        f"| {row.beside_median:.1f} | {row.times:.2f} |"
        for row in found
    ]
    return "\n".join(lines)


def _measured(reading: Reading) -> Measured:
    tell(reading.what)
    ours: list[list[int]] = []
    theirs: list[list[int]] = []
    for _ in range(_ROUNDS):
        ours.append(per_call(reading.do, reading.items(), seconds=5, most=_EACH))
        theirs.append(per_call(reading.beside_do, reading.beside_items(), seconds=5, most=_EACH))
    # The quickest round is the one that was disturbed least.
    return Measured(
        what=reading.what,
        median=min(median(taken) for taken in ours) / 1e3,
        target=reading.target,
        beside=reading.beside,
        beside_median=min(median(taken) for taken in theirs) / 1e3,
        times=ratio(ours, theirs) or 0.0,
    )


# ------------------------------------------------------------------ paths

_PATTERNS = ("~/.ssh/**", "**/.env", "/etc/**", "src/**", "**/*.pem")
_FILES = 16


def path_readings(folder: Path) -> Iterator[Reading]:
    """Yield readings of paths in a project of some folders: read, and compared with five items."""
    project = folder / "project"
    (project / "src" / "app").mkdir(parents=True)
    (folder / "home" / ".ssh").mkdir(parents=True)
    names = [f"src/app/file_{number}.py" for number in range(_FILES)]
    for name in names:
        (project / name).write_text("")
    (project / "way").symlink_to("src/app")
    spelled = [f"{project}/{name}" for name in names]
    patterns = tuple(_pattern(text) for text in _PATTERNS)
    disk = Disk()

    def lexical() -> PathContext:
        return PathContext(cwd=str(project), workspace=str(project), home=str(folder / "home"))

    def linked() -> PathContext:
        # A call's own: nothing of the disk is known yet but its case rules.
        seen = disk.resolvers()
        return PathContext(
            cwd=str(project),
            workspace=str(project),
            home=str(folder / "home"),
            resolve=seen.path,
            folds=seen.folds,
            other_names=seen.other_names,
        )

    def judge(item: tuple[str, PathContext]) -> Any:
        path = read_path(*item)
        return path_overlaps(path, patterns, (), context=item[1])  # type: ignore[arg-type]

    def given(texts: list[str], context: Callable[[], PathContext]) -> Iterator[Any]:
        return iter([(texts[count % len(texts)], context()) for count in range(_EACH)])

    def plain() -> Iterator[str]:
        return iter([spelled[count % len(spelled)] for count in range(_EACH)])

    dotted = [f"src/./app/../app//file_{number}.py" for number in range(_FILES)]
    through = [f"way/file_{number}.py" for number in range(_FILES)]
    new = [f"src/new/file_{number}.py" for number in range(_FILES)]
    cases = [
        ("a path, lexically", 15.0, names, lexical),
        ("a path with dots, lexically", 15.0, dotted, lexical),
        ("a path with links", 40.0, names, linked),
        ("a path with dots, with links", 40.0, dotted, linked),
        ("a new file in a new folder, with links", 40.0, new, linked),
        ("a path through a link", 40.0, through, linked),
    ]
    for what, target, texts, context in cases:
        beside = posixpath.normpath if context is lexical else os.path.realpath
        yield Reading(
            what=what,
            target=target,
            items=lambda texts=texts, context=context: given(texts, context),  # type: ignore[misc]
            do=judge,
            beside=f"`{'normpath' if context is lexical else 'realpath'}`",
            beside_items=plain,
            beside_do=beside,
        )


def _pattern(text: str) -> PathPattern:
    read = read_path_pattern(text)
    assert isinstance(read, PathPattern)
    return read


if __name__ == "__main__":
    raise SystemExit(main())

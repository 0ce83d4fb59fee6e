"""The policies shown in the reference, the concepts, the README and the packs load and pass.

A fence with a file name stands beside the policy shown before it in the section.
A block without a header is a fragment, and stands below `default deny` of the global layer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from policy.diagnostics import Severity
from tests.case_files import Block, Case
from tests.cases.deciding import load

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    ROOT / "docs" / "language.md",
    ROOT / "docs" / "concepts.md",
    ROOT / "docs" / "prose-policy.md",
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs" / "packs").glob("*.md") if page.name != "index.md"),
)
PRELUDE = "policy for every agent\n\ndefault deny\n"

_SECTION = re.compile(r"^(?:#{1,6} .*\n)", re.MULTILINE)
_FENCE = re.compile(r"^```(policy|toml|json|)(?: +(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADER = re.compile(r'(policy for |pack ")')


def folders(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each shown policy with the files that follow it, and the line where its section is."""
    starts = [0, *(found.start() for found in _SECTION.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        found: list[dict[str, str]] = []
        for kind, name, body in _FENCE.findall(text[start:end]):
            if name and found:
                found[-1][name] = body
            elif not name and (kind == "policy" or _is_whole(body)):
                whole = body if _is_whole(body) else PRELUDE + body
                found.append({"global.policy": whole})
        yield from ((text[:start].count("\n") + 1, files) for files in found)


def _is_whole(body: str) -> bool:
    return _HEADER.match(body) is not None


SHOWN = [
    pytest.param(files, id=f"{page.name}:{line}-{number}")
    for page in PAGES
    for number, (line, files) in enumerate(folders(page.read_text(encoding="utf-8")))
]


def problems(files: dict[str, str]) -> list[str]:
    blocks = tuple(Block(kind="", name=name, text=text, line=1) for name, text in files.items())
    built = load(Case(name="shown", path=Path("docs/x.md"), line=1, blocks=blocks))
    return [f"{d.code}: {d.message}" for d in built.diagnostics if d.severity is Severity.ERROR]


@pytest.mark.parametrize("files", SHOWN)
def test_a_shown_policy_loads(files: dict[str, str]) -> None:
    assert problems(files) == []


def test_every_page_shows_policies() -> None:
    assert all(list(folders(page.read_text(encoding="utf-8"))) for page in PAGES)


def test_a_shown_policy_that_does_not_load_would_be_found() -> None:
    page = "## A\n\n```policy\nallow file_raed\n```\n\n```json x.json\n[]\n```\n"
    ((line, files),) = folders(page)
    assert (line, sorted(files)) == (1, ["global.policy", "x.json"])
    assert problems(files) == ["unknown-tool: no tool is called `file_raed`"]

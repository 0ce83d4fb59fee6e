"""Every link from one page of the project to another leads to a file, and to a heading in it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "bench").glob("*.md")),
    *sorted((ROOT / "rules").rglob("*.md")),
)

# Pages of the site alone, which list the others.
TABLES_OF_CONTENTS = {"docs/index.md", "docs/diagnostics.md"}

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return what a link to a heading of a page says behind its `#`."""
    return frozenset(
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in _HEADING.findall(_FENCE.sub("", page.read_text(encoding="utf-8")))
    )


def broken(page: Path) -> list[str]:
    """Return the links of a page that lead nowhere."""
    text = _CODE.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))
    return [link for link in _LINK.findall(text) if not _leads(page, link)]


def _leads(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    if "://" in path:
        return True
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return False
    return not anchor or anchor in anchors(target)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_the_front_page_leads_to_every_page_of_the_documentation() -> None:
    linked = _LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert pages - set(linked) == TABLES_OF_CONTENTS


def test_a_link_that_leads_nowhere_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("# A `b`\n[1](#a-b) [2](#a) [3](b.md) [4](a.md#a-b) `[5](c.md)`\n")
    assert broken(page) == ["#a", "b.md"]

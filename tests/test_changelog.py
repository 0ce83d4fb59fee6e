"""The changelog can be read: each entry stands once, in its section and its area.

Git merges it by keeping the lines of both sides, so lines that somebody has moved may come back.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

TEXT = (Path(__file__).resolve().parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")

# Those of Keep a Changelog, and what comes before them.
SECTIONS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
BREAKING = re.compile(r"Breaking\b")

# A section that is longer is a history of the work, which git has already.
MOST_LINES = 400


def versions(text: str) -> list[str]:
    """Return the text below each heading of a version."""
    return re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]


def sections(version: str) -> list[tuple[str, str]]:
    """Return the heading and the text of each section of a version."""
    parts = re.split(r"^### (.*)$", version, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def wrong_headings(text: str) -> list[str]:
    """Return the headings that are none of a changelog, or occur twice in one version."""
    found = []
    for version in versions(text):
        names = [name for name, _ in sections(version)]
        found += [name for name in names if name not in SECTIONS and not BREAKING.match(name)]
        found += [name for name, times in Counter(names).items() if times > 1]
    return found


def stray_entries(text: str) -> list[str]:
    """Return the entries that stand before the first area of a section that has areas."""
    found: list[str] = []
    for version in versions(text):
        for _, body in sections(version):
            before, area, _ = body.partition("\n#### ")
            found += re.findall(r"^- .*$", before, re.MULTILINE) if area else []
    return found


def entries_twice(text: str) -> list[str]:
    """Return the entries that begin with the same line as another one."""
    lines = Counter(re.findall(r"^- .*$", text, re.MULTILINE))
    return [line for line, times in lines.items() if times > 1]


def test_the_sections_are_those_of_a_changelog() -> None:
    assert wrong_headings(TEXT) == []


def test_each_entry_stands_in_an_area_and_once() -> None:
    assert stray_entries(TEXT) == []
    assert entries_twice(TEXT) == []


def test_what_is_not_published_can_be_read() -> None:
    assert versions(TEXT)[0].count("\n") <= MOST_LINES


def test_lines_that_have_come_back_would_be_found() -> None:
    text = "## [Unreleased]\n\n### Added\n\n- a\n\n#### b\n\n- c\n- c\n\n### News\n\n### Added\n"
    assert stray_entries(text) == ["- a"]
    assert entries_twice(text) == ["- c"]
    assert wrong_headings(text) == ["News", "Added"]

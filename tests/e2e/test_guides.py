"""The tutorial and the how-to pages: followed from beginning to end, they show what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page_session import session

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_reader_who_follows_the_page_sees_what_it_shows(page: Path, update_cases: bool) -> None:
    written = page.read_text("utf-8")
    with session(page.stem) as here:
        here.run(f"mkdir {page.stem}; cd {page.stem}")
        seen = here.follow(written, updating=update_cases)
    if update_cases:
        page.write_text(seen, "utf-8")
    else:
        assert seen == written, "the page is out of date: run this with --update-cases"

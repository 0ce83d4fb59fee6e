"""The examples on the pages of diagnostic codes are right or wrong as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from policy.model import Source
from policy.syntax import parse

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs" / "checks").glob("*.md"))

_EXAMPLE = re.compile(
    r"^(Wrong|Right)(?:, in `([^`\n]+)`)?:\n\n```policy\n(.*?)^```", re.MULTILINE | re.DOTALL
)

# Codes of the parser: a wrong example of any other code is read without a mistake.
PARSING = frozenset(
    {
        "duplicate-header",
        "header-not-first",
        "hyphen-in-name",
        "missing-header",
        "mixed-and-or",
        "second-unless",
        "syntax-error",
        "too-deep",
        "unknown-escape",
    }
)


def examples(path: Path) -> dict[str, dict[str, str]]:
    """Return the policies of a page by `Wrong` and `Right`, each by its file's name."""
    found: dict[str, dict[str, str]] = {"Wrong": {}, "Right": {}}
    for side, name, text in _EXAMPLE.findall(path.read_text(encoding="utf-8")):
        found[side][name or "global.policy"] = text
    return found


def codes(files: dict[str, str]) -> set[str]:
    sources = [Source(name=name, text=text) for name, text in files.items()]
    return {d.code for source in sources for d in parse(source).diagnostics}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_examples_of_a_page_are_what_it_says(path: Path) -> None:
    found = examples(path)
    assert codes(found["Right"]) == set()
    if found["Wrong"]:
        assert codes(found["Wrong"]) == ({path.stem} if path.stem in PARSING else set())


def test_an_example_that_is_not_what_it_says_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "missing-header.md"
    page.write_text(
        "Wrong, in `a.policy`:\n\n```policy\nallow x\n```\n\nRight:\n\n    y\n", encoding="utf-8"
    )
    assert examples(page) == {"Wrong": {"a.policy": "allow x\n"}, "Right": {}}
    assert codes(examples(page)["Wrong"]) == {"missing-header"}
    assert codes({"a.policy": "policy for every agent\n\ndefault deny\n"}) == set()


def test_no_help_leads_to_a_page_that_an_installed_package_lacks() -> None:
    modules = (PAGES[0].parents[2] / "policy").rglob("*.py")
    named = [m.name for m in modules if re.search(r'help=f?".*docs/', m.read_text("utf-8"))]
    assert named == []

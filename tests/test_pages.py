"""The pages of the diagnostic codes: their examples are as right and as wrong as they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from policy.source import Source
from policy.syntax import parse

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs" / "checks").glob("*.md"))

_EXAMPLE = re.compile(r"^(Wrong|Right):\n\n```policy\n(.*?)^```", re.MULTILINE | re.DOTALL)

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


def examples(path: Path) -> dict[str, str]:
    """Return the policies of a page, by `Wrong` and `Right`."""
    return dict(_EXAMPLE.findall(path.read_text(encoding="utf-8")))


def codes(text: str) -> set[str]:
    return {d.code for d in parse(Source(name="global.policy", text=text)).diagnostics}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_examples_of_a_page_are_what_it_says(path: Path) -> None:
    found = examples(path)
    if "Right" in found:
        assert codes(found["Right"]) == set()
    if "Wrong" in found:
        expected = {path.stem} if path.stem in PARSING else set()
        assert codes(found["Wrong"]) == expected


def test_an_example_that_is_not_what_it_says_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "missing-header.md"
    page.write_text("Wrong:\n\n```policy\nallow x\n```\n\nRight:\n\n    y\n", encoding="utf-8")
    assert examples(page) == {"Wrong": "allow x\n"}
    assert codes(examples(page)["Wrong"]) == {"missing-header"}
    assert codes("policy for every agent\n\ndefault deny\n") == set()

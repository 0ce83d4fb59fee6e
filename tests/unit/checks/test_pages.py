"""The examples on the pages of the checks are right or wrong as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from policy import diagnostics
from tests.unit.checks.checking import codes_of

ROOT = Path(__file__).resolve().parents[3]
CASES = sorted((ROOT / "tests" / "cases" / "checks").glob("*.md"))
SHOWN = [
    code
    for path in CASES
    for code in re.findall(r"^## (\S+)$", path.read_text("utf-8"), re.MULTILINE)
    if code in diagnostics.CODES
]
# Their right examples speak of other files, or of a server's tools.
NOT_ALONE = frozenset(
    {
        "bad-tool-pattern",
        "delegate-to-nobody",
        "narrow-wildcard",
        "unknown-data",
        "unknown-pack",
        "use-outside",
    }
)

NEED_A_SERVER = frozenset({"narrow-wildcard"})

_EXAMPLE = re.compile(r"^(Wrong|Right)(?:, in `(.+?)`)?:\n\n```\w+\n(.*?)^```", re.M | re.S)


def examples(code: str, word: str) -> dict[str, str]:
    text = (ROOT / "docs" / "checks" / f"{code}.md").read_text("utf-8")
    files = {f or "global.policy": t for w, f, t in _EXAMPLE.findall(text) if w == word}
    if files and "global.policy" not in files:
        files["global.policy"] = "policy for every agent\n\ndefault deny\n"
    return files


def said(files: dict[str, str], code: str) -> set[str]:
    """Return the codes of a page's example; what rules and sets lack matters on one page each."""
    return set(codes_of(files)) - ({"unnamed-rule", "unused-name"} - {code})


@pytest.mark.parametrize("code", [code for code in SHOWN if code not in NEED_A_SERVER])
def test_the_wrong_example_of_a_page_shows_its_code(code: str) -> None:
    if files := examples(code, "Wrong"):
        assert said(files, code) == {code}


@pytest.mark.parametrize("code", [code for code in SHOWN if code not in NOT_ALONE])
def test_the_right_example_of_a_page_shows_nothing(code: str) -> None:
    if files := examples(code, "Right"):
        assert said(files, code) == set()

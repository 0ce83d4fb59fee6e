"""The pages of the checks: each example is wrong, or right, as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.checks.checking import codes_of

ROOT = Path(__file__).resolve().parents[3]
CASES = sorted((ROOT / "tests" / "cases" / "checks").glob("*.md"))
CODES = [
    code
    for path in CASES
    for code in re.findall(r"^## (\S+)$", path.read_text("utf-8"), re.MULTILINE)
]
# Their right examples speak of other files, or of a server's tools.
NOT_ALONE = frozenset(
    {
        "bad-tool-pattern",
        "delegate-to-nobody",
        "unknown-data",
        "unknown-pack",
        "use-outside",
    }
)

_EXAMPLE = re.compile(r"^(Wrong|Right)(?:, in `(.+?)`)?:\n\n```\w+\n(.*?)^```", re.M | re.S)


def examples(code: str, word: str) -> dict[str, str]:
    text = (ROOT / "docs" / "checks" / f"{code}.md").read_text("utf-8")
    files = {f or "global.policy": t for w, f, t in _EXAMPLE.findall(text) if w == word}
    if files and "global.policy" not in files:
        files["global.policy"] = "policy for every agent\n\ndefault deny\n"
    return files


@pytest.mark.parametrize("code", CODES)
def test_the_wrong_example_of_a_page_shows_its_code(code: str) -> None:
    if files := examples(code, "Wrong"):
        assert set(codes_of(files)) == {code}


@pytest.mark.parametrize("code", [code for code in CODES if code not in NOT_ALONE])
def test_the_right_example_of_a_page_shows_nothing(code: str) -> None:
    if files := examples(code, "Right"):
        assert codes_of(files) == []

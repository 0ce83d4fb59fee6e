"""The tutorial, how-to pages and others: followed from beginning to end, they show what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.page_session import session

pytestmark = pytest.mark.people

DOCS = Path(__file__).resolve().parents[2] / "docs"
REFERENCE = [DOCS / "pins.md", DOCS / "gateway.md", DOCS / "proofs.md", DOCS / "diff.md"]
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md")), *REFERENCE]


# The shortest: `make test-long` follows the others.
SHORT = {"support-agent"}
FOLLOWED = [
    pytest.param(page, id=page.stem, marks=() if page.stem in SHORT else pytest.mark.long)
    for page in PAGES
]


@pytest.mark.parametrize("page", FOLLOWED)
def test_a_reader_who_follows_the_page_sees_what_it_shows(page: Path, update_cases: bool) -> None:
    written = page.read_text("utf-8")
    with session(page.stem) as here:
        here.run(f"mkdir {page.stem}; cd {page.stem}")
        seen = here.follow(written, updating=update_cases)
    if update_cases:
        page.write_text(seen, "utf-8")
    else:
        assert seen == written, "the page is out of date: run this with --update-cases"


# What the words of a page rely on, in this order: `--update-cases` must not change it unseen.
RELIED_ON = {
    "tutorial": (
        '"verdict": "allow"',
        "ansible-playbook --check site.yml: no pattern names",
        "error[failed-test]",
        "fine: 1 policy file",
        "1 file in canonical form",
        "deny by customers",
        '"permissionDecision": "deny"',
        '"permissionDecision": "deny"',
        "2 errors",
        '"permissionDecision": "ask"',
        "frozen since",
        '"permissionDecision": "deny"',
    ),
    "support-agent": (
        "ask by large-refund",
        "fine: 1 policy file",
        "20.00 paid back",
        "200.00 paid back",
        "not-allowed",
        "approval requests: 1",
    ),
    "research-agent": (
        "fine: 1 policy file",
        '"verdict": "allow"',
        "ask by other-sites",
        "deny by network.no-inside",
    ),
    "pins": (
        "server files is new",
        "U+200B ZERO WIDTH SPACE",
        "read_file` of gemini-cli",
        "? proposed: reads `path` (with all below it if that is a folder), and nothing else",
        "server files: 1 server new, 2 tools new; 2 warnings",
        "tools.lock",
        "reads path; complete",
        '"verdict": "allow"',
        '"verdict": "deny"',
        "tool read_file is changed",
        "- description",
        "+ description",
        "1 tool changed",
        "this is not what was reviewed",
    ),
    "proofs": (
        "5 claims: 5 hold",
        "kept by guests (claims.policy:10)",
        '{"command": "git status", "timeout": 30} -> deny',
        "1 broken",
        "error[invariant-broken]",
        "holds prove always deny",
    ),
    "diff": (
        "an approval by two people",
        "was deny by payroll",
        "now allow by read",
        "timeout",
        "bash_exec - every agent - undecided",
        "True",
    ),
    "gateway": (
        "server git: 1 server new",
        "accepted: server git",
        "fine: 1 policy file",
        "tools: ",
        "git__git_status: Repository status",
        "git__git_reset: denied-by-policy: work is not thrown away",
        "git__git_commit: no-approver",
    ),
    "wrapped-client": (
        "moved 1 server of .mcp.json to rules/placet.toml: git",
        "git_commit is new",
        "server git: 1 server new, 12 tools new",
        "accepted: server git, 12 tools",
        "12 as accepted",
        "fine: 1 policy file",
        "ask by change",
        "the repository's history stays",
        "gave back to .mcp.json: git",
    ),
    "push-to-some-branches": (
        "fine: 1 policy file, 8 test cases passed",
        "deny  bash_exec",
        "allow  bash_exec",
        "5 passed, 0 failed",
    ),
    "data-agent": (
        "fine: 1 policy file",
        "ask by personal-data",
        '"verdict": "deny"',
        '"verdict": "deny"',
        "writes /srv/notes.csv",
    ),
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_output_on_a_page_is_what_its_words_describe(page: Path) -> None:
    blocks = re.findall(r"^```console.*?^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    printed = [line for line in "\n".join(blocks).splitlines() if not line.startswith("$ ")]
    rest = "\n".join(printed)
    for phrase in RELIED_ON[page.stem]:
        before, found, rest = rest.partition(phrase)
        assert found, f"{phrase} is not shown after:\n{before[:300]}"

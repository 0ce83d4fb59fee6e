"""The `sh` blocks of the pages that people start from: each command runs, or is listed here.

`console` blocks show their output, which other tests compare. `sh` blocks are what readers type.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.page_session import session

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/hooks.md", "docs/tutorial.md", "docs/serving.md", "docs/ci.md"]
PAGES += sorted(f"docs/how-to/{page.name}" for page in (ROOT / "docs" / "how-to").glob("*.md"))

_BLOCK = re.compile(r"^( *)```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)

# Commands that no test types, by how they begin, each with the reason.
NOT_TYPED = {
    "make ": "makes an environment and installs packages; CI runs these targets on a clone",
    "cd placet": "the clone that `make` needs",
    'export PATH="$PWD/.venv/bin:$PATH"': "the session has the command already",
    "mkdir ~/tutorial": "test_guides.py works in a folder of its own",
    "cd ~/tutorial": "as above",
    "placet serve ": "serves until its client leaves; test_stdio.py, test_own_tools.py and "
    "test_http.py start it",
    "placet approvals rules --watch": "watches until it is interrupted; tests of approvals do so",
    "placet approvals approve ": "needs a request that waits; test_approvals.py answers some",
}


def typed(page: str) -> list[str]:
    """Return the commands of a page's `sh` blocks, a line each, without comments."""
    blocks = _BLOCK.findall((ROOT / page).read_text("utf-8"))
    lines = [line for _, block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [line for each in lines if (line := re.sub(r"\s+# .*", "", each).strip())]


def is_typed(command: str) -> bool:
    return not command.startswith(tuple(NOT_TYPED))


# They load large policies again and again.
LONG = {"README.md", "docs/hooks.md"}
TYPED = [
    pytest.param(page, marks=pytest.mark.long if page in LONG else ())
    for page in PAGES
    if any(map(is_typed, typed(page)))
]


@pytest.mark.parametrize("page", TYPED)
def test_every_command_that_a_page_lets_people_type_succeeds(page: str) -> None:
    with session() as here:
        shutil.copytree(ROOT / "rules", here.home / "rules")
        for command in filter(is_typed, typed(page)):
            printed = here.run(f"{command}\necho status $?")
            assert printed.endswith("status 0\n"), f"{command}\n{printed}"


def test_what_is_not_typed_is_on_a_page() -> None:
    commands = [command for page in PAGES for command in typed(page)]
    unused = [start for start in NOT_TYPED if not any(c.startswith(start) for c in commands)]
    assert unused == []

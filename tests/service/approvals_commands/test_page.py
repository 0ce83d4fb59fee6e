"""docs/approvals.md: its policy loads, and its console examples show the real output."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from policy.cli import person
from policy.model import Caller
from policy.tools import ToolOutput
from tests.service.approvals_commands.desk import Office, asking, office, question
from tests.unit.cli.running import run

pytestmark = pytest.mark.people

PAGE = (Path(__file__).parents[3] / "docs" / "approvals.md").read_text(encoding="utf-8")
POLICY = re.findall(r"```policy\n(.*?)```", PAGE, re.S)[0]
SETTINGS = re.findall(r"```toml\n(.*?)```", PAGE, re.S)[0]
CODER = Caller(agent="coder", session="s1")

# What is another one each time: ids, digests and times.
_VARIES = re.compile(r"\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{8}\b|\b[0-9]+[smh]\b")


def examples() -> dict[str, str]:
    """Return what each command line of the page prints."""
    found: dict[str, str] = {}
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.S):
        for part in block.split("$ ")[1:]:
            line, _, output = part.partition("\n")
            found[line] = found.get(line, "") + output
    return found


def told(text: str, place: Office) -> list[list[str]]:
    """Return the words of each line, without what is another one each time.

    Where the lines of a diff end depends on how long the names of the folders are.
    """
    text = text.replace(str(place.work), "/srv/work")
    lines = [_VARIES.sub("#", line).split() for line in text.splitlines() if line.strip()]
    if text.startswith("---"):
        words = (word for line in lines if line[0] != "@@" for word in line)
        return [[word for word in words if word != "+"]]
    return lines


class Reader:
    """Follows the page: runs its command lines, with the ids of today."""

    def __init__(self, place: Office) -> None:
        self.place = place
        self.ids: dict[str, str] = {}
        self.printed: dict[str, str] = {}

    async def run(self, line: str) -> None:
        _, _, *words = shlex.split(line)
        given = [str(self.place.work) if word == "/srv/work" else word for word in words]
        given = [self.ids.get(word, word) for word in given]
        ran = await asyncio.to_thread(run, "approvals", *given)
        self.printed[line] = self.printed.get(line, "") + (ran.out or ran.err)


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose name leaves room for what is shown of it."""
    with TemporaryDirectory() as folder:
        yield Path(folder).resolve()


async def test_the_commands_print_what_the_page_says(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(short_path / "state"))
    monkeypatch.setattr(person, "_user", lambda: "ada")
    place = office(short_path, POLICY, f'{SETTINGS}\n[service]\nworkspace = "../work"\n')
    monkeypatch.chdir(short_path)
    reader = Reader(place)
    async with place.serving() as service:
        deleting = asking(service, "file_delete", CODER, path="a.txt")
        reader.ids["a8b095e8"] = (await question(place)).request.id[:8]
        input = {"path": "ledger.csv", "content": "paid\nnot\u202epaid"}
        writing = asking(service, "file_write", CODER, **input)
        reader.ids["e6614c4d"] = (await question(place, number=2)).request.id[:8]
        await reader.run("placet approvals rules/")
        await reader.run("placet approvals show e6614c4d rules/")
        await reader.run("placet approvals propose a8b095e8 rules/ --workspace /srv/work")
        await reader.run("placet approvals propose e6614c4d rules/")
        await reader.run("placet approvals approve a8b095e8 rules/")
        await reader.run("placet approvals approve e6614c4d rules/")
        await reader.run("placet approvals approve e6614c4d rules/")
        monkeypatch.setattr(person, "_user", lambda: "grace")
        await asyncio.to_thread(place.placet, "approve", reader.ids["e6614c4d"])
        assert isinstance(await deleting, ToolOutput)
        assert isinstance(await writing, ToolOutput)
        await reader.run("placet approvals grants rules/")
        reader.ids["7c6ce269"] = reader.printed["placet approvals grants rules/"].split()[7]
        await reader.run("placet approvals revoke 7c6ce269 rules/")
        deleting = asking(service, "file_delete", CODER, path="b.txt")
        reader.ids["7003d312"] = (await question(place)).request.id[:8]
        await reader.run(
            'placet approvals deny 7003d312 rules/ --message "keep it until the audit"'
        )
        assert "keep it until the audit" in str(await deleting)

    wanted = examples()
    assert set(reader.printed) == set(wanted)
    for line, output in wanted.items():
        assert told(reader.printed[line], place) == told(output, place), line


def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    names: dict[str, object] = {}
    exec(re.findall(r"```python\n(.*?)```", PAGE, re.S)[0], names)
    place = office(tmp_path, POLICY)
    serving = names["serving"]
    assert callable(serving)
    assert serving(place.rules).list()


async def test_a_remembered_approval_whose_rule_was_edited_is_listed_as_suspended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(person, "_user", lambda: "ada")
    rule = "allow file_delete when writes only workspace with approval remember 1h up to 2 times"
    text = f"policy for every agent\n\ndefault deny\n\n{rule}\n"
    place = office(tmp_path, text)

    def listed() -> tuple[bool | None, str]:
        (record,) = place.placet("grants", "--format", "json").record["grants"]
        return record["suspended"], place.placet("grants").out

    async with place.serving() as service:
        deleting = asking(service, "file_delete", CODER, path="a.txt")
        id = (await question(place)).request.id
        await asyncio.to_thread(place.placet, "approve", id)
        assert isinstance(await deleting, ToolOutput)
        live, shown = await asyncio.to_thread(listed)
        assert live is False
        assert "suspended" not in shown
    (place.rules / "global.policy").write_text(text.replace("remember 1h", "remember 2h"), "utf-8")
    edited, shown = await asyncio.to_thread(listed)
    assert edited is True
    assert shown.rstrip().endswith("(suspended: its rule or its people's groups were edited)")
    (place.rules / "global.policy").write_text("nonsense\n", "utf-8")
    broken, shown = await asyncio.to_thread(listed)
    assert broken is None
    assert "suspended" not in shown

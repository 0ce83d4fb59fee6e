"""Writing a file of the policy is denied by any name of the file, and never asks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

import policy
from policy.decision import decide
from policy.environment import Disk
from policy.evaluation import Floor
from policy.model import Verdict
from tests.unit.program.compiling import program

_OPEN = "policy for every agent\n\ndefault allow\n"
_FLOOR = (Verdict.DENY, "floor")

# Every way to write that has one target: built-in tools, programs and redirections.
_TOOLS = {
    "file_write": {"content": "x"},
    "file_append": {"content": "x"},
    "file_delete": {},
    "file_chmod": {"mode": "000"},
}
_COMMANDS = (
    "echo x > {}",
    "echo x >> {}",
    ": >| {}",
    "cat <> {}",
    "tee {} < a.txt",
    "cp a.txt {}",
    "mv a.txt {}",
    "mv {} b.txt",
    "ln -f a.txt {}",
    "ln {} b.txt",
    "link {} b.txt",
    "rm {}",
    "rm -rf {}",
    "truncate -s 0 {}",
    "chmod 000 {}",
    "chown 7 {}",
    "touch {}",
    "sed -i s/a/b/ {}",
    "install a.txt {}",
    "dd if=a.txt of={}",
    "rsync a.txt {}",
    "sort -o {} a.txt",
    "if true; then (cd / && echo x > {}); fi",
)


@dataclass
class _Place:
    """A workspace beside a policy folder, and how calls there are judged."""

    root: Path
    rules: Path
    work: Path

    def verdict(self, tool: str, given: dict[str, object]) -> tuple[Verdict, str]:
        generation = policy.load(self.rules)
        facts = policy.Facts(
            cwd=str(self.work), workspace=str(self.work), resolvers=Disk().resolvers()
        )
        decision = generation.decide(policy.ToolCall(tool=tool, input=given), facts=facts)
        return decision.verdict, decision.reasons[0].rule

    def runs(self, command: str) -> tuple[Verdict, str]:
        return self.verdict("bash_exec", {"command": command})

    def written(self, name: Path) -> dict[str, tuple[Verdict, str]]:
        """Return what is said of every way to write a file of this name."""
        found = {
            tool: self.verdict(tool, {"path": str(name), **more})
            for tool, more in _TOOLS.items()
            if tool in {spec.name for spec in policy.builtin_catalog().specs}
        }
        return found | {command: self.runs(command.format(name)) for command in _COMMANDS}


@pytest.fixture
def place(tmp_path: Path) -> _Place:
    rules, work = tmp_path / "rules", tmp_path / "work"
    (rules / "agents").mkdir(parents=True)
    (work / "sub").mkdir(parents=True)
    (work / "a.txt").write_text("a")
    (work / "sub/a.txt").write_text("a")
    (rules / "global.policy").write_text(_OPEN)
    (rules / "placet.toml").write_text(f'[service]\naudit = "{tmp_path}/log/audit.jsonl"\n')
    (tmp_path / "log").mkdir()
    (tmp_path / "log/audit.jsonl").write_text("")
    return _Place(tmp_path, rules, work)


def _all_denied(found: dict[str, tuple[Verdict, str]]) -> None:
    assert {how: what for how, what in found.items() if what != _FLOOR} == {}


@pytest.mark.parametrize("target", ["rules/global.policy", "rules/placet.toml", "log/audit.jsonl"])
def test_a_file_is_closed_by_its_own_name(place: _Place, target: str) -> None:
    _all_denied(place.written(place.root / target))


@pytest.mark.parametrize("target", ["rules/global.policy", "rules/placet.toml", "log/audit.jsonl"])
def test_a_file_is_closed_through_a_symbolic_link(place: _Place, target: str) -> None:
    link = place.work / "sub" / "l"
    link.symlink_to(place.root / target)
    _all_denied(place.written(link))


@pytest.mark.parametrize(
    "name", ["global.policy", "new.policy", "agents/new.policy", "x", "roles/new"]
)
def test_a_file_is_closed_through_a_linked_folder(place: _Place, name: str) -> None:
    (place.work / "l").symlink_to(place.rules)
    (place.work / "ll").symlink_to("l/agents/..")
    for link in ("l", "ll"):
        _all_denied(place.written(place.work / link / name))


@pytest.mark.parametrize("target", ["rules/global.policy", "rules/placet.toml", "log/audit.jsonl"])
def test_a_file_is_closed_through_a_hard_link(place: _Place, target: str) -> None:
    link = place.work / "sub" / "h"
    os.link(place.root / target, link)
    _all_denied(place.written(link))


def test_another_file_with_two_names_is_not_the_policy(place: _Place) -> None:
    os.link(place.work / "a.txt", place.work / "b.txt")
    assert place.runs("echo x > b.txt") != _FLOOR


def test_folders_above_are_closed_through_links(place: _Place) -> None:
    (place.work / "up").symlink_to(place.root)
    for command in (
        "mv up/rules x",
        "rm -r up/rules",
        "rmdir up/log",
        "chmod -R 0 up/",
        "rm -r up/",
    ):
        assert place.runs(command) == _FLOOR, command


def test_a_link_on_the_way_to_the_policy_is_closed(place: _Place) -> None:
    for name, target in (("one", "two"), ("two", "rules")):
        (place.root / name).symlink_to(target)
    linked = _Place(place.root, place.root / "one", place.work)
    for name in ("one", "two", "rules"):
        assert linked.runs(f"ln -sfn /tmp {place.root / name}") == _FLOOR, name
        assert linked.runs(f"mv {place.root / name} x") == _FLOOR, name


def test_a_link_that_a_policy_file_is_read_through_is_closed(place: _Place) -> None:
    (place.rules / "..1").mkdir()
    (place.rules / "global.policy").rename(place.rules / "..1/global.policy")
    (place.rules / "..data").symlink_to("..1")
    (place.rules / "global.policy").symlink_to("..data/global.policy")
    inside = _Place(place.root, place.rules, place.rules)
    for name in ("..data", "..1", "..1/global.policy", "global.policy"):
        assert inside.runs(f"mv {name} elsewhere") == _FLOOR, name


class TestAWorkspaceThatIsThePolicysFolder:
    @pytest.mark.parametrize(
        "name",
        [
            "global.policy",
            "new.policy",
            "agents/x.policy",
            "sub/x.POLICY",
            "X.Policy",
            "placet.toml",
            "Placet.TOML",
            "programs/cat.toml",
            "data/hosts.json",
            "packs/own.policy",
            "hosts.json",
        ],
    )
    def test_what_a_load_reads_or_fails_at_is_closed(self, place: _Place, name: str) -> None:
        inside = _Place(place.root, place.rules, place.rules)
        _all_denied(inside.written(place.rules / name))

    @pytest.mark.parametrize("name", ["notes.txt", "src/a.py", ".vscode/settings.json", ".x.toml"])
    def test_all_else_is_open(self, place: _Place, name: str) -> None:
        inside = _Place(place.root, place.rules, place.rules)
        found = inside.verdict("file_write", {"path": name, "content": "x"})
        assert found[0] is Verdict.ALLOW


class TestASingleFile:
    @pytest.fixture
    def alone(self, tmp_path: Path) -> _Place:
        (tmp_path / "a.txt").write_text("a")
        (tmp_path / "one.policy").write_text(_OPEN)
        return _Place(tmp_path, tmp_path / "one.policy", tmp_path)

    @pytest.mark.parametrize(
        "name",
        [
            "one.policy",
            "placet.toml",
            "PLACET.toml",
            "programs/cat.toml",
            "programs",
            "packs/own.policy",
            "packs/deep/own.policy",
            "data/hosts.json",
            "data/notes.txt",
        ],
    )
    def test_what_a_load_reads_beside_it_is_closed(self, alone: _Place, name: str) -> None:
        _all_denied(alone.written(alone.root / name))

    @pytest.mark.parametrize("name", ["package.json", "two.policy", "src/placet.toml", "a.txt"])
    def test_all_else_is_open(self, alone: _Place, name: str) -> None:
        found = alone.verdict("file_write", {"path": name, "content": "x"})
        assert found[0] is Verdict.ALLOW

    def test_data_beside_a_configuration_is_closed(self, alone: _Place) -> None:
        (alone.root / "placet.toml").write_text("")
        _all_denied(alone.written(alone.root / "hosts.json"))
        assert alone.runs("echo x > src/hosts.json")[0] is Verdict.ALLOW

    def test_packs_that_a_link_leads_to_are_closed_there_too(self, alone: _Place) -> None:
        (alone.root / "shared").mkdir()
        (alone.root / "packs").symlink_to("shared")
        assert alone.runs("echo x > shared/new.policy") == _FLOOR
        assert alone.runs("mv packs elsewhere") == _FLOOR


_IDS = {"/srv": 1, "/srv/rules": 2, "/srv/rules/global.policy": 3, "/log": 4, "/log/a": 5}


class TestOtherNamesOfAFolder:
    """A bind mount shows a folder under another name; device and inode are the same."""

    def _writes(self, name: str, **mounted: str) -> tuple[Verdict, str]:
        """Return what is said of a write where folders are shown at other places too."""

        def identity(path: str) -> tuple[int, int] | None:
            for at, source in mounted.items():
                here = f"/work/{at}"
                if path == here or path.startswith(f"{here}/"):
                    path = source + path.removeprefix(here)
            inode = _IDS.get(path)
            return None if inode is None else (7, inode)

        floor = Floor(files=("/srv/rules/global.policy", "/log/a"), folders=("/srv/rules",))
        asked = program("default allow", floor=floor)
        facts = policy.Facts(
            cwd="/work",
            workspace="/work",
            resolvers=policy.Resolvers(path=lambda path: path, identity=identity),
        )
        call = policy.ToolCall(tool="file_write", input={"path": name, "content": "x"})
        decision = decide(asked, call, policy.Caller(), facts)
        return decision.verdict, decision.reasons[0].rule

    @pytest.mark.parametrize("name", ["m/global.policy", "m/new.policy", "m/deep/new", "m"])
    def test_of_the_policy_folder(self, name: str) -> None:
        assert self._writes(name, m="/srv/rules") == _FLOOR

    @pytest.mark.parametrize("name", ["m/rules/global.policy", "m/rules/new", "m/rules", "m"])
    def test_of_a_folder_above(self, name: str) -> None:
        assert self._writes(name, m="/srv") == _FLOOR

    @pytest.mark.parametrize("name", ["m", "n/a"])
    def test_of_a_file(self, name: str) -> None:
        assert self._writes(name, m="/log/a", n="/log") == _FLOOR

    def test_what_lies_beside_it_is_open(self) -> None:
        assert self._writes("m/other", m="/srv")[0] is Verdict.ALLOW
        assert self._writes("other", m="/srv")[0] is Verdict.ALLOW

"""`placet init`: each set passes its own checks, and nothing is ever overwritten."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from policy.cli.init.starting_sets import STARTING_SETS, files_of
from policy.cli.init.write_set import all_files_of
from policy.daemon import AGENT_NAMES, agent_settings
from policy.decision import explain
from policy.environment import Disk
from policy.generation import load
from policy.model import Caller, Facts, Verdict
from tests.unit.cli.running import run

SETS = sorted(STARTING_SETS)
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", SETS)
def test_a_set_passes_every_check_without_a_warning(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "rules"
    made = run("init", folder, "--for", name)
    assert (made.code, made.err) == (0, "")
    checked = run("check", folder, "--strict")
    assert (checked.code, checked.err) == (0, "")
    assert checked.out.startswith("fine: ")
    tested = run("test", folder, "--coverage")
    assert tested.code == 0
    assert tested.out.endswith(" passed, 0 failed\nevery rule is reached by a case\n")
    assert run("fmt", folder, "--check").code == 0


@pytest.mark.parametrize("name", SETS)
def test_every_file_is_named_and_written_as_it_is_packaged(tmp_path: Path, name: str) -> None:
    made = run("init", tmp_path / "rules", "--for", name)
    files = all_files_of(name)
    assert {"global.policy", "placet.toml"} <= set(files)
    for file, content in files.items():
        assert f"wrote {tmp_path}/rules/{file}\n" in made.out
        assert (tmp_path / "rules" / file).read_bytes() == content
    written = [path for path in (tmp_path / "rules").rglob("*") if path.is_file()]
    assert len(written) == len(files)


@pytest.mark.parametrize("name", SETS)
def test_the_next_steps_work_as_they_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    (tmp_path / "calls.jsonl").write_text('{"tool": "find_orders", "input": {"customer": "c"}}\n')
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"git": {"command": "mcp-server-git"}}}')
    made = run("init", "my rules", "--for", name)
    lines = re.findall(r"^  placet (.*)$", made.out, re.MULTILINE)
    words = [shlex.split(line) for line in lines]
    assert [each[0] for each in words[:2]] == ["check", "explain"]
    for each in words:
        assert "my rules" in each
        if each[0] == "serve":
            continue  # waits for a client
        stdin = None
        if "<" in each:
            stdin, each = (tmp_path / each[-1]).read_text(), each[: each.index("<")]
        done = run(*(word for word in each if word != "--watch"), stdin=stdin)
        assert done.code == 0, (each, done)


def test_the_default_is_a_coding_agent_in_the_folder_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init").code == 0
    assert os.listdir() == ["rules"]
    given = files_of("coding-agent")["global.policy"]
    assert (tmp_path / "rules" / "global.policy").read_bytes() == given
    assert run("check").code == 0


def test_an_explanation_of_the_new_rules_allows_a_file_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("init")
    told = run("explain", "--tool", "file_read", "--input", '{"path": "README.md"}')
    assert told.out.startswith("allow ")


@pytest.mark.parametrize("name", ["global.policy", "notes.txt", ".hidden"])
def test_a_folder_that_holds_anything_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / name).write_text("mine")
    made = run("init", tmp_path / "rules")
    assert (made.code, made.out) == (2, "")
    assert made.err == f"placet: {tmp_path}/rules is not empty: name a new folder\n"
    assert os.listdir(tmp_path / "rules") == [name]
    assert (tmp_path / "rules" / name).read_text() == "mine"


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    assert run("init", tmp_path).code == 0
    assert load(tmp_path).examples


def test_a_file_or_a_broken_link_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    made = run("init", tmp_path / "file")
    assert made.code == 2
    assert (tmp_path / "file").read_text() == "mine"
    os.symlink(tmp_path / "nowhere", tmp_path / "link")
    made = run("init", tmp_path / "link")
    assert (made.code, made.out) == (2, "")
    assert made.err.endswith("cannot be written: File exists\n")
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    made = run("init", tmp_path / "file" / "rules")
    assert (made.code, made.out) == (2, "")
    assert "cannot be written: Not a directory" in made.err


def test_an_unknown_set_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    made = run("init", tmp_path / "rules", "--for", "robot")
    assert made.code == 2
    assert all(name in made.err for name in SETS)
    assert not (tmp_path / "rules").exists()


def test_the_set_for_data_says_which_extra_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.cli.init.write_set.find_spec", lambda _: None)
    made = run("init", tmp_path / "rules", "--for", "data")
    assert (made.code, made.out) == (2, "")
    assert made.err.endswith("needs the extra `sql`: install placet[sql]\n")
    assert not (tmp_path / "rules").exists()
    assert run("init", tmp_path / "rules", "--for", "support").code == 0


def test_the_names_of_the_sets_are_those_that_are_packaged() -> None:
    packaged = ROOT / "policy" / "cli" / "init" / "sets"
    assert sorted(os.listdir(packaged)) == SETS


@pytest.mark.parametrize("agent", AGENT_NAMES)
def test_a_coding_agent_keeps_its_own_tools(tmp_path: Path, agent: str) -> None:
    run("init", tmp_path / "rules")
    generation = load(tmp_path / "rules")
    asked = {"WebSearch", "Skill", "google_web_search", "activate_skill"}
    for tool in agent_settings(agent)[2]:
        # What it says of secrets accesses none.
        decided = generation.answer(tool, {"text": "look at .env"}, caller=Caller(agent=agent))
        wanted = Verdict.ASK if tool in asked else Verdict.ALLOW
        assert decided.decision.verdict is wanted, tool


def test_the_lists_of_own_tools_are_those_of_the_agents() -> None:
    files = all_files_of("coding-agent")
    for agent in AGENT_NAMES:
        own = set(agent_settings(agent)[2])
        listed = json.loads(files.get(f"{agent}.json", b'{"tools": []}'))["tools"]
        assert {tool["name"] for tool in listed} == own


def test_a_coding_agent_searches_a_project_with_installed_packages(tmp_path: Path) -> None:
    run("init", tmp_path / "rules")
    work = tmp_path / "work"
    for file in (
        "src/app.py",
        ".venv/lib/python3.11/site-packages/certifi/cacert.pem",
        "node_modules/tls/test/server.key",
    ):
        (work / file).parent.mkdir(parents=True)
        (work / file).write_text("x")
    call = {"tool": "bash_exec", "workspace": str(work)}
    for command in ("rg --hidden -e TODO -- .", "grep -rn TODO ."):
        line = json.dumps({**call, "input": {"command": command}})
        assert run("explain", tmp_path / "rules", stdin=line).out.startswith("allow ")
        (work / "src" / ".env").write_text("x")
        found = run("explain", tmp_path / "rules", "--format", "json", stdin=line)
        assert found.record["verdict"] == "deny"
        assert f"it contains {work}/src/.env" in found.out
        (work / "src" / ".env").unlink()


def test_what_the_coding_agent_may_do_of_the_bypass_corpus_stays_in_the_workspace(
    tmp_path: Path,
) -> None:
    run("init", tmp_path / "rules")
    generation = load(tmp_path / "rules")
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    facts = generation.complete(Facts(workspace=str(work), resolvers=Disk().resolvers()))
    corpus = (ROOT / "tests" / "data" / "corpora" / "shell_bypass.jsonl").read_text("utf-8")
    seen = 0
    for line in corpus.splitlines():
        command = json.loads(line)["command"]
        decision = generation.answer("bash_exec", {"command": command}, facts=facts).decision
        if decision.verdict is not Verdict.ALLOW:
            continue
        seen += 1
        for use in explain(generation.program, decision, caller=Caller(), facts=facts).resources:
            assert use.verb in ("reads", "writes", "runs"), (command, use)
            path = use.leads_to or use.resource
            within = path == "/dev/null" or path.startswith(str(work))
            assert use.verb == "runs" or within, (command, use)
    assert seen

"""`placet plugins` shows the difference between declared and granted capabilities."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from policy.cli.commands import commands
from policy.plugins import copied, copies_folder, read_plugin

SAMPLES = Path(__file__).parents[3] / "docs/samples"
POLICY = "policy for every agent\n\ndefault deny\n"
MANIFEST = {
    "id": "weather",
    "version": "1.0",
    "capabilities": [
        {"type": "tool", "name": "forecast"},
        {"type": "http_route", "name": "hook", "path": "/weather"},
    ],
}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/global.policy").write_text(POLICY)
    return tmp_path / "rules"


def run(rules: Path, manifest: Any, grants: str) -> Result:
    (rules / "placet.toml").write_text(f"[plugins.weather]\ngrant = {grants}\n")
    file = rules.parent / "weather.json"
    file.write_text(manifest if isinstance(manifest, str) else json.dumps(manifest))
    return CliRunner().invoke(commands, ["plugins", "--rules", str(rules), str(file)])


def test_what_is_withheld_is_shown_with_the_lines_that_would_grant_it(rules: Path) -> None:
    done = run(rules, MANIFEST, '["tool:forecast"]')
    assert done.exit_code == 0
    assert done.stdout == (
        "weather  http_route:hook  withheld: not granted\n"
        "weather  tool:forecast    granted\n"
        "\nto grant what weather asks for, in placet.toml:\n\n"
        '[plugins.weather]\ngrant = ["tool:forecast", "http_route:hook"]\n'
    )
    again = run(rules, MANIFEST, '["tool:forecast", "http_route:hook"]')
    assert (again.exit_code, again.stdout.count("granted\n")) == (0, 2)


def test_what_is_granted_in_vain_is_a_warning(rules: Path) -> None:
    done = run(rules, MANIFEST, '["tool:*", "http_route:*", "tool:forcast"]')
    assert done.exit_code == 1
    assert "`tool:forcast` is granted to weather" in done.stderr


@pytest.mark.parametrize("manifest", ["{", "[]", {"id": "weather"}, {**MANIFEST, "id": "a__b"}])
def test_what_is_no_manifest_is_told_in_one_line(rules: Path, manifest: Any) -> None:
    done = run(rules, manifest, "[]")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("placet: ") and done.stderr.count("\n") == 1


def test_a_grant_that_is_no_pattern_keeps_the_policy_from_loading(rules: Path) -> None:
    done = run(rules, MANIFEST, '["tools:*"]')
    assert done.exit_code == 1
    assert "bad-settings" in done.stderr and "not a kind of capability" in done.stderr


def test_the_command_prints_what_the_page_shows(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs/capabilities.md").read_text()
    (manifest,) = re.findall(r"```json\n(.*?)```", page, re.S)
    (granted,) = re.findall(r"```toml\n(.*?)```", page, re.S)
    ((line, printed),) = re.findall(r"```console\n\$ placet (.*?)\n(.*?)```", page, re.S)
    (rules.parent / "weather.json").write_text(manifest)
    (rules / "placet.toml").write_text(granted)
    monkeypatch.chdir(rules.parent)
    result = CliRunner().invoke(commands, line.split())
    assert (result.exit_code, result.output) == (0, printed)


def test_a_folder_is_shown_with_the_table_that_runs_it(rules: Path) -> None:
    folder = rules.parent / "mask"
    shutil.copytree(SAMPLES / "mask", folder)
    first = shown(rules, "", folder)
    assert first.exit_code == 0
    table = first.stdout.partition("toml:\n\n")[2]
    assert shown(rules, table).stdout == "mask  tool:mask_digits  granted\n"
    (folder / "mask.wat").write_text("(module)")
    changed = shown(rules, table)
    assert changed.exit_code == 1
    assert "are not those whose digest is in placet.toml: it does not run" in changed.stderr
    assert "to run it as it is now" in changed.stdout


def test_what_a_plugin_asks_for_is_a_table_to_be_completed(rules: Path) -> None:
    said = shown(rules, "", SAMPLES / "notes").stdout
    assert "[plugins.notes.sandbox]\n# It reads whatever you name here.\nreads = []\n" in said
    table = said.partition("toml:\n\n")[2]
    assert shown(rules, table).stdout == "notes  tool:search  granted\n"


def test_what_a_manifest_names_stays_within_its_string(rules: Path) -> None:
    folder = rules.parent / "weather"
    folder.mkdir()
    (folder / "main.py").write_text("")
    names = ['/a"]', '/notes", "~/.ssh', "/b\\", "/\u202eevil", "/über"]
    manifest = {
        "id": "weather",
        "version": "1",
        "runtime": {"type": "process", "command": ["python3", "main.py"]},
        "access": {"writes": names},
        "capabilities": [{"type": "tool", "name": "t", "input_schema": {"type": "object"}}],
    }
    (folder / "plugin.json").write_text(json.dumps(manifest))
    said = shown(rules, "", folder).stdout
    table = tomllib.loads(said.partition("toml:\n\n")[2])
    assert table["plugins"]["weather"]["sandbox"]["writes"] == names
    assert "\u202e" not in said and "/über" in said


def test_folders_within_each_other_are_bounded(rules: Path) -> None:
    folder = rules.parent / "mask"
    shutil.copytree(SAMPLES / "mask", folder)
    deep = folder
    for _ in range(300):
        deep = deep / "a"
    deep.mkdir(parents=True)
    done = shown(rules, "", folder)
    assert "more than 100 folders within each other" in done.stderr


def test_a_folder_is_looked_at_before_there_is_a_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(commands, ["plugins", str(SAMPLES / "mask")])
    assert done.exit_code == 0
    assert "there is no `rules` here, so nothing is granted" in done.stderr
    assert "[plugins.mask]" in done.stdout
    for arguments in (["plugins"], ["plugins", "--rules", "other", str(SAMPLES / "mask")]):
        done = CliRunner().invoke(commands, arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "name the policy folder by `--rules`" in done.stderr


def test_an_update_is_shown_by_what_has_changed(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(rules.parent / "state"))
    folder = rules.parent / "notes"
    shutil.copytree(SAMPLES / "notes", folder)
    table = shown(rules, "", folder).stdout.partition("toml:\n\n")[2]
    reviewed = read_plugin(folder)
    text = (folder / "plugin.json").read_text()
    manifest = json.loads(text)
    manifest |= {"version": "2.0", "access": {"network": "hosts", "connects": ["a.test"]}}
    manifest["capabilities"][0]["description"] = "Finds."
    drop = {"type": "tool", "name": "drop", "input_schema": {"type": "object"}}
    manifest["capabilities"].append(drop)
    (folder / "plugin.json").write_text(json.dumps(manifest))
    (folder / "more.js").write_text("")
    done = shown(rules, table)
    assert "what has changed in notes is not known: it has not run here as reviewed" in done.stdout
    # As a service leaves it that has run the plugin.
    copied(reviewed, copies_folder())
    done = shown(rules, table)
    digest = read_plugin(folder).digest
    assert done.exit_code == 1
    assert done.stdout.partition("\n\n")[2] == (
        "since notes was reviewed:\n"
        "  version 1.0 is now 2.0\n"
        "  it asks for reads [], writes [], hosts [a.test]; before, for reads [*], writes [], "
        "network none\n"
        "  new tool: drop\n"
        "  another definition: tool search\n"
        "  new: more.js\n"
        "  changed: plugin.json\n"
        "\nto run it as it is now, in [plugins.notes] of placet.toml:\n\n"
        f'digest = "{digest}"\ngrant = ["tool:search", "tool:drop"]\n'
    )


def test_commands_know_the_tools_of_plugins_that_are_as_reviewed(rules: Path) -> None:
    (rules / "global.policy").write_text(
        f'{POLICY}\nown: allow ext notes/search when reads only "~/notes/**"\n'
    )
    table = shown(rules, "", SAMPLES / "notes").stdout.partition("toml:\n\n")[2]
    (rules / "placet.toml").write_text(table)
    assert CliRunner().invoke(commands, ["check", str(rules)]).stdout.startswith("fine:")
    call = ["--tool", "ext__notes__search", "--input", '{"text": "milk"}']
    said = CliRunner().invoke(commands, ["explain", str(rules), *call]).stdout
    assert said.startswith("allow  ext__notes__search")
    assert "writes nothing (own); the call is allowed because of that" in said
    digest = read_plugin(SAMPLES / "notes").digest
    (rules / "placet.toml").write_text(table.replace(digest, "sha256:" + 64 * "0"))
    assert "unknown-tool" in CliRunner().invoke(commands, ["check", str(rules)]).stdout


def shown(rules: Path, tables: str, *places: Path) -> Result:
    (rules / "placet.toml").write_text(tables)
    return CliRunner().invoke(commands, ["plugins", "--rules", str(rules), *map(str, places)])


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('path = "mask"', "`path` needs a `digest` beside it"),
        ("fuel = 5000", "`fuel` is for a plugin that Placet runs"),
        ('path = "m"\ndigest = "md5:0"', "digest"),
        ('path = "m"\ndigest = "sha256:' + 64 * "0" + '"\nfuel = 1', "fuel"),
        (
            'path = "m"\ndigest = "sha256:' + 64 * "0" + '"\nsandbox = {reads = ["*"]}',
            "without `*`",
        ),
    ],
)
def test_a_table_that_cannot_be_used_is_an_error(rules: Path, table: str, said: str) -> None:
    done = shown(rules, f"[plugins.mask]\n{table}\n")
    assert done.exit_code != 0
    assert said in done.stderr

"""`placet diff`: what is said of two policies that decide calls alike, or differently."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.running import Ran, run

BASE = """\
policy for every agent

default deny

read: allow file_read, file_list when reads only "/srv/**"
write: allow file_write when writes only "/srv/code/**"
run: allow bash_exec when runs only "git status" and input.timeout <= 30
payroll: deny * when reads "/srv/payroll/**"
guests: deny bash_exec when session.role == "guest"
config: ask file_write when writes "/srv/code/config/**" two people
short: rewrite bash_exec set input.timeout = at most 60
often: limit file_list to 10 per 1h
keys: redact results of file_read matching /sk-[a-z]+/
"""


def _diff(tmp_path: Path, *edits: tuple[str, str], more: tuple[str, ...] = ()) -> Ran:
    old, new = tmp_path / "old", tmp_path / "new"
    text = BASE
    for before, after in edits:
        assert before in text
        text = text.replace(before, after, 1)
    for folder, content in ((old, BASE), (new, text)):
        folder.mkdir()
        (folder / "global.policy").write_text(content, encoding="utf-8")
    return run("diff", old, new, *more)


def _rows(ran: Ran) -> dict[str, Any]:
    return {row["tool"]: row for row in ran.record["tools"] if row["status"] != "same"}


def test_rules_that_moved_or_have_another_name_are_the_same(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    head, *rules = BASE.split("\n\n")
    moved = "\n".join(reversed(rules[-1].strip().splitlines())).replace("read:", "reading:")
    for folder, content in ((old, BASE), (new, f"{head}\n\n{rules[0]}\n\n{moved}\n")):
        folder.mkdir()
        (folder / "global.policy").write_text(content, encoding="utf-8")
    ran = run("diff", old, new)
    assert (ran.code, ran.out) == (0, "no tool changed, 17 the same\n")


@pytest.mark.parametrize(
    ("edit", "tool", "call", "was", "now"),
    [
        (('"/srv/code/**"', '"/srv/**"'), "file_write", {}, "deny", "allow"),
        (("<= 30", "<= 60"), "bash_exec", {"timeout": 60}, "deny", "allow"),
        (('reads "/srv/payroll/**"', 'reads "/srv/payrol/**"'), "file_read", {}, "deny", "allow"),
        (("guests: deny", "guests: ask"), "bash_exec", {"command": "git status"}, "deny", "ask"),
        (("default deny", "default ask"), "file_delete", {}, "deny", "ask"),
    ],
)
def test_a_looser_rule_is_shown_by_a_call(
    tmp_path: Path, edit: tuple[str, str], tool: str, call: dict[str, Any], was: str, now: str
) -> None:
    ran = _diff(tmp_path, edit, more=("--format", "json"))
    assert ran.code == 1
    row = _rows(ran)[tool]
    assert row["status"] in ("looser", "both")
    shown = row["looser"]["witness"]
    assert (shown["before"]["verdict"], shown["after"]["verdict"]) == (was, now)
    assert shown["input"].items() >= call.items()
    assert shown["before"]["by"][0]["rule"]


@pytest.mark.parametrize(
    "edit",
    [
        ('"/srv/code/**"', '"/srv/code/public/**"'),
        ("<= 30", "<= 20"),
        ("guests: deny bash_exec when", "guests: deny bash_exec, file_read when"),
        ("<= 30", "<= 30 with approval"),
        ("keys: redact", 'more: deny * when writes "/srv/code/keys/**"\nkeys: redact'),
        ("often: limit file_list to 10", "often: limit file_list to 5"),
        ("often: limit file_list to 10", "seldom: limit file_list, file_read to 10"),
        ("often: limit file_list to 10", "often: limit * to 10"),
        ("often: limit file_list to 10 per 1h", "often: limit file_list to 10 per week"),
        ("often: limit file_list to 10 per 1h", "all: limit file_list, file_read to 9"),
        ("keys: redact", "also: redact results of file_list matching /sk/\nkeys: redact"),
    ],
)
def test_an_edit_that_only_tightens_is_no_error(tmp_path: Path, edit: tuple[str, str]) -> None:
    ran = _diff(tmp_path, edit)
    assert ran.code == 0, ran.out
    assert "tighter" in ran.out


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ((" two people", ""), "looser    file_write"),
        (("short: rewrite bash_exec set input.timeout = at most 60\n", ""), "looser    rewrite"),
        (("limit file_list to 10", "limit file_list to 20"), "from 10 to 20"),
        (("often: limit file_list to 10 per 1h\n", ""), "looser    limit"),
        (("to 10 per 1h", "to 10 per 1m"), "changed from limit file_list to 10 per 1h"),
        (("often: limit file_list to 10", "often: limit * except file_list to 10"), "undecided"),
        (("often: limit file_list to 10", "often: limit file_read to 10"), "undecided limit"),
        (("to 10 per 1h", "to 20 per week"), "undecided limit"),
        (("to 10 per 1h", "to 10 per 1h per session"), "removed: limit file_list to 10 per 1h"),
        (("keys: redact results of file_read matching /sk-[a-z]+/\n", ""), "looser    redaction"),
    ],
)
def test_what_verdicts_hide_is_said(tmp_path: Path, edit: tuple[str, str], words: str) -> None:
    ran = _diff(tmp_path, edit)
    assert ran.code == 1
    assert words in ran.out


def test_a_limit_with_its_tools_in_another_order_is_the_same(tmp_path: Path) -> None:
    for name, tools in (("old", "file_list, file_read"), ("new", "file_read, file_list")):
        (tmp_path / name).mkdir()
        text = BASE.replace("limit file_list", f"limit {tools}")
        (tmp_path / name / "global.policy").write_text(text, encoding="utf-8")
    ran = run("diff", tmp_path / "old", tmp_path / "new")
    assert (ran.code, ran.out) == (0, "no tool changed, 17 the same\n")


def test_one_limit_of_two_that_stays_is_not_the_other(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    more = "a: limit file_list to 100 per day\n"
    looser = BASE.replace("to 10 per 1h", "to 20 per 1h") + more.replace("100", "50")
    for folder, content in ((old, BASE + more), (new, looser)):
        folder.mkdir()
        (folder / "global.policy").write_text(content, encoding="utf-8")
    ran = run("diff", old, new)
    assert ran.code == 1
    assert "looser    limit" in ran.out and "from 10 to 20" in ran.out
    assert "tighter   limit" in ran.out and "from 100 to 50" in ran.out


def test_what_is_not_known_is_undecided_and_counts_as_looser(tmp_path: Path) -> None:
    ran = _diff(
        tmp_path, ('deny * when reads "/srv/payroll/**"', 'deny * when reads "/srv/pay/**"')
    )
    assert ran.code == 1
    assert "undecided bash_exec, every agent" in ran.out
    assert "whether a call is decided less strictly is undecided" in ran.out


def test_settings_are_compared_wherever_the_folders_are(tmp_path: Path) -> None:
    for name, proofs in (("old", "require"), ("new", "off")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "global.policy").write_text(BASE, encoding="utf-8")
        text = f'[service]\nworkspace = "work"\n\n[reload]\nproofs = "{proofs}"\n'
        (tmp_path / name / "placet.toml").write_text(text, encoding="utf-8")
    ran = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json")
    assert ran.code == 1
    assert [change["what"] for change in ran.record["changes"]] == [
        "changed: `[reload]` in placet.toml"
    ]


def test_markdown_has_no_markup_from_the_policy(tmp_path: Path) -> None:
    evil = '"<img src=x> | ](http://e.example) `**a**` @ada"'
    new = f"also: allow list_tools when agent.name == {evil}\nkeys: redact"
    ran = _diff(tmp_path, ("keys: redact", new), more=("--format", "markdown"))
    assert ran.code == 1
    assert "| looser | <code>list&#95;tools</code>" in ran.out
    assert "&#60;img" in ran.out
    for markup in ("<img", "](", "@ada", "**a**"):
        assert markup not in ran.out
    rows = [line for line in ran.out.splitlines() if line.startswith("| looser")]
    assert {line.count("|") for line in rows} == {7}


def _git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True)


def test_a_git_revision_is_read_without_its_attributes(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "global.policy").write_text(BASE, encoding="utf-8")
    # `git archive` would leave the file out.
    (rules / ".gitattributes").write_text("*.policy export-ignore\n", encoding="utf-8")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "rules")
    assert run("diff", "git:HEAD", rules).code == 0
    (rules / "global.policy").write_text(BASE.replace("<= 30", "<= 60"), encoding="utf-8")
    assert "looser    bash_exec" in run("diff", "git:HEAD", rules).out
    assert "tighter   bash_exec" in run("diff", rules, "git:HEAD").out
    assert "looser    bash_exec" in run("diff", f"git:HEAD:{rules}", rules / "global.policy").out
    for wrong in ("git:nowhere", "git:--all", "git:"):
        assert run("diff", wrong, rules).code == 2
    (rules / "link.policy").symlink_to("global.policy")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "link")
    refused = run("diff", "git:HEAD", rules)
    assert refused.code == 2
    assert "symbolic link" in refused.err


def test_a_folder_is_read_in_a_revision_where_it_had_another_name(tmp_path: Path) -> None:
    for name, text in (("old/global.policy", BASE), ("elsewhere/broken.policy", "nonsense\n")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, encoding="utf-8")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "before")
    _git(tmp_path, "mv", "old", "new")
    (tmp_path / "new" / "global.policy").rename(tmp_path / "new" / "main.policy")
    new, old = tmp_path / "new", f"git:HEAD:{tmp_path / 'old'}"
    assert run("diff", old, new).out == "no tool changed, 17 the same\n"
    ran = run("diff", "git:HEAD", new)
    assert ran.code == 2
    assert "write git:HEAD:NAME" in ran.err
    _git(tmp_path, "clone", "-q", "--bare", ".", "bare.git")
    bare = tmp_path / "bare.git"
    assert run("diff", f"git:HEAD:{bare / 'old'}", new).code == 0
    # What is in another repository is not left out in silence.
    submodule = f"160000,{'1' * 40},new/packs"
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "update-index", "--add", "--cacheinfo", submodule)
    _git(tmp_path, "commit", "-qm", "after")
    ran = run("diff", "git:HEAD", new)
    assert ran.code == 2
    assert "`packs` is a submodule" in ran.err


def test_a_large_difference_fits_into_a_comment(tmp_path: Path) -> None:
    more = "".join(
        f"claim{n}: assume never allow file_delete when input.path == {'x' * 300!r}\n".replace(
            "'", '"'
        ).replace("xxx", f"x{n}x", 1)
        for n in range(150)
    )
    ran = _diff(tmp_path, ("keys: redact", f"{more}keys: redact"), more=("--format", "markdown"))
    assert 40_000 < len(ran.out) < 65_536
    assert "more rows: `placet diff` shows all" in ran.out


def test_a_policy_that_does_not_load_is_not_compared(tmp_path: Path) -> None:
    ran = _diff(tmp_path, ("default deny", "default perhaps"))
    assert ran.code == 1
    assert "error[" in ran.err
    assert run("diff", tmp_path / "old", tmp_path / "nothing").code == 2


def test_a_policy_whose_claims_fail_is_compared(tmp_path: Path) -> None:
    ran = _diff(tmp_path, ("often:", "prove never allow file_read\noften:"))
    assert ran.code == 0
    assert "does not load" in ran.err
    assert "changed   claim" in ran.out


def test_the_digest_is_that_of_this_very_difference(tmp_path: Path) -> None:
    records = []
    for number, edit in enumerate((("<= 30", "<= 60"), ("<= 30", "<= 60"), ("<= 30", "<= 61"))):
        (tmp_path / str(number)).mkdir()
        ran = _diff(tmp_path / str(number), edit, more=("--format", "json"))
        records.append(json.loads(ran.out)["digest"])
    assert records[0] == records[1] != records[2]


RESULTS = """\
policy for every agent

default deny
a: allow file_list
b: allow web_fetch when input.url in results(file_list)
"""


@pytest.mark.parametrize("more", [(), ("--format", "json"), ("--format", "markdown")])
def test_what_can_only_be_stricter_is_not_undecided(tmp_path: Path, more: tuple[str, ...]) -> None:
    old, new = tmp_path / "old.policy", tmp_path / "new.policy"
    old.write_text(RESULTS)
    new.write_text(RESULTS.replace("(file_list)", "(file_list) and length(input.url) < 900"))
    ran = run("diff", old, new, *more)
    assert ran.code == 0
    if more[1:] == ("json",):
        assert {row["status"] for row in ran.record["tools"]} == {"not-looser"}
        assert ran.record["may_loosen"] is False
    else:
        assert "1 tool changed (1 not looser)" in ran.out


def test_the_status_in_json_is_that_of_the_text(tmp_path: Path) -> None:
    ran = _diff(tmp_path, (" two people", ""), more=("--format", "json"))
    assert (ran.code, _rows(ran)["file_write"]["status"]) == (1, "looser")

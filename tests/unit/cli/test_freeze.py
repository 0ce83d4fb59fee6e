"""`placet freeze` takes effect even if the audit file cannot be written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from policy.store import Freezer
from tests.unit.cli.running import rules_in, run

pytestmark = pytest.mark.people


def _folder(path: Path) -> None:
    path.mkdir()


def _device(path: Path) -> None:
    path.symlink_to("/dev/full")


def _no_folder(path: Path) -> None:
    path.parent.rmdir()


@pytest.mark.parametrize("make", [os.mkfifo, _folder, _device, _no_folder])
def test_what_cannot_be_recorded_is_frozen_all_the_same_and_not_lifted(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "global.policy").write_text("policy for every agent\n\ndefault allow\n")
    (rules / "placet.toml").write_text('[service]\naudit = "../kept/audit.jsonl"\n')
    audit = tmp_path / "kept" / "audit.jsonl"
    audit.parent.mkdir()
    make(audit)
    frozen = run("freeze", "--because", "stop", "--rules", str(rules))
    assert frozen.code == 0, frozen.err
    assert "it cannot be recorded" in frozen.err
    assert Freezer.of(rules).current()
    lifted = run("unfreeze", "--rules", str(rules))
    assert lifted.code == 2
    assert "it cannot be recorded" in lifted.err
    assert Freezer.of(rules).current()


def frozen(rules: Path, *tools: str) -> str:
    """Freeze tools, and return what is warned of."""
    ran = run("freeze", *tools, "--because", "stop", "--rules", str(rules))
    assert ran.code == 0
    assert all(tool in ran.out for tool in tools)
    run("unfreeze", "--rules", str(rules))
    return ran.err


def test_a_misspelt_name_is_frozen_and_the_nearest_one_is_suggested(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    assert frozen(rules, "file_write", "file_*", "mcp *") == ""
    assert frozen(rules, "fiel_write") == (
        "placet: these rules know no tool called `fiel_write`: did you mean `file_write`?\n"
    )
    assert "`fiel_*`" in frozen(rules, "fiel_*")
    assert "frozen all the same" in frozen(rules, "pay_invoice")


def test_a_name_is_looked_up_even_if_the_policy_does_not_load(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    (rules / "global.policy").write_text("nonsense\n", "utf-8")
    assert "did you mean `file_write`?" in frozen(rules, "file_wirte")
    assert frozen(rules, "file_write") == ""

"""`placet freeze` takes effect even if the audit file cannot be written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from policy.store import Freezer
from tests.unit.cli.running import run


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

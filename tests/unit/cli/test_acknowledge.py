"""`placet acknowledge`: what waits is listed and let through by its digest, and recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policy.store import PolicyStore
from tests.unit.cli.running import run

pytestmark = pytest.mark.people

SETTINGS = '[service]\naudit = "../kept/audit.jsonl"\n\n[reload]\nloosening = "refuse"\n'
RULES = "policy for every agent\n\ndefault {}\n"


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "kept").mkdir()
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "placet.toml").write_text(SETTINGS)
    (folder / "global.policy").write_text(RULES.format("deny"))
    return folder


def _waiting(rules: Path) -> tuple[PolicyStore, str]:
    store = PolicyStore(rules, settle=0.0)
    (rules / "global.policy").write_text(RULES.format("ask"))
    store.reload()
    assert store.status.loosening is not None
    return store, store.status.loosening.digest


def test_what_waits_is_listed_acknowledged_and_recorded(tmp_path: Path, rules: Path) -> None:
    store, digest = _waiting(rules)
    listed = run("acknowledge", "--rules", rules)
    assert (listed.code, listed.out.splitlines()[0]) == (0, f"waits: {digest}")
    done = run("acknowledge", digest, "--rules", rules)
    assert done.code == 0, done.err
    assert store.reload().changed
    (line,) = (tmp_path / "kept" / "audit.jsonl").read_text().splitlines()[-1:]
    record = json.loads(line)
    assert record["tool"] == "placet:acknowledge"
    assert digest in line
    assert run("acknowledge", "--rules", rules).out == "nothing waits\n"


def test_another_digest_is_refused_and_what_cannot_be_recorded_has_no_effect(
    tmp_path: Path, rules: Path
) -> None:
    store, digest = _waiting(rules)
    wrong = run("acknowledge", "sha256:" + "0" * 64, "--rules", rules)
    assert (wrong.code, "nothing waits" in wrong.err) == (2, True)
    (tmp_path / "kept" / "audit.jsonl").unlink()
    (tmp_path / "kept" / "audit.jsonl").mkdir()
    assert run("acknowledge", digest, "--rules", rules).code == 2
    assert not store.reload().changed
    assert run("acknowledge", "--rules", tmp_path / "nothing").code == 2

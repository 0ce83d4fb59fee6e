"""Edits under which calls may do more: they wait for people, warn, or are not looked for."""

from __future__ import annotations

import asyncio
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

import policy
from policy.catalog import Origin, ToolSpec
from policy.model import Verdict
from policy.store import NotWaiting, PolicyStore, Reloaded
from policy.store.loosening_gate import LooseningGate
from tests.unit.store.opened import folder_of_rules, number, open_store, verdict
from tests.waiting import PATIENCE, until

REFUND = ToolSpec(
    name="refund",
    origin=Origin(tool="refund"),
    schema={"type": "object", "properties": {"amount": {"type": "integer"}}},
    complete=True,
)
ASKS = "policy for every agent\ndefault ask\n"
ALLOWS = "policy for every agent\ndefault deny\nread: allow file_read when reads only {}\n"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _folder(tmp_path: Path, loosening: str = "refuse") -> Path:
    root = folder_of_rules(tmp_path)
    (root / "placet.toml").write_text(f'[reload]\nloosening = "{loosening}"\n')
    return root


def _edit(root: Path, text: str) -> None:
    (root / "global.policy").write_text(text)


def _digest(store: PolicyStore) -> str:
    found = store.status.loosening
    assert found is not None
    return found.digest


def test_a_first_start_has_nothing_to_compare_with(tmp_path: Path) -> None:
    root = _folder(tmp_path)
    _edit(root, ASKS)
    store = open_store(root)
    assert (verdict(store), store.status.loosening) == (Verdict.ASK, None)


def test_a_loosened_policy_waits_and_takes_effect_once_acknowledged(tmp_path: Path) -> None:
    root = _folder(tmp_path)
    store = open_store(root)
    _edit(root, ALLOWS.format('"/srv/**"'))
    reloaded = store.reload()
    assert (reloaded.changed, verdict(store), store.status.stale) == (False, Verdict.DENY, True)
    found = store.status.loosening
    assert found is not None
    assert found.refused
    assert found.what[0].startswith('file_read {"path": "/srv')
    assert store.status.diagnostics[0].code == "loosening-refused"
    assert found.digest in store.status.diagnostics[0].help
    store.reload()
    assert verdict(store) is Verdict.DENY
    with pytest.raises(NotWaiting):
        store.acknowledge("sha256:" + "0" * 64)
    assert store.acknowledge(found.digest, by="ada").changed
    assert (verdict(store), store.status.stale, number(store)) == (Verdict.ALLOW, False, 2)
    assert store.acknowledgements.waiting() == ()


def test_an_edit_of_the_configuration_says_whether_it_waits(tmp_path: Path) -> None:
    root = _folder(tmp_path)
    _edit(root, ASKS)
    store = open_store(root)
    made = store.configure("permissions.tools.file_read", "deny")
    assert (made.waiting, made.generation) == ("", store.current)
    made = store.configure("permissions.tools.file_read", None)
    assert made.changed
    assert made.waiting == _digest(store)
    assert (made.generation, verdict(store)) == (store.current, Verdict.DENY)
    assert "loosening-refused" in [found.code for found in made.diagnostics]
    store.acknowledge(made.waiting)
    assert verdict(store) is Verdict.ASK


def test_an_acknowledgement_counts_for_that_very_difference(tmp_path: Path) -> None:
    root = _folder(tmp_path)
    store = open_store(root)
    _edit(root, ALLOWS.format('"/srv/**"'))
    store.reload()
    first = _digest(store)
    # An edit while the other one waits.
    _edit(root, ALLOWS.format('"/**"'))
    store.reload()
    with pytest.raises(NotWaiting):
        store.acknowledge(first)
    assert verdict(store) is Verdict.DENY
    assert _digest(store) != first
    store.acknowledge(_digest(store))
    assert verdict(store) is Verdict.ALLOW


def test_what_was_acknowledged_before_an_edit_does_not_let_that_edit_through(
    tmp_path: Path,
) -> None:
    root = _folder(tmp_path)
    store = open_store(root)
    _edit(root, ALLOWS.format('"/srv/**"'))
    store.reload()
    store.acknowledgements.acknowledge(_digest(store), by="ada")
    _edit(root, ALLOWS.format('"/**"'))
    store.reload()
    assert verdict(store) is Verdict.DENY


@pytest.mark.parametrize(
    "text",
    [
        "policy for every agent\ndefault deny\nno: deny file_read\n",
        "# moved, and nothing else\npolicy for every agent\n\n\ndefault deny\n",
    ],
)
def test_an_edit_that_does_not_loosen_does_not_wait(tmp_path: Path, text: str) -> None:
    root = _folder(tmp_path)
    store = open_store(root)
    _edit(root, text)
    assert store.reload().changed
    assert store.status.loosening is None


def test_rules_that_move_to_another_file_are_the_same(tmp_path: Path) -> None:
    root = _folder(tmp_path)
    _edit(root, ALLOWS.format('"/srv/**"'))
    store = open_store(root)
    _edit(root, "policy for every agent\ndefault deny\n")
    rule = 'policy for every agent\nreading: allow file_read when reads only "/srv/**"\n'
    (root / "more.policy").write_text(rule)
    assert store.reload().changed
    assert verdict(store) is Verdict.ALLOW


def test_what_is_put_back_or_broken_no_longer_waits(tmp_path: Path) -> None:
    root = _folder(tmp_path)
    store = open_store(root)
    _edit(root, ASKS)
    store.reload()
    waited = _digest(store)
    _edit(root, "policy for every agent\ndefault perhaps\n")
    store.reload()
    assert (store.status.stale, store.status.loosening) == (True, None)
    assert store.status.diagnostics[0].code != "loosening-refused"
    _edit(root, "policy for every agent\ndefault deny\n")
    store.reload()
    assert (store.status.stale, store.status.loosening) == (False, None)
    with pytest.raises(NotWaiting):
        store.acknowledge(waited)


def test_the_policy_in_force_decides_whether_an_edit_waits(tmp_path: Path) -> None:
    root = _folder(tmp_path)
    store = open_store(root)
    (root / "placet.toml").write_text('[reload]\nloosening = "allow"\n')
    store.reload()
    assert store.status.stale
    assert "setting changed: `[reload]`" in str(store.status.because)


def test_by_default_what_loosens_takes_effect_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = folder_of_rules(tmp_path)
    store = open_store(root)
    _edit(root, ALLOWS.format('"/srv/**"'))
    with caplog.at_level(logging.WARNING, "policy.store"):
        assert store.reload().changed
    found = store.status.loosening
    assert found is not None
    assert (verdict(store), found.refused, store.status.stale) == (Verdict.ALLOW, False, False)
    assert "calls may do more than before under generation 2" in caplog.text


async def test_an_edit_of_followed_files_is_compared_in_the_background(tmp_path: Path) -> None:
    root = folder_of_rules(tmp_path)
    store = open_store(root, poll=0.01)
    async with store.watch():
        _edit(root, ALLOWS.format('"/srv/**"'))
        await until(lambda: store.status.loosening is not None)
        assert verdict(store) is Verdict.ALLOW


async def test_a_tool_that_is_added_waits_for_no_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first comparison starts a process: the first pins of a gateway took effect late."""
    began, may_end = threading.Event(), threading.Event()
    warning = LooseningGate.warning

    def held(gate: LooseningGate, *versions: Any, **more: Any) -> Any:
        began.set()
        assert may_end.wait(PATIENCE)
        return warning(gate, *versions, **more)

    monkeypatch.setattr(LooseningGate, "warning", held)
    root = folder_of_rules(tmp_path)
    store = open_store(root, poll=0.01)
    async with store.watch():
        _edit(root, ALLOWS.format('"/srv/**"'))
        await until(began.is_set)
        try:
            async with asyncio.timeout(20):
                await asyncio.to_thread(store.extend_catalog, [REFUND])
            assert store.catalog.get("refund") is not None
        finally:
            may_end.set()


def test_nothing_is_compared_where_loosening_is_allowed(tmp_path: Path) -> None:
    root = _folder(tmp_path, "allow")
    store = open_store(root)
    _edit(root, ASKS)
    assert store.reload().changed
    assert store.status.loosening is None


async def test_an_acknowledgement_by_another_process_is_found_without_an_edit(
    tmp_path: Path,
) -> None:
    root = _folder(tmp_path)
    store = open_store(root, poll=0.01)
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    async with store.watch():
        _edit(root, ALLOWS.format('"/srv/**"'))
        await asyncio.to_thread(store.reload)
        other = PolicyStore(root).acknowledgements  # what a command in another process has

        def notice(_outcome: Reloaded) -> None:
            loop.call_soon_threadsafe(changed.set)

        store.subscribe(notice)
        other.acknowledge(_digest(store), by="ada")
        async with asyncio.timeout(PATIENCE):
            await changed.wait()
        assert verdict(store) is Verdict.ALLOW


def test_an_edit_about_a_tool_that_is_added_later_waits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = _folder(tmp_path)
    rule = "policy for every agent\ndefault deny\npay: allow refund when input.amount <= {}\n"
    _edit(root, rule.format(100))
    store = open_store(root)
    _edit(root, rule.format(1000))
    store.reload()
    found = store.status.loosening
    assert found is not None
    assert found.what[0].startswith("statement for every agent added for `refund`, which is not in")
    store.extend_catalog([REFUND])
    assert store.status.stale
    assert "not called until an edit takes effect, or is put back: refund;" in caplog.text
    # What is acknowledged is what is known then: a call.
    assert _digest(store) != found.digest
    store.acknowledge(_digest(store))
    call = policy.ToolCall(tool="refund", input={"amount": 900})
    assert (store.decide(call).verdict, store.status.stale) == (Verdict.ALLOW, False)


CLAIMED = "policy for every agent\ndefault deny\nprove never allow file_read\n"


@pytest.mark.parametrize("proofs", ["off", "warn"])
def test_an_edit_does_not_switch_off_the_proofs_that_it_needs(tmp_path: Path, proofs: str) -> None:
    root = _folder(tmp_path, "warn")
    _edit(root, CLAIMED)
    store = open_store(root)
    (root / "placet.toml").write_text(f'[reload]\nproofs = "{proofs}"\n')
    _edit(root, CLAIMED + "allow file_read\n")
    store.reload()
    assert verdict(store) is Verdict.DENY
    assert store.status.diagnostics[0].code == "invariant-broken"
    # Once the setting alone is in force, it counts.
    _edit(root, CLAIMED)
    assert store.reload().changed
    _edit(root, CLAIMED + "allow file_read\n")
    store.reload()
    assert verdict(store) is Verdict.ALLOW


def test_proofs_that_an_edit_switches_on_are_needed_at_once(tmp_path: Path) -> None:
    root = _folder(tmp_path, "warn")
    (root / "placet.toml").write_text('[reload]\nproofs = "off"\n')
    _edit(root, CLAIMED)
    store = open_store(root)
    (root / "placet.toml").write_text("")
    _edit(root, CLAIMED + "allow file_read\n")
    store.reload()
    assert verdict(store) is Verdict.DENY


@pytest.mark.parametrize("loosening", ["refuse", "warn"])
def test_a_claim_that_is_not_made_any_more_is_a_loosening(tmp_path: Path, loosening: str) -> None:
    root = _folder(tmp_path, loosening)
    _edit(root, CLAIMED)
    store = open_store(root)
    _edit(root, "policy for every agent\ndefault deny\nno: deny file_read\n")
    store.reload()
    found = store.status.loosening
    assert found is not None
    assert found.what == ("claim for every agent removed: prove never allow file_read",)
    assert store.status.stale is (loosening == "refuse")

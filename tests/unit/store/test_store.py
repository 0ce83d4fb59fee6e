"""The policy store: loads, edits, and the last good generation."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

import policy
from policy.approvals import SqliteApprovals
from policy.audit import JsonlSink
from policy.generation import state_folder
from policy.model import Verdict
from policy.store import PolicyStore
from tests.unit.store.opened import (
    BROKEN,
    CALL,
    folder_of_rules,
    number,
    open_store,
    rules,
    verdict,
)

LOST = "no policy could be loaded"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_of_rules(tmp_path)


def test_the_first_load_is_in_force_at_once(folder: Path) -> None:
    store = open_store(folder)
    assert number(store) == 1
    assert verdict(store) is Verdict.DENY
    assert not store.status.stale
    assert store.status.generation == store.current.id  # type: ignore[union-attr]


def test_a_decision_names_its_generation(folder: Path) -> None:
    store = open_store(folder)
    assert store.current is not None
    assert store.decide(CALL).generation == store.current.id


def test_an_edit_is_in_force_after_a_reload(folder: Path) -> None:
    store = open_store(folder)
    (folder / "global.policy").write_text(rules("allow"))
    outcome = store.reload()
    assert outcome.changed
    assert outcome.generation is store.current
    assert outcome.milliseconds > 0
    assert number(store) == 2
    assert verdict(store) is Verdict.ALLOW


def test_a_generation_never_changes(folder: Path) -> None:
    store = open_store(folder)
    old = store.current
    assert old is not None
    (folder / "global.policy").write_text(rules("allow"))
    store.reload()
    assert old.decide(CALL).verdict is Verdict.DENY


def test_the_same_bytes_change_nothing(folder: Path) -> None:
    store = open_store(folder)
    before = store.current
    os.replace(shutil.copy(folder / "global.policy", folder / "x.tmp"), folder / "global.policy")
    os.utime(folder / "global.policy")
    assert not store.reload().changed
    assert store.current is before


def test_a_broken_edit_changes_only_the_status(folder: Path) -> None:
    store = open_store(folder)
    before = store.current
    (folder / "global.policy").write_text(BROKEN)
    outcome = store.reload()
    assert not outcome.changed
    assert store.current is before
    status = store.status
    assert status.stale
    assert status.generation == before.id  # type: ignore[union-attr]
    assert status.because is not None
    assert status.because.startswith("global.policy:3: ")
    assert status.diagnostics == outcome.diagnostics != ()
    assert "stale since" in str(status)


def test_stale_counts_from_the_first_error(folder: Path) -> None:
    moments = (datetime(2026, 1, 1, 0, minute, tzinfo=UTC) for minute in range(60))
    store = open_store(folder, clock=lambda: next(moments))
    (folder / "global.policy").write_text(BROKEN)
    store.reload()
    since, because = store.status.stale_since, store.status.because
    (folder / "global.policy").write_text("\n\n" + BROKEN)
    store.reload()
    assert store.status.stale_since == since
    assert store.status.because != because


def test_mending_the_file_takes_the_status_back(folder: Path) -> None:
    store = open_store(folder)
    (folder / "global.policy").write_text(BROKEN)
    store.reload()
    (folder / "global.policy").write_text(rules("ask"))
    assert store.reload().changed
    assert number(store) == 2
    assert not store.status.stale


def test_undoing_the_edit_restores_the_same_generation(folder: Path) -> None:
    store = open_store(folder)
    before = store.current
    (folder / "global.policy").write_text(BROKEN)
    store.reload()
    (folder / "global.policy").write_text(rules("deny"))
    assert not store.reload().changed
    assert store.current is before
    assert not store.status.stale


def delete(folder: Path) -> None:
    (folder / "global.policy").unlink()


def delete_root(folder: Path) -> None:
    shutil.rmtree(folder)


def empty(folder: Path) -> None:
    (folder / "global.policy").write_bytes(b"")


def truncate(folder: Path) -> None:
    (folder / "global.policy").write_text("policy for every ag")


def nul(folder: Path) -> None:
    (folder / "global.policy").write_text("policy for every agent\ndefault\0allow\n")


def latin(folder: Path) -> None:
    (folder / "global.policy").write_bytes(b"policy for every agent\n# caf\xe9\ndefault allow\n")


def utf16(folder: Path) -> None:
    (folder / "global.policy").write_text(rules("allow"), encoding="utf-16")


def huge(folder: Path) -> None:
    (folder / "global.policy").write_text(rules("allow") + "#" * 50_000_000)


def device(folder: Path) -> None:
    (folder / "global.policy").unlink()
    os.mkfifo(folder / "global.policy")


def another_default(folder: Path) -> None:
    (folder / "other.policy").write_text(rules("allow"))


def same_name(folder: Path) -> None:
    (folder / "global.policy").write_text(rules("allow") + "tools t = file_read\n")
    (folder / "x.policy").write_text("policy for every agent\ntools t = file_write\nno: deny t\n")


def unknown_tool(folder: Path) -> None:
    (folder / "placet.toml").write_text("[catalogue]\ncomplete = true\n")
    (folder / "global.policy").write_text(rules("allow") + "no: deny file_raed\n")


def unknown_key(folder: Path) -> None:
    (folder / "placet.toml").write_text("[servce]\n")


def bad_toml(folder: Path) -> None:
    (folder / "placet.toml").write_text("[service\n")


def use_cycle(folder: Path) -> None:
    (folder / "global.policy").write_text('policy for every agent\nuse "a.policy"\ndefault allow\n')
    (folder / "a.policy").write_text('pack "a"\nuse "b.policy"\nx: deny file_read\n')
    (folder / "b.policy").write_text('pack "b"\nuse "a.policy"\ny: deny file_read\n')


def failing_test(folder: Path) -> None:
    (folder / "global.policy").write_text(
        rules("allow") + 'test "t"\n  file_read {path: "/a"} -> deny\n'
    )


def missing_catalogue(folder: Path) -> None:
    (folder / "placet.toml").write_text('[catalogue]\nfiles = ["tools.json"]\n')


def bad_catalogue(folder: Path) -> None:
    (folder / "tools.json").write_text('{"a": 1, "a": 2}')
    missing_catalogue(folder)


def deep_catalogue(folder: Path) -> None:
    (folder / "tools.json").write_text("[" * 200_000)
    missing_catalogue(folder)


def bad_data(folder: Path) -> None:
    (folder / "d.json").write_text('{"a": NaN}')
    (folder / "global.policy").write_text(
        rules("allow") + 'strings s from "d.json" at a\nx: deny file_read when input.path in s\n'
    )


def link_cycle(folder: Path) -> None:
    (folder / "loop").symlink_to(".")


def link_outside(folder: Path) -> None:
    (folder.parent / "secret.policy").write_text(rules("allow"))
    (folder / "secret.policy").symlink_to("../secret.policy")


BREAKAGES: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "deleted": (delete, "empty-policy", ""),
    "root deleted": (delete_root, "unreadable-file", ""),
    "emptied": (empty, "missing-header", "global.policy"),
    "cut off": (truncate, "syntax-error", "global.policy:1"),
    "nul": (nul, "control-character", "global.policy:2"),
    "latin-1": (latin, "not-utf8", "global.policy:2"),
    "utf-16": (utf16, "not-utf8", "global.policy:1"),
    "50 MB": (huge, "file-too-large", "global.policy"),
    "a pipe": (device, "unreadable-file", "global.policy"),
    "two defaults": (another_default, "", ""),
    "a name twice": (same_name, "name-redefined", ""),
    "an unknown tool": (unknown_tool, "unknown-tool", "global.policy:3"),
    "an unknown key": (unknown_key, "unknown-setting", "placet.toml:1"),
    "no TOML": (bad_toml, "bad-settings", "placet.toml:1"),
    "a cycle of use": (use_cycle, "use-cycle", ""),
    "a failing test": (failing_test, "failed-test", "global.policy:4"),
    "no catalogue": (missing_catalogue, "bad-catalogue", "placet.toml:2"),
    "duplicate keys": (bad_catalogue, "bad-catalogue", "placet.toml:2"),
    "deep nesting": (deep_catalogue, "bad-catalogue", "placet.toml:2"),
    "data that is none": (bad_data, "bad-data", "d.json"),
    "a link cycle": (link_cycle, "link-cycle", "loop"),
    "a link outside": (link_outside, "outside-folder", "secret.policy"),
}


@pytest.mark.parametrize("name", BREAKAGES)
def test_bad_input_keeps_the_last_good_generation(folder: Path, name: str) -> None:
    damage, code, place = BREAKAGES[name]
    store = open_store(folder)
    before = store.current
    damage(folder)
    outcome = store.reload()
    errors = [d for d in outcome.diagnostics if d.severity == "error"]
    assert store.current is before
    assert verdict(store) is Verdict.DENY
    assert store.status.stale
    assert errors
    assert not any(d.code == "internal-error" for d in errors)
    matching = [d for d in errors if code in ("", d.code)]
    assert matching, errors
    assert any(f"{d.place[0]}:{d.place[1]}".startswith(place) for d in matching), errors


@pytest.mark.parametrize("name", BREAKAGES)
def test_bad_input_at_the_start_denies_everything(folder: Path, name: str) -> None:
    BREAKAGES[name][0](folder)
    store = open_store(folder)
    decision = store.decide(CALL)
    assert store.current is None
    assert store.status.stale
    assert store.status.because
    assert "everything is denied" in str(store.status)
    assert decision.verdict is Verdict.DENY
    assert [(r.rule, r.message) for r in decision.reasons] == [("none", LOST)]


@pytest.mark.parametrize("name", BREAKAGES)
def test_loading_bad_input_raises_with_every_diagnostic(folder: Path, name: str) -> None:
    BREAKAGES[name][0](folder)
    with pytest.raises(policy.PolicyInvalid) as raised:
        policy.load(folder)
    assert raised.value.diagnostics


@pytest.mark.parametrize("text", ["\ufeff" + rules("ask"), rules("ask").replace("\n", "\r\n")])
def test_marks_and_line_ends_of_other_systems_load(folder: Path, text: str) -> None:
    (folder / "global.policy").write_bytes(text.encode())
    assert open_store(folder).decide(CALL).verdict is Verdict.ASK


@pytest.mark.parametrize("tool", ["", "x" * 100_000, "\ud800", None, 7])
@pytest.mark.parametrize("input", [None, b"\xff", "{", {"a": float("nan")}, [[]] * 3])
def test_without_a_policy_any_call_is_denied(tmp_path: Path, tool: object, input: object) -> None:
    store = open_store(tmp_path / "nowhere")
    answer = store.answer(tool, input)  # type: ignore[arg-type]
    assert answer.decision.verdict is Verdict.DENY
    assert answer.admitted is None


def test_a_policy_that_appears_later_is_loaded(tmp_path: Path) -> None:
    store = open_store(tmp_path / "rules")
    assert store.current is None
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/global.policy").write_text(rules("allow"))
    assert store.reload().changed
    assert number(store) == 1
    assert verdict(store) is Verdict.ALLOW


def test_a_call_may_not_write_the_policy(folder: Path) -> None:
    (folder / "global.policy").write_text(rules("allow"))
    store = open_store(folder)
    for name in ("global.policy", "placet.toml", "."):
        write = policy.ToolCall(
            tool="file_write", input={"path": str(folder / name), "content": ""}
        )
        decision = store.decide(write)
        assert decision.verdict is Verdict.DENY
        assert decision.reasons[0].rule == "floor"


def test_a_call_may_not_write_what_approvals_are_kept_in(folder: Path, tmp_path: Path) -> None:
    (folder / "global.policy").write_text(rules("allow"))
    (folder / "placet.toml").write_text('[approvals]\nstore = "../kept/a.sqlite"\n')
    guarded = tmp_path / "elsewhere" / "b.sqlite"
    store = policy.PolicyStore(folder, guarded=[str(guarded)])
    kept = folder.parent / "kept" / "a.sqlite"
    for path in (kept, f"{kept}-wal", f"{kept}-shm", f"{kept}-journal", kept.parent, guarded):
        write = policy.ToolCall(tool="file_write", input={"path": str(path), "content": ""})
        decision = store.decide(write)
        assert (decision.verdict, decision.reasons[0].rule) == (Verdict.DENY, "floor"), path
    beside = policy.ToolCall(tool="file_write", input={"path": f"{kept}x", "content": ""})
    assert store.decide(beside).verdict is Verdict.ALLOW


def closes(store: PolicyStore, path: Path | str) -> bool:
    """Tell whether the floor keeps a file from every tool."""
    write = policy.ToolCall(tool="file_write", input={"path": str(path), "content": ""})
    return store.decide(write).reasons[0].rule == "floor"


def test_what_is_in_use_stays_out_of_reach_where_the_configuration_names_another(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "global.policy").write_text(rules("allow"))
    text = '[service]\naudit = "../{0}.jsonl"\n[approvals]\nstore = "../{0}.sqlite"\n'
    (folder / "placet.toml").write_text(text.format("one"))
    store = open_store(folder)
    used = [folder.parent / name for name in ("one.jsonl", "one.jsonl.runs/x", "one.sqlite-wal")]
    assert all(closes(store, path) for path in used)
    before = store.current
    store.guard(audit=folder.parent / "one.jsonl", approvals=folder.parent / "one.sqlite")
    assert store.current is before, "it is closed already"

    (folder / "placet.toml").write_text(text.format("two"))
    store.reload()
    others = [folder.parent / name for name in ("two.jsonl", "two.jsonl.runs/x", "two.sqlite-wal")]
    assert all(closes(store, path) for path in (*used, *others))
    store.configure("permissions.tools.list_tools", "deny")
    assert all(closes(store, path) for path in (*used, *others))


def test_what_is_used_besides_is_out_of_reach_at_once_and_no_new_generation(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "global.policy").write_text(rules("allow"))
    work = tmp_path / "elsewhere"
    work.mkdir()
    given = open_store(folder)
    assert not closes(given, tmp_path / "a.jsonl")
    policy.build_tool_service(
        given,
        workspace=work,
        audit=JsonlSink(tmp_path / "a.jsonl"),
        approvals=SqliteApprovals(tmp_path / "a.sqlite"),
    )
    for name in ("a.jsonl", "a.jsonl.runs/x", "a.sqlite", "a.sqlite-journal"):
        assert closes(given, tmp_path / name), name
    assert given.current is not None
    assert given.current.id.number == 1
    told = policy.PolicyStore(folder, audit=tmp_path / "b.jsonl")
    assert closes(told, tmp_path / "b.jsonl")
    assert closes(told, tmp_path / "b.jsonl.runs/x")


def test_the_state_of_every_policy_of_this_user_is_out_of_reach(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "global.policy").write_text(rules("allow"))
    store = open_store(folder)
    other = tmp_path / "other"
    assert closes(store, state_folder(folder) / "freeze.json")
    assert closes(store, state_folder(other) / "freeze.json")
    assert closes(store, state_folder(other) / "approvals.sqlite")

"""The policy store: loads, edits, and the last good generation."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

import policy
from policy.approvals import SqliteApprovals
from policy.audit import JsonlSink
from policy.catalog import CatalogError, Origin, ToolSpec
from policy.generation import state_folder
from policy.model import Verdict
from policy.store import PolicyStore, Reloaded, Status

LIMIT = 20.0
CALL = policy.ToolCall(tool="file_read", input={"path": "/srv/a"})
LOST = "no policy could be loaded"


def rules(verdict: str) -> str:
    return f"policy for every agent\ndefault {verdict}\n"


BROKEN = "policy for every agent\ndefault deny\nallow file_raed file_list\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "above" / "rules"
    root.mkdir(parents=True)
    (root / "global.policy").write_text(rules("deny"))
    return root


def open_store(path: Path, **options: object) -> PolicyStore:
    return PolicyStore(path, settle=0.0, **options)  # type: ignore[arg-type]


def verdict(store: PolicyStore) -> Verdict:
    return store.decide(CALL).verdict


def number(store: PolicyStore) -> int | None:
    return None if store.current is None else store.current.id.number


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


def test_half_a_save_is_never_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = PolicyStore(folder, settle=1.0)
    events: list[Reloaded] = []
    store.subscribe(events.append)
    (folder / "global.policy").write_text("policy for every agent\ndefault al")
    # The other half arrives while the error waits to be believed.
    monkeypatch.setattr(
        "policy.store.store.time.sleep",
        lambda _: (folder / "global.policy").write_text(rules("allow")),
    )
    assert store.reload().changed
    assert [event.changed for event in events] == [True]
    assert not store.status.stale


def test_an_older_build_never_follows_a_newer_one(folder: Path) -> None:
    store = open_store(folder)
    (folder / "global.policy").write_text(rules("ask"))
    build = store._builder.build
    saved = iter([rules("allow")])

    def slow(*args: object, **options: object) -> object:
        built = build(*args, **options)  # type: ignore[arg-type]
        for text in saved:  # a save while the first build is still under way
            (folder / "global.policy").write_text(text)
        return built

    store._builder.build = slow  # type: ignore[assignment, method-assign]
    store.reload()
    assert number(store) == 2
    assert verdict(store) is Verdict.ALLOW


def test_reloads_from_many_threads_publish_once(folder: Path) -> None:
    store = open_store(folder)
    (folder / "global.policy").write_text(rules("allow"))
    outcomes: list[Reloaded] = []
    threads = [threading.Thread(target=lambda: outcomes.append(store.reload())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [outcome.changed for outcome in outcomes].count(True) == 1
    assert number(store) == 2


def test_subscribers_hear_of_swaps_and_of_the_status(folder: Path) -> None:
    heard: list[tuple[bool, bool]] = []
    store = open_store(folder, on_change=[lambda e: heard.append((e.changed, e.status.stale))])
    for text in (BROKEN, BROKEN, rules("ask")):
        (folder / "global.policy").write_text(text)
        store.reload()
    assert heard == [(True, False), (False, True), (True, False)]


def test_a_subscriber_can_leave_and_may_fail(folder: Path) -> None:
    store = open_store(folder)
    heard: list[Reloaded] = []

    def fail(_: Reloaded) -> None:
        raise RuntimeError

    store.subscribe(fail)
    leave = store.subscribe(heard.append)
    (folder / "global.policy").write_text(rules("ask"))
    assert store.reload().changed
    leave()
    leave()
    (folder / "global.policy").write_text(rules("allow"))
    store.reload()
    assert len(heard) == 1


def tool(name: str, server: str = "") -> ToolSpec:
    origin = Origin(kind="mcp" if server else "host", server=server, tool=name)
    return ToolSpec(name=origin.flat_name(), origin=origin, schema={"type": "object"})


def test_tools_that_are_registered_later_are_decided(folder: Path) -> None:
    (folder / "global.policy").write_text(rules("allow"))
    store = open_store(folder)
    ping = policy.ToolCall(tool="ping")
    assert store.decide(ping).verdict is Verdict.DENY
    outcome = store.extend_catalog([tool("ping")])
    assert outcome.changed
    assert number(store) == 2
    assert store.decide(ping).verdict is Verdict.ALLOW


def test_tools_that_cannot_stand_beside_others_change_nothing(folder: Path) -> None:
    store = open_store(folder)
    before = store.catalog
    with pytest.raises(CatalogError):
        store.extend_catalog([tool("a"), tool("a")])
    assert store.catalog is before
    assert number(store) == 1


def test_a_flaw_of_ours_keeps_the_last_good_generation(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(folder)
    before = store.current

    def broken(*_: object, **__: object) -> object:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("policy.generation.builder.check", broken)
    (folder / "global.policy").write_text(rules("allow"))
    assert [d.code for d in store.reload().diagnostics] == ["internal-error"]
    assert store.current is before
    assert store.status.stale


def test_reading_that_fails_keeps_the_last_good_generation(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(folder)
    before = store.current

    def broken(_: object) -> object:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("policy.store.store.read_folder", broken)
        store.reload()
        assert store.current is before
        assert store.status.stale
    store.reload()
    assert not store.status.stale


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


def test_half_a_save_that_would_load_does_not_take_effect(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "global.policy"
    head, tail = rules("allow"), 'keys: deny file_read when reads "/srv/**"\n'
    file.write_text(head + tail)
    store = open_store(folder)
    told: list[Reloaded] = []
    store.subscribe(told.append)
    with file.open("w") as half:
        half.write(f"# 1\n{head}")
        half.flush()

        def finish(seconds: float) -> None:
            assert verdict(store) is Verdict.DENY
            half.write(tail)
            half.flush()

        monkeypatch.setattr("policy.store.store.time.sleep", finish)
        store.reload()
    assert verdict(store) is Verdict.DENY
    (only,) = told
    assert only.generation is not None
    assert only.generation.id.number == 2


def test_a_file_that_is_cut_and_stays_so_takes_effect(folder: Path) -> None:
    file = folder / "global.policy"
    file.write_text(rules("deny") + "# a remark\n")
    store = PolicyStore(folder, settle=0.01)
    file.write_text(rules("allow"))
    assert store.reload().changed
    assert verdict(store) is Verdict.ALLOW


def test_a_shorter_file_in_the_place_of_another_takes_effect_at_once(folder: Path) -> None:
    file = folder / "global.policy"
    file.write_text(rules("deny") + "# a remark\n")
    store = PolicyStore(folder, settle=3600.0)
    (folder / "fresh").write_text(rules("allow"))
    (folder / "fresh").replace(file)
    assert store.reload().changed
    assert verdict(store) is Verdict.ALLOW


# ------------------------------------------------------------------ watching


@asynccontextmanager
async def watched(path: Path) -> AsyncIterator[tuple[PolicyStore, Waiter]]:
    """Watch with events alone."""
    store = PolicyStore(path, settle=0.05, poll=3600.0)
    waiter = Waiter(store)
    async with asyncio.timeout(LIMIT), store.watch():
        yield store, waiter


class Waiter:
    """Waits for a status or a verdict, woken by the store's events."""

    def __init__(self, store: PolicyStore) -> None:
        self.store = store
        self.loop = asyncio.get_running_loop()
        self.woken = asyncio.Event()
        store.subscribe(self.wake)

    def wake(self, _: Reloaded) -> None:
        self.loop.call_soon_threadsafe(self.woken.set)

    async def until(self, fits: Callable[[Status], bool]) -> None:
        while not fits(self.store.status):
            await self.woken.wait()
            self.woken.clear()

    async def until_verdict(self, wanted: Verdict) -> None:
        await self.until(lambda _: verdict(self.store) is wanted)


def replace(path: Path, text: str) -> None:
    path.with_suffix(".tmp").write_text(text)
    os.replace(path.with_suffix(".tmp"), path)


async def test_every_save_takes_effect_while_watching(folder: Path) -> None:
    async with watched(folder) as (_, waiter):
        for save in (lambda p, t: p.write_text(t), replace):
            for wanted in (Verdict.ALLOW, Verdict.ASK, Verdict.DENY):
                save(folder / "global.policy", rules(wanted))
                await waiter.until_verdict(wanted)


async def test_a_burst_ends_in_its_last_save(folder: Path) -> None:
    async with watched(folder) as (store, waiter):
        for _ in range(50):
            (folder / "global.policy").write_text(rules("ask"))
            (folder / "global.policy").write_text(rules("deny"))
        (folder / "global.policy").write_text(rules("allow"))
        await waiter.until_verdict(Verdict.ALLOW)
        assert not store.status.stale


async def test_watching_sees_damage_and_repair(folder: Path) -> None:
    async with watched(folder) as (store, waiter):
        (folder / "global.policy").write_text(BROKEN)
        await waiter.until(lambda status: status.stale)
        assert verdict(store) is Verdict.DENY
        shutil.rmtree(folder)
        await waiter.until(lambda s: s.because is not None and "does not exist" in s.because)
        os.mkdir(folder)
        replace(folder / "global.policy", rules("allow"))
        await waiter.until_verdict(Verdict.ALLOW)
        assert not store.status.stale


async def test_an_edit_between_loading_and_watching_is_not_missed(folder: Path) -> None:
    store = PolicyStore(folder, poll=3600.0)
    replace(folder / "global.policy", rules("allow"))
    async with store.watch():
        assert verdict(store) is Verdict.ALLOW


async def test_a_swapped_mount_takes_effect(tmp_path: Path) -> None:
    root = tmp_path / "mount"
    for name in ("deny", "allow", "ask"):
        (root / f"..{name}").mkdir(parents=True)
        (root / f"..{name}/global.policy").write_text(rules(name))
    (root / "..data").symlink_to("..deny")
    (root / "global.policy").symlink_to("..data/global.policy")
    async with watched(root) as (_, waiter):
        for wanted in (Verdict.ALLOW, Verdict.ASK):
            (root / "..tmp").symlink_to(f"..{wanted}")
            os.replace(root / "..tmp", root / "..data")
            await waiter.until_verdict(wanted)


async def test_the_end_of_watching_leaves_the_policy_in_force(folder: Path) -> None:
    before = asyncio.all_tasks()
    async with watched(folder) as (store, _):
        pass
    assert asyncio.all_tasks() == before
    assert verdict(store) is Verdict.DENY
    (folder / "global.policy").write_text(rules("allow"))
    assert store.reload().changed


async def test_the_block_that_watches_may_be_cancelled(folder: Path) -> None:
    entered = asyncio.Event()

    async def serve() -> None:
        async with PolicyStore(folder).watch():
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(serve())
    await asyncio.wait_for(entered.wait(), LIMIT)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

"""When files take effect: half-done saves, several at once, errors, and who is notified."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from policy.model import Verdict
from policy.store import PolicyStore, Reloaded
from tests.unit.store.opened import BROKEN, folder_of_rules, number, open_store, rules, verdict


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_of_rules(tmp_path)


def test_half_a_save_is_never_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = PolicyStore(folder, settle=1.0)
    events: list[Reloaded] = []
    store.subscribe(events.append)
    (folder / "global.policy").write_text("policy for every agent\ndefault al")
    # The other half arrives while the error waits to be believed.
    monkeypatch.setattr(
        "policy.store.publisher.time.sleep",
        lambda _: (folder / "global.policy").write_text(rules("allow")),
    )
    assert store.reload().changed
    assert [event.changed for event in events] == [True]
    assert not store.status.stale


def test_an_older_build_never_follows_a_newer_one(folder: Path) -> None:
    store = open_store(folder)
    (folder / "global.policy").write_text(rules("ask"))
    build = store._publisher._builder.build_unproved
    saved = iter([rules("allow")])

    def slow(*args: object, **options: object) -> object:
        built = build(*args, **options)  # type: ignore[arg-type]
        for text in saved:  # a save while the first build is still under way
            (folder / "global.policy").write_text(text)
        return built

    store._publisher._builder.build_unproved = slow  # type: ignore[assignment, method-assign]
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
        patch.setattr("policy.store.publisher.read_folder", broken)
        store.reload()
        assert store.current is before
        assert store.status.stale
    store.reload()
    assert not store.status.stale


@pytest.mark.parametrize("remark", ["# 1\n", f"# {'1' * 1_000}\n"])
def test_half_a_save_that_would_load_does_not_take_effect(
    folder: Path, monkeypatch: pytest.MonkeyPatch, remark: str
) -> None:
    file = folder / "global.policy"
    head, tail = rules("allow"), 'keys: deny file_read when reads "/srv/**"\n'
    file.write_text(head + tail)
    store = open_store(folder)
    told: list[Reloaded] = []
    store.subscribe(told.append)
    with file.open("w") as half:
        half.write(f"{remark}{head}")
        half.flush()
        left = [tail]

        def finish(seconds: float) -> None:
            assert verdict(store) is Verdict.DENY
            half.write(left.pop() if left else "")
            half.flush()

        monkeypatch.setattr("policy.store.publisher.time.sleep", finish)
        store.reload()
    assert verdict(store) is Verdict.DENY
    (only,) = told
    assert only.generation is not None
    assert only.generation.id.number == 2


def test_half_of_a_new_file_does_not_take_effect(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "global.policy").write_text("policy for every agent\n\ndefault deny\n")
    store = open_store(folder)
    head = 'policy for agent "writer"\n\nit: deny file_read when reads "/a/**"\n'
    left = ['keys: deny file_read when reads "/srv/keys/**"\n']
    (folder / "agents").mkdir(exist_ok=True)
    with (folder / "agents/writer.policy").open("w") as half:
        half.write(head)
        half.flush()

        def finish(seconds: float) -> None:
            assert store.current is not None
            assert store.current.id.number == 1
            half.write(left.pop() if left else "")
            half.flush()

        monkeypatch.setattr("policy.store.publisher.time.sleep", finish)
        store.reload()
    assert left == []
    assert store.current is not None
    assert store.current.id.number == 2


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

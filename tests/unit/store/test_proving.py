"""Edits of a policy that is in force: proved and compared by a process of their own.

The process is a real one, which tests stop (SIGSTOP) so that a proof takes as long as they like.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from policy.catalog import Catalog, Origin, builtin_catalog
from policy.model import ToolCall, Verdict
from policy.store import PolicyStore, Reloaded
from policy.verify import answer_of, answer_record, answer_to, claims_of
from tests.unit.store.opened import number, open_store
from tests.waiting import PATIENCE, runs, until, wait_until

pytestmark = [
    pytest.mark.proof_process,
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="which processes there are is read from /proc"
    ),
]

PRIVATE = 'private: deny * when reads "/srv/payroll/**"\n'
RULES = f"""\
policy for every agent

default deny
read: allow file_read when reads only "/srv/**"
{PRIVATE}prove always deny * when reads "/srv/payroll/**"
"""
BROKEN = RULES.replace(PRIVATE, "")
WIDER = RULES + 'more: allow file_list when reads only "/tmp/**"\n'
WIDEST = RULES + 'more: allow file_list when reads only "/**"\n'
TIGHTER = RULES + 'no: deny file_read when reads "/srv/new/**"\n'
CALL = ToolCall(tool="file_read", input={"path": "/srv/new/a"})


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SECRET", "xyzzy")


@pytest.fixture
def reloading() -> Iterator[Callable[[PolicyStore], Future[Reloaded]]]:
    with ThreadPoolExecutor(1) as thread:
        yield lambda store: thread.submit(store.reload)
        # A test that fails may leave a process stopped, for which the thread would wait for ever.
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
                if int(parent) == os.getpid():
                    os.kill(int(process.name), signal.SIGCONT)


def _opened(tmp_path: Path, text: str = RULES, **options: Any) -> tuple[PolicyStore, Path]:
    file = tmp_path / "rules" / "global.policy"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return open_store(file.parent, **options), file


def _edited(store: PolicyStore, file: Path, text: str) -> list[str]:
    file.write_text(text)
    store.reload()
    return [found.code for found in store.status.diagnostics]


def _prover(store: PolicyStore) -> int:
    """Return the process that has proved the claims of an edit; it is this one's child."""
    running = store._claims._process._running
    assert running is not None
    return running.process.pid


def _stopped(store: PolicyStore, file: Path, text: str = WIDER) -> int:
    """Return the process that proves claims, stopped: no answer comes until it goes on."""
    assert _edited(store, file, text) == []
    pid = _prover(store)
    os.kill(pid, signal.SIGSTOP)
    return pid


def _is_asked(store: PolicyStore) -> bool:
    """Return whether a request waits for the stopped process to read it."""
    running = store._claims._process._running
    unread = bytearray(4)
    fcntl.ioctl(running.input, termios.FIONREAD, unread)  # type: ignore[union-attr]
    return any(unread)


def test_a_first_start_with_a_broken_claim_denies_everything(tmp_path: Path) -> None:
    store, _ = _opened(tmp_path, BROKEN)
    assert store.current is None
    assert store.decide(CALL).verdict is Verdict.DENY
    assert 'a call breaks `prove always deny * when reads "/srv/payroll/**"`: `file_read' in str(
        store.status.because
    )


def test_an_edit_is_proved_by_a_process_that_gets_no_secret(tmp_path: Path) -> None:
    store, file = _opened(tmp_path)
    assert _edited(store, file, BROKEN) == ["invariant-broken"]
    assert '`file_read {"path": "/srv/payroll"}` is allowed by `read`' in str(store.status.because)
    assert number(store) == 1
    pid = _prover(store)
    assert b"xyzzy" not in Path(f"/proc/{pid}/environ").read_bytes()
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    # The next edit finds it running.
    assert _edited(store, file, WIDER) == []
    assert (number(store), _prover(store)) == (2, pid)


def test_a_killed_process_leaves_a_claim_undecided_and_the_last_good_rules_in_force(
    tmp_path: Path, reloading: Callable[[PolicyStore], Future[Reloaded]]
) -> None:
    store, file = _opened(tmp_path)
    pid = _stopped(store, file)
    file.write_text(WIDEST)
    waiting = reloading(store)
    wait_until(lambda: _is_asked(store))
    os.kill(pid, signal.SIGKILL)
    outcome = waiting.result(PATIENCE)
    assert [found.code for found in outcome.diagnostics] == ["invariant-undecided"]
    assert "the process that proves it was ended by SIGKILL" in str(outcome.status.because)
    assert (number(store), outcome.status.stale) == (2, True)
    # Nothing is known of the claim, so it is proved again, with and without an edit.
    assert store.reload().changed
    assert (number(store), store.status.stale) == (3, False)


def test_the_newer_edit_wins_over_a_proof(
    tmp_path: Path, reloading: Callable[[PolicyStore], Future[Reloaded]]
) -> None:
    store, file = _opened(tmp_path)
    pid = _stopped(store, file)
    file.write_text(WIDEST)
    waiting = reloading(store)
    wait_until(lambda: _is_asked(store))
    file.write_text(BROKEN)
    assert [found.code for found in waiting.result(PATIENCE).diagnostics] == ["invariant-broken"]
    assert not runs(pid)
    assert number(store) == 2


def test_an_edit_that_only_tightens_waits_for_no_proof(tmp_path: Path) -> None:
    assumed = "assume never allow file_read when input.path matches /[0-9]{9}/\n"
    store, file = _opened(tmp_path, RULES + assumed)
    assert [found.code for found in store.status.diagnostics] == ["assumption-undecided"]
    os.kill(_stopped(store, file), signal.SIGSTOP)
    assert _edited(store, file, WIDER + TIGHTER.partition(RULES)[2]) == []
    assert store.decide(CALL).verdict is Verdict.DENY
    # The next start would prove it, so whoever edits is told of it soon.
    store, file = _opened(tmp_path / "again", RULES + assumed)
    assert _edited(store, file, TIGHTER + assumed) == []
    wait_until(lambda: store.status.diagnostics)
    assert [found.code for found in store.status.diagnostics] == ["assumption-undecided"]
    assert number(store) == 2


def test_a_new_claim_is_proved_though_the_edit_tightens(tmp_path: Path) -> None:
    store, file = _opened(tmp_path)
    claim = 'prove always deny file_read when reads "/srv/other/**"\n'
    assert _edited(store, file, TIGHTER + claim) == ["invariant-broken"]
    assert (number(store), store.decide(CALL).verdict) == (1, Verdict.ALLOW)


def test_what_does_not_matter_to_a_claim_needs_no_proof(tmp_path: Path) -> None:
    store, file = _opened(tmp_path)
    os.kill(_stopped(store, file), signal.SIGSTOP)
    moved = WIDER.replace("default deny", "# moved\n\n\ndefault deny").replace("more:", "other:")
    assert _edited(store, file, moved) == []
    (file.parent / "placet.toml").write_text('[timeouts]\ndefault = "9s"\n')
    assert _edited(store, file, moved) == []
    # What was proved before is known as well; the comparison has to go on.
    os.kill(_prover(store), signal.SIGCONT)
    assert _edited(store, file, RULES) == []
    assert number(store) == 5


def test_the_same_claim_of_another_policy_is_another_question(tmp_path: Path) -> None:
    """An answer counts for one policy alone, and nothing of it is written anywhere."""
    store, file = _opened(tmp_path)
    other, _ = _opened(tmp_path / "other", BROKEN)
    assert other.current is None
    assert _edited(store, file, BROKEN) == ["invariant-broken"]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [
        file,
        tmp_path / "other" / "rules" / "global.policy",
    ]


def test_an_answer_that_says_nothing_or_shows_another_call_does_not_count(tmp_path: Path) -> None:
    store, _ = _opened(tmp_path, BROKEN + "# [reload]\n", tools=())
    built = _opened(tmp_path / "warned", RULES)[0].current
    assert built is not None
    (claim,) = claims_of(built.program)
    question = next(one for one in claim.questions() if one.spec.name == "file_read")
    assert answer_to(question).status == "holds"
    for record in (
        {},
        {"status": "probably"},
        {"status": "broken"},
        {"status": "broken", "call": {"input": {"path": "/srv/payroll"}, "values": []}},
        {"status": "broken", "call": {"input": 7, "values": [[1]]}},
    ):
        assert answer_of(question, record) is None
    assert store.current is None


def test_a_call_comes_back_as_it_was_found(tmp_path: Path) -> None:
    text = """\
policy for every agent
default deny
allow file_read when session.role == "owner" and context.level > 3
prove never allow file_read when "staff" in user.groups and agent.parent is present
"""
    settings = '[context]\nlevel = "number"\n[reload]\nproofs = "warn"\n'
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "placet.toml").write_text(settings)
    (tmp_path / "rules" / "global.policy").write_text(text)
    store = open_store(tmp_path / "rules")
    generation = store.current
    assert generation is not None, store.status
    (claim,) = claims_of(generation.program)
    (question,) = claim.questions()
    found = answer_to(question)
    again = answer_of(question, answer_record(found))
    assert again is not None
    assert found.counterexample is not None and again.counterexample is not None
    assert again.counterexample.as_test("x") == found.counterexample.as_test("x")
    assert again.counterexample.decision == found.counterexample.decision


def test_a_call_that_a_tool_refuses_by_its_own_code_breaks_no_claim(tmp_path: Path) -> None:
    """That code is not in the process that proves, so what it shows is decided again."""

    def refuse(given: dict[str, Any]) -> dict[str, Any]:
        raise ValueError("never")

    known = builtin_catalog().get("file_read")
    assert known is not None
    spec = replace(known, name="own_read", origin=Origin(tool="own_read"), coerce=refuse)
    own = Catalog(specs=(spec,), complete=True)
    store, file = _opened(tmp_path, RULES.replace("file_read", "own_read"), catalog=own)
    assert store.status.diagnostics == ()
    broken = BROKEN.replace("file_read", "own_read")
    assert _edited(store, file, broken) == ["invariant-undecided"]


UNCLAIMED = RULES.partition("prove ")[0]
ALLOWS_MORE = UNCLAIMED + 'more: allow file_list when reads only "/tmp/**"\n'
ALLOWS_MOST = UNCLAIMED + 'more: allow file_list when reads only "/**"\n'


def _refusing(tmp_path: Path, text: str = UNCLAIMED) -> tuple[PolicyStore, Path]:
    (tmp_path / "rules").mkdir(parents=True)
    (tmp_path / "rules" / "placet.toml").write_text('[reload]\nloosening = "refuse"\n')
    (tmp_path / "rules" / "global.policy").write_text(text)
    return open_store(tmp_path / "rules"), tmp_path / "rules" / "global.policy"


def _looser(store: PolicyStore) -> tuple[str, ...]:
    found = store.status.loosening
    return () if found is None else found.what


def test_an_edit_takes_effect_before_it_is_compared(
    tmp_path: Path, reloading: Callable[[PolicyStore], Future[Reloaded]]
) -> None:
    store, file = _opened(tmp_path, UNCLAIMED)
    notified: list[Reloaded] = []
    pid = _stopped(store, file, ALLOWS_MORE)
    store.subscribe(notified.append)
    file.write_text(ALLOWS_MOST)
    waiting = reloading(store)
    wait_until(lambda: notified)
    assert (number(store), _looser(store), waiting.done()) == (3, (), False)
    os.kill(pid, signal.SIGCONT)
    assert waiting.result(PATIENCE).status.loosening is not None
    assert _looser(store)[0].startswith("file_list ")


def test_a_newer_edit_is_compared_with_what_was_in_force_before_both(
    tmp_path: Path, reloading: Callable[[PolicyStore], Future[Reloaded]]
) -> None:
    store, file = _opened(tmp_path, UNCLAIMED)
    pid = _stopped(store, file, ALLOWS_MORE)
    file.write_text(ALLOWS_MOST)
    waiting = reloading(store)
    wait_until(lambda: number(store) == 3 and _is_asked(store))
    # It tightens what is in force, which nobody has compared yet.
    assert _edited(store, file, ALLOWS_MOST + TIGHTER.partition(RULES)[2]) == []
    waiting.result(PATIENCE)
    assert not runs(pid)
    assert (number(store), len(_looser(store))) == (4, 1)
    assert _looser(store)[0].startswith("file_list ")


def test_a_killed_comparison_is_undecided_and_said_so(
    tmp_path: Path, reloading: Callable[[PolicyStore], Future[Reloaded]]
) -> None:
    store, file = _opened(tmp_path, UNCLAIMED)
    pid = _stopped(store, file, ALLOWS_MORE)
    file.write_text(ALLOWS_MOST)
    waiting = reloading(store)
    wait_until(lambda: _is_asked(store))
    os.kill(pid, signal.SIGKILL)
    waiting.result(PATIENCE)
    assert _looser(store) == (
        "whether calls may do more is undecided: the process that compares the policies was ended "
        "by SIGKILL",
    )
    assert (number(store), store.status.stale) == (3, False)
    # The next reload tries again.
    store.reload()
    assert _looser(store)[0].startswith("file_list ")


def test_an_edit_waits_whose_comparison_is_killed(
    tmp_path: Path, reloading: Callable[[PolicyStore], Future[Reloaded]]
) -> None:
    store, file = _refusing(tmp_path)
    assert _edited(store, file, ALLOWS_MORE) == ["loosening-refused"]
    pid = _prover(store)
    os.kill(pid, signal.SIGSTOP)
    file.write_text(ALLOWS_MOST)
    waiting = reloading(store)
    wait_until(lambda: _is_asked(store))
    os.kill(pid, signal.SIGKILL)
    waiting.result(PATIENCE)
    assert "is undecided: the process that compares the policies was" in str(store.status.because)
    unknown = store.status.loosening
    assert unknown is not None
    # Whoever lets it through without knowing is asked again once more is known.
    store.acknowledge(unknown.digest)
    assert (number(store), store.status.stale) == (1, True)
    assert _looser(store)[0].startswith("file_list ")


def test_a_newer_edit_wins_over_one_that_waits_for_its_comparison(
    tmp_path: Path, reloading: Callable[[PolicyStore], Future[Reloaded]]
) -> None:
    store, file = _refusing(tmp_path)
    assert _edited(store, file, ALLOWS_MORE) == ["loosening-refused"]
    pid = _prover(store)
    os.kill(pid, signal.SIGSTOP)
    file.write_text(ALLOWS_MOST)
    waiting = reloading(store)
    wait_until(lambda: _is_asked(store))
    file.write_text(UNCLAIMED + TIGHTER.partition(RULES)[2])
    assert waiting.result(PATIENCE).changed
    assert (number(store), store.status.stale, runs(pid)) == (2, False, False)


async def test_whoever_stops_following_waits_for_no_comparison(tmp_path: Path) -> None:
    store, file = _opened(tmp_path, UNCLAIMED)
    pid = _stopped(store, file, ALLOWS_MORE)
    async with store.watch():
        file.write_text(ALLOWS_MOST)
        await until(lambda: number(store) == 3 and _is_asked(store))
    assert not runs(pid)
    assert _looser(store) == ()
    # It is still to be done.
    assert store.reload().status.loosening is not None


def test_an_edit_that_concerns_no_call_or_only_tightens_starts_no_process(tmp_path: Path) -> None:
    for opened in (_opened, _refusing):
        store, file = opened(tmp_path / opened.__name__, UNCLAIMED)
        (file.parent / "more.policy").write_text(
            'policy for every agent\nno: deny file_read when reads "/srv/new/**"\n'
        )
        assert _edited(store, file, UNCLAIMED.replace("read:", "reading:")) == []
        assert (number(store), store._claims._process._running) == (2, None)


def test_no_process_outlives_one_that_is_killed(tmp_path: Path) -> None:
    _, file = _opened(tmp_path)
    script = (
        "import sys, time; from policy.store import PolicyStore; from pathlib import Path; "
        "file = Path(sys.argv[1]); store = PolicyStore(file.parent); file.write_text(sys.argv[2]); "
        "store.reload(); print(store._claims._process._running.process.pid, flush=True); "
        "time.sleep(60)"
    )
    command = [sys.executable, "-c", script, str(file), WIDER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert runs(pid)
        parent.kill()
    wait_until(lambda: not runs(pid))

"""What a history in Redis does when its server is gone, slow, full, or not what it was."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import policy
from policy.model import (
    Budget,
    CalledTool,
    Caller,
    Charge,
    PermissionDenied,
    Reason,
    ReleasedCall,
    Verdict,
)
from policy.service import tool
from policy.service.sessions import KeepingBounds, RedisSessionLog, SessionLogUnusable, redis_store
from tests.redis_server import MISSING, RedisServer
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(MISSING is not None, reason=MISSING or "")

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
FETCH = CalledTool(name="fetch", kind="host")
ADA = Caller(session="a", user="ada")
CALL = ReleasedCall(tool=FETCH, at=NOON)


def limit(window: timedelta | None = timedelta(minutes=1), **budget: Any) -> Charge:
    return Charge(
        budget=Budget(**{"meter": "calls", **budget}),
        amount=1,
        capacity=2,
        window=window,
        counts=lambda tool: True,
        reason=Reason(rule="few", verdict=Verdict.DENY),
    )


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """Return a server that may be killed and configured."""
    with closing(RedisServer()) as started:
        yield started


@pytest.fixture
def log(redis_server: RedisServer) -> Iterator[RedisSessionLog]:
    with closing(RedisSessionLog(redis_server.url)) as opened:
        yield opened


def test_a_call_takes_two_round_trips(log: RedisSessionLog, redis_server: RedisServer) -> None:
    charges = (limit(), limit(of_tree=True))
    first = log.release(ADA, CALL, judged_by=None, charges=charges)
    assert first is not None
    log.finish(first, None)
    seen = log.history(ADA)
    for charge in charges:
        log.balance(ADA, charge, NOON)
    with redis_server.client() as client:
        client.config_resetstat()
        release = log.release(ADA, CALL, judged_by=seen, charges=charges)
        assert release is not None
        log.finish(release, "ok")
        assert client.info("commandstats")["cmdstat_evalsha"]["calls"] == 2
        again = log.release(ADA, CALL, judged_by=None)
        assert again is not None
        log.finish(again, "ok")
        assert client.info("commandstats")["cmdstat_evalsha"]["calls"] == 4


def test_a_server_that_was_killed_has_lost_nothing(server: RedisServer) -> None:
    with closing(RedisSessionLog(server.url)) as log:
        for _ in range(2):
            assert log.release(ADA, CALL, judged_by=None, charges=(limit(),)) is not None
        server.kill()
        with pytest.raises(SessionLogUnusable, match="cannot be kept in unix://"):
            log.history(ADA)
        with pytest.raises(SessionLogUnusable):
            log.release(ADA, CALL, judged_by=None)
        server.start()
        # The log goes on with the server that has come back.
        assert log.release(ADA, CALL, judged_by=None, charges=(limit(),)) is None
        assert log.history(ADA).tools[FETCH].unsure.latest == NOON


def test_a_server_that_has_lost_what_was_written_is_noticed(server: RedisServer) -> None:
    with closing(RedisSessionLog(server.url)) as log:
        with server.client() as client:
            client.config_set("appendonly", "no")
            client.save()
        assert log.release(ADA, CALL, judged_by=None) is not None
        server.kill()
        server._options = ("--appendonly", "no")
        server.start()
        with pytest.raises(SessionLogUnusable, match="has lost what was written to it"):
            log.history(ADA)


def test_a_server_that_was_emptied_is_noticed(
    log: RedisSessionLog, redis_server: RedisServer
) -> None:
    assert log.release(ADA, CALL, judged_by=None) is not None
    with redis_server.client() as client:
        client.flushall()
    with pytest.raises(SessionLogUnusable, match="emptied or replaced"):
        log.history(ADA)
    with closing(RedisSessionLog(redis_server.url)):
        pass
    with pytest.raises(SessionLogUnusable, match="emptied or replaced"):
        log.release(ADA, CALL, judged_by=None)


@pytest.mark.parametrize("deleted", ["placet:tree:*", "placet:sessions"])
def test_calls_that_were_deleted_are_missed(
    log: RedisSessionLog, redis_server: RedisServer, deleted: str
) -> None:
    release = log.release(ADA, CALL, judged_by=None)
    assert release is not None
    with redis_server.client() as client:
        (key,) = client.keys(deleted)
        client.delete(key)
    with pytest.raises(SessionLogUnusable, match="has lost"):
        log.history(ADA)


def test_a_tree_that_was_deleted_is_missed_by_who_never_read_it(redis_server: RedisServer) -> None:
    for name in ("first", "second"):
        with closing(RedisSessionLog(redis_server.url)) as log:
            if name == "first":
                assert log.release(ADA, CALL, judged_by=None) is not None
                with redis_server.client() as client:
                    client.delete(*client.keys("placet:tree:*"))
            else:
                with pytest.raises(SessionLogUnusable, match="has lost"):
                    log.release(ADA, CALL, judged_by=None)


def test_a_server_that_hangs_is_waited_for_once(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_store, "_BETWEEN", 0.0)
    with closing(RedisSessionLog(redis_server.url)) as log:
        asked: list[object] = []
        script = log._store._script

        def counted(**given: Any) -> object:
            asked.append(given)
            return script(**given)

        monkeypatch.setattr(log._store, "_script", counted)
        with redis_server.stopped():
            with pytest.raises(SessionLogUnusable, match=r"[Tt]imeout"):
                log.release(ADA, CALL, judged_by=None)
            # Whatever is asked after it does not wait.
            for _ in range(50):
                with pytest.raises(SessionLogUnusable, match="a moment ago"):
                    log.history(ADA)
            assert len(asked) == 1
        wait_until(lambda: not log._store._is_silent)
        # What came of the release is not known, so the call may count; no other is lost.
        assert log.release(ADA, CALL, judged_by=None) is not None


def test_a_server_that_ends_while_it_hangs_is_an_error_that_nobody_waits_for(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_store, "_BETWEEN", 0.0)
    with closing(RedisSessionLog(server.url)) as log:
        with server.stopped():
            with pytest.raises(SessionLogUnusable, match=r"[Tt]imeout"):
                log.history(ADA)
            server.kill()
        wait_until(lambda: not log._store._is_silent)
        with pytest.raises(SessionLogUnusable, match=r"refused|reset|closed"):
            log.history(ADA)


def test_a_port_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_store, "_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(SessionLogUnusable, match=f"redis://127.0.0.1:{port}"):
            RedisSessionLog(f"redis://127.0.0.1:{port}")


def test_a_full_server_releases_nothing(server: RedisServer) -> None:
    with closing(RedisSessionLog(server.url)) as log:
        release = log.release(ADA, CALL, judged_by=None, charges=(limit(),))
        assert release is not None
        with server.client() as client:
            client.config_set("maxmemory", 1)
        with pytest.raises(SessionLogUnusable, match="maxmemory"):
            log.release(ADA, CALL, judged_by=None, charges=(limit(),))
        assert log.balance(ADA, limit(), NOON).used == 1
        with pytest.raises(SessionLogUnusable):
            log.finish(release, "ok")
        with server.client() as client:
            client.config_set("maxmemory", 0)
        assert log.history(ADA).tools[FETCH].unsure.latest == NOON


@pytest.mark.parametrize("evicts", ["allkeys-lru", "volatile-ttl"])
def test_a_server_that_may_evict_is_refused(server: RedisServer, evicts: str) -> None:
    with server.client() as client:
        client.config_set("maxmemory-policy", evicts)
    with pytest.raises(SessionLogUnusable, match=f"`{evicts}`.*set it to `noeviction`"):
        RedisSessionLog(server.url)


@pytest.mark.parametrize(("format", "made_by"), [("2", "a newer"), ("x", "another")])
def test_what_another_version_wrote_is_refused(
    log: RedisSessionLog, redis_server: RedisServer, format: str, made_by: str
) -> None:
    with redis_server.client() as client:
        client.hset("placet:history", "format", format)
    for attempt in (lambda: RedisSessionLog(redis_server.url), lambda: log.history(ADA)):
        with pytest.raises(SessionLogUnusable, match=f"made by {made_by} version"):
            attempt()


def test_damaged_entries_are_no_history(log: RedisSessionLog, redis_server: RedisServer) -> None:
    assert log.release(ADA, CALL, judged_by=None, charges=(limit(),)) is not None
    values = {"event": b'{"event":"ended"}', "input": b"", "output": b""}
    with redis_server.client() as client:
        (key,) = client.keys("placet:tree:*")
        client.xadd(key, values, id="9-1")
    for _ in range(2):
        with pytest.raises(SessionLogUnusable, match="damaged"):
            log.history(ADA)


def test_a_wrong_password_is_named_without_it() -> None:
    with closing(RedisServer("--requirepass", "right")) as server:
        for password in (None, "wrong-secret"):
            with pytest.raises(
                SessionLogUnusable, match="refuses this user and password"
            ) as refused:
                RedisSessionLog(server.url, password=password)
            assert "wrong-secret" not in str(refused.value)
        with closing(RedisSessionLog(server.url, password="right")) as log:
            assert not log.history(ADA).tools


def test_a_server_over_tls_has_to_be_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = self_signed(tmp_path, "localhost")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    files = ("--tls-cert-file", str(certificate), "--tls-key-file", str(key))
    listen = ("--tls-port", str(port), "--tls-auth-clients", "no")
    with closing(RedisServer(*listen, *files)):
        with pytest.raises(SessionLogUnusable, match="CERTIFICATE_VERIFY_FAILED"):
            RedisSessionLog(f"rediss://localhost:{port}")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with closing(RedisSessionLog(f"rediss://localhost:{port}")) as log:
            assert not log.history(ADA).tools
        with pytest.raises(SessionLogUnusable, match="certificate is not valid for"):
            RedisSessionLog(f"rediss://127.0.0.1:{port}")


def self_signed(folder: Path, name: str) -> tuple[Path, Path]:
    """Write a certificate for a name, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "certificate", folder / "key"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate, private


def test_without_the_extra_an_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(SessionLogUnusable, match=r"install placet\[redis\]"):
        RedisSessionLog("redis://localhost")


def test_a_long_stream_is_written_anew(log: RedisSessionLog, redis_server: RedisServer) -> None:
    for number in range(400):
        at = NOON + timedelta(minutes=number)
        call = ReleasedCall(tool=FETCH, at=at)
        release = log.release(ADA, call, judged_by=None, charges=(limit(), limit(of_tree=True)))
        assert release is not None
        log.finish(release, "ok")
    seen, used = log.history(ADA), log.balance(ADA, limit(of_tree=True), at)
    with redis_server.client() as client:
        for key in client.keys("placet:tree:*") + client.keys("placet:budget:*"):
            assert client.xlen(key) < 200
    with closing(RedisSessionLog(redis_server.url)) as other:
        assert other.history(ADA) == seen
        assert other.balance(ADA, limit(of_tree=True), at) == used


def test_calls_that_are_kept_outlive_a_stream_that_is_written_anew(
    redis_server: RedisServer,
) -> None:
    bounds = KeepingBounds(entries=20)
    with closing(RedisSessionLog(redis_server.url, bounds=bounds)) as log:
        open_call = ReleasedCall(tool=FETCH, at=NOON, input={"n": -1}, id="open")
        assert log.release(ADA, open_call, judged_by=None) is not None
        log.hear(Caller(session="b"), ["first"], missed=False)
        for number in range(60):
            call = ReleasedCall(tool=FETCH, at=NOON, input={"n": number, "text": "x" * 300})
            release = log.release(ADA, call, judged_by=None)
            assert release is not None
            log.finish(release, "ok")
        log.history(Caller(session="b", user=None, parent=ADA))
        seen = log.history(ADA)
        assert (seen.kept.length, len(seen.kept.running)) == (20, 1)
    with closing(RedisSessionLog(redis_server.url, bounds=bounds)) as other:
        assert other.history(ADA) == seen
        found = other.said(ADA)
        assert not isinstance(found, str) and found.texts == ("first",)


def test_budgets_expire_when_no_window_reaches_them(
    log: RedisSessionLog, redis_server: RedisServer
) -> None:
    hour = timedelta(hours=1)
    assert log.release(ADA, CALL, judged_by=None, charges=(limit(3 * hour),)) is not None
    assert log.release(ADA, CALL, judged_by=None, charges=(limit(),)) is not None
    with redis_server.client() as client:
        (key,) = client.keys("placet:budget:*")
        assert 6 * 3600 - 5 <= client.ttl(key) <= 6 * 3600
        assert log.balance(ADA, limit(None), NOON).used == 2
        client.delete(key)
        assert log.balance(ADA, limit(None), NOON).used == 0
        assert log.release(ADA, CALL, judged_by=None, charges=(limit(None),)) is not None
        assert client.ttl(key) == -1
        assert log.release(ADA, CALL, judged_by=None, charges=(limit(),)) is not None
        assert client.ttl(key) == -1


async def test_while_the_server_is_down_no_tool_runs(server: RedisServer, tmp_path: Path) -> None:
    ran: list[str] = []

    @tool
    def append(line: str) -> str:
        """Append a line."""
        ran.append(line)
        return line

    (tmp_path / "work").mkdir()
    rules = tmp_path / "rules"
    rules.mkdir()
    text = "policy for every agent\n\ndefault deny\ntools: allow append\n"
    (rules / "all.policy").write_text(text)
    (rules / "placet.toml").write_text(f'[history]\nstore = "{server.url}"\n')
    service = policy.build_tool_service(
        policy.PolicyStore(rules), tools=[append], workspace=tmp_path / "work"
    )
    await service.execute("append", {"line": "before"})
    server.kill()
    with pytest.raises(PermissionDenied) as refused:
        await service.execute("append", {"line": "down"})
    assert refused.value.code == "history-unavailable"
    server.start()
    await service.execute("append", {"line": "after"})
    assert ran == ["before", "after"]

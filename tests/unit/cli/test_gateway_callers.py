"""Several callers at one gateway: tokens of clients, and tokens that an issuer has signed."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import RSAAlgorithm
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.plain_http import plain_client
from tests.unit.cli.gateways import LISTED, Era, Gateway, gateway, scripted_server
from tests.unit.cli.running import rules_in, run
from tests.waiting import until

ADA, BOB = "token-of-ada-0123456789", "token-of-bob-0123456789"
ISSUER, AUDIENCE = "https://login.example.com", "https://placet.example.com/mcp"
RULES = """\
allow one__echo, one__note, one__state
ops: deny one__echo when not ("ops" in user.groups) because "for ops alone"
"""


def digest_of(token: str) -> str:
    return f"sha256:{hashlib.sha256(token.encode()).hexdigest()}"


def encoded(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


CLIENTS = f"""\
[serve.clients.ada]
token = "{digest_of(ADA)}"
user = "ada"
groups = ["ops"]

[serve.clients.bob]
token = "{digest_of(BOB)}"
user = "bob"
agent = "coder"
"""


class Issuer:
    """Publishes its keys, and signs tokens with one of them."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        self.kid = "one"
        self.fetched = 0
        self.answers = True

    def rotate(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        self.kid = "two"

    def document(self) -> bytes:
        key = RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return json.dumps({"keys": [{**key, "kid": self.kid, "alg": "RS256"}]}).encode()

    def token(self, **claims: Any) -> str:
        now = int(time.time())
        usual = {"iss": ISSUER, "aud": AUDIENCE, "sub": "eve", "exp": now + 600, "groups": ["ops"]}
        return jwt.encode(
            {key: value for key, value in {**usual, **claims}.items() if value is not None},
            self.key,
            algorithm="RS256",
            headers={"kid": self.kid},
        )

    @asynccontextmanager
    async def published(self) -> AsyncIterator[str]:
        """Serve the keys, and give the table that names them."""

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            self.fetched += 1
            body = self.document() if self.answers else b"{}"
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            yield (
                f'[serve.jwt]\nissuer = "{ISSUER}"\naudience = "{AUDIENCE}"\n'
                f'jwks = "http://127.0.0.1:{port}/keys"\nagent = "browser"\n'
            )


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@asynccontextmanager
async def before_callers(folder: Path, settings: str) -> AsyncIterator[Gateway]:
    table = LISTED + scripted_server(folder) + settings
    async with gateway(folder, RULES, table, token=None) as g:
        yield g


async def status(g: Gateway, token: str | None, **headers: str) -> int:
    """Return the status of a ping that stands for itself."""
    sent = {"Accept": "application/json, text/event-stream", **headers}
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    async with plain_client(headers=sent) as client:
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        return (await client.post(g.url, json=ping)).status_code


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_each_token_has_its_caller_and_its_list(tmp_path: Path, era: Era) -> None:
    async with (
        before_callers(tmp_path, CLIENTS) as g,
        g.client(era, token=ADA) as ada,
        g.client(era, token=BOB) as bob,
    ):
        listed = [{tool.name for tool in (await one.list_tools()).tools} for one in (ada, bob)]
        assert listed[0] - listed[1] == {"one__echo"}
        assert not (await ada.call_tool("one__echo", {"text": "hi"})).is_error
        refused = await bob.call_tool("one__echo", {"text": "hi"})
        assert "for ops alone" in str(refused.content)
        await ada.call_tool("one__note", {"text": "of ada"})
        seen = await bob.call_tool("one__state", {})
        assert seen.structured_content is not None
        assert seen.structured_content["notes"] == []
        callers = [(one["caller"]["user"], one["caller"]["agent"]) for one in g.records()]
        assert callers == 2 * [("ada", "default"), ("bob", "coder")]
        assert len({one["caller"]["session"] for one in g.records()}) == 2


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_only_a_trusted_client_tells_what_its_user_wrote(tmp_path: Path, era: Era) -> None:
    table = LISTED + scripted_server(tmp_path) + CLIENTS.replace('"ada"\n', '"ada"\nsaid = true\n')
    rules = "allow one__echo\nnamed: deny one__echo unless input.text named by user\n"

    async def may_echo(one: Client, text: str, said: object = None) -> bool:
        meta: Any = None if said is None else {"placet/said": said}
        return not (await one.call_tool("one__echo", {"text": text}, meta=meta)).is_error

    async with (
        gateway(tmp_path, rules, table, token=None) as g,
        g.client(era, token=ADA) as ada,
        g.client(era, token=ADA) as again,
        g.client(era, token=BOB) as bob,
    ):
        assert not await may_echo(ada, "hello")
        assert await may_echo(ada, "hello", ["say hello"])
        assert await may_echo(ada, "hello")
        assert not await may_echo(ada, "goodbye", ["say hello"])
        assert await may_echo(ada, "goodbye", ["say hello", "and goodbye"])
        # Over stateless HTTP, all requests with one token are one session.
        assert await may_echo(again, "hello") == (era == "auto")
        assert not await may_echo(bob, "hello", ["say hello"])
        assert not await may_echo(ada, "hello", ["say something else"])
        assert not await may_echo(ada, "hello", ["say hello"])
        reasons = [r for one in g.records() for r in one["reasons"] if r["rule"] == "named"]
    told = [str(reason.get("indeterminate")) for reason in reasons]
    assert any("the client is not trusted to tell what the user wrote" in why for why in told)
    assert any("began before" in why for why in told)


async def test_a_session_is_served_to_the_token_that_opened_it_alone(tmp_path: Path) -> None:
    opening = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    async with before_callers(tmp_path, CLIENTS) as g:
        headers = {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {ADA}",
        }
        async with plain_client(headers=headers) as client:
            opened = await client.post(g.url, json=opening)
            session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert await status(g, ADA, **session) not in (401, 404)
        assert await status(g, BOB, **session) == 404


async def test_a_token_that_is_nobodys_is_refused(tmp_path: Path) -> None:
    async with before_callers(tmp_path, CLIENTS) as g:
        for token in (None, "token-of-eve-0123456789", digest_of(ADA), ADA + "x", "a.b.c"):
            assert await status(g, token) == 401


async def test_how_long_a_message_may_be_is_configured(tmp_path: Path) -> None:
    async with before_callers(tmp_path, f"[serve]\nmessage_bytes = 1_000\n{CLIENTS}") as g:
        for longer, expected in ((900, False), (1_100, True)):
            async with plain_client(headers={"Authorization": f"Bearer {ADA}"}) as client:
                response = await client.post(g.url, content=b" " * longer)
                assert (response.status_code == 413) is expected
        assert "`[serve] message_bytes`" in response.json()["error"]


async def test_a_client_that_is_removed_is_refused_from_then_on(tmp_path: Path) -> None:
    async with before_callers(tmp_path, CLIENTS) as g:
        assert await status(g, BOB) != 401
        file = tmp_path / "rules" / "placet.toml"
        kept, _, _ = file.read_text().partition("[serve.clients.bob]")
        file.write_text(kept)

        async def is_refused() -> bool:
            return await status(g, BOB) == 401

        await until(is_refused)
        assert await status(g, ADA) != 401


async def test_users_of_an_issuer_call_by_what_it_says_of_them(
    tmp_path: Path, issuer: Issuer
) -> None:
    async with (
        issuer.published() as table,
        before_callers(tmp_path, CLIENTS + table) as g,
        g.client(token=issuer.token()) as eve,
        g.client(token=issuer.token(sub="mallory", groups=None)) as mallory,
        g.client(token=ADA),
    ):
        assert not (await eve.call_tool("one__echo", {"text": "hi"})).is_error
        assert (await mallory.call_tool("one__echo", {"text": "hi"})).is_error
        callers = [(one["caller"]["user"], one["caller"]["agent"]) for one in g.records()]
        assert callers == [("eve", "browser"), ("mallory", "browser")]


async def test_other_groups_begin_no_session_without_labels(tmp_path: Path) -> None:
    """Neither in a new token of the same user nor by an edit of a client's groups."""
    rules = RULES + (
        "label seen on results of one__note\n"
        'once: deny one__echo after seen because "it has seen a note"\n'
        "few: limit one__note to 1 per session\n"
    )
    issuer = Issuer()
    async with issuer.published() as issued:
        table = LISTED + scripted_server(tmp_path) + CLIENTS + issued
        async with gateway(tmp_path, rules, table, token=None) as g:
            file = tmp_path / "rules" / "placet.toml"
            for old, new, change in (
                (issuer.token(), issuer.token(groups=["ops", "more"]), ""),
                (ADA, ADA, '["ops", "more"]'),
            ):
                async with g.client(token=old) as client:
                    assert not (await client.call_tool("one__note", {"text": "x"})).is_error
                if change:
                    before = g.records()[-1]["generation"]["number"]
                    file.write_text(file.read_text().replace('["ops"]', change))
                    async with g.client(token=new) as client:

                        async def is_in_force(client: Client = client, was: int = before) -> bool:
                            await client.call_tool("one__state", {})
                            return bool(g.records()[-1]["generation"]["number"] > was)

                        await until(is_in_force)
                async with g.client(token=new) as client:
                    for tool in ("one__echo", "one__note"):
                        assert (await client.call_tool(tool, {"text": "x"})).is_error, change
                assert g.records()[-1]["caller"]["groups"] == ["ops", "more"]


async def test_a_token_that_is_not_valid_here_and_now_is_refused(
    tmp_path: Path, issuer: Issuer
) -> None:
    now = int(time.time())
    other = ec.generate_private_key(ec.SECP256R1())
    usual = {"iss": ISSUER, "aud": AUDIENCE, "sub": "eve", "exp": now + 600}
    bad = {
        "expired": issuer.token(exp=now - 600),
        "for another audience": issuer.token(aud="https://other.example.com"),
        "of another issuer": issuer.token(iss="https://evil.example.com"),
        "not valid yet": issuer.token(nbf=now + 600),
        "without an end": issuer.token(exp=None),
        "without a user": issuer.token(sub=None),
        "with an empty user": issuer.token(sub=" "),
        "with groups that are no list": issuer.token(groups="ops"),
        "with groups that are no strings": issuer.token(groups=[{"name": "ops"}]),
        "signed by another": jwt.encode(
            usual, other, algorithm="ES256", headers={"kid": issuer.kid}
        ),
        "signed by nobody": f"{encoded({'alg': 'none'})}.{encoded(usual)}.",
        "signed with a public key as a secret": jwt.encode(
            usual, secrets.token_hex(32), algorithm="HS256", headers={"kid": issuer.kid}
        ),
        "cut": issuer.token()[:-20],
        "of an unknown key": jwt.encode(
            usual, issuer.key, algorithm="RS256", headers={"kid": "other"}
        ),
    }
    async with issuer.published() as table, before_callers(tmp_path, table) as g:
        assert await status(g, issuer.token()) != 401
        found = {why: await status(g, token) for why, token in bad.items()}
    assert found == dict.fromkeys(bad, 401)
    assert issuer.fetched <= 2


async def test_keys_are_fetched_again_for_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.proxy.signed_tokens._PAUSE", 0.0)
    issuer = Issuer()
    async with issuer.published() as table, before_callers(tmp_path, table) as g:
        before = issuer.token()
        assert await status(g, before) != 401
        issuer.rotate()
        assert await status(g, issuer.token()) != 401
        # The issuer has withdrawn the key.
        assert await status(g, before) == 401
        issuer.answers = False
        assert await status(g, issuer.token()) != 401


def test_clients_are_checked(tmp_path: Path) -> None:
    same = CLIENTS.replace(digest_of(BOB), digest_of(ADA))
    rules = rules_in(tmp_path, placet__toml=same)
    assert "`ada` and `bob` have the same token" in run("check", rules).out
    for text, what in (
        (CLIENTS.replace(digest_of(ADA), ADA), "a token is given by its SHA-256"),
        (CLIENTS.replace("groups", "group"), "did you mean `groups`"),
        ('[serve.jwt]\nissuer = "x"\naudience = "y"\njwks = "http://x.com/k"\n', "`https://`"),
        ('[serve.jwt]\nissuer = "x"\njwks = "https://x.com/k"\n', "audience"),
    ):
        (rules / "placet.toml").write_text(text)
        ran = run("check", rules)
        assert ran.code == 1
        assert what in ran.out


def test_a_token_file_with_the_token_of_a_client_is_refused(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, placet__toml=CLIENTS)
    file = tmp_path / "token"
    file.write_text(ADA)
    work = tmp_path / "work"
    work.mkdir()
    ran = run("gateway", rules, "--workspace", work, "--http", "127.0.0.1:0", "--token-file", file)
    assert ran.code == 2
    assert "that of the client ada too" in ran.err


async def test_a_request_that_stands_for_itself_names_no_session(tmp_path: Path) -> None:
    """A header of its own would put it into a session that it chooses, or that is another's."""
    async with (
        before_callers(tmp_path, CLIENTS) as g,
        g.client("legacy", token=ADA) as old,
        g.client(token=ADA) as plain,
    ):
        await old.call_tool("one__echo", {"text": "1"})
        await plain.call_tool("one__echo", {"text": "2"})
        for header in ("made-up", "0" * 32):
            sent = {"Authorization": f"Bearer {ADA}", "Mcp-Session-Id": header}
            async with (
                plain_client(headers=sent, timeout=60) as http,
                Client(streamable_http_client(g.url, http_client=http)) as client,
            ):
                await client.call_tool("one__echo", {"text": "3"})
        sessions = [record["caller"]["session"] for record in g.records()]
        assert len(sessions) == 4
        assert len(set(sessions)) == 2
        assert set(sessions[1:]) == {sessions[1]}


ELSEWHERE = {
    "Host": [
        "evil.example", "127.0.0.1.evil.example", "127.0.0.1:1@evil.example", "127.0.0.1:x",
        "127.0.0.1:1:2", "[::1]x", "127.0.0.1/", "",
    ],
    "Origin": [
        "null", "http://evil.example", "http://127.0.0.1.evil.example", "https://127.0.0.1:1",
        "http://127.0.0.1:1@evil.example", "http://localhost:x", "http://localhost:1/a",
        "http://localhost:1 http://evil.example",
    ],
}  # fmt: skip


@pytest.mark.parametrize("header", ELSEWHERE)
async def test_a_page_elsewhere_cannot_use_the_servers_name(tmp_path: Path, header: str) -> None:
    """A browser on this machine sends what a page makes it send, with the page's Host or Origin."""
    async with before_callers(tmp_path, CLIENTS) as g, plain_client() as client:
        port = g.url.rpartition(":")[2].partition("/")[0]

        async def refused(value: str) -> bool:
            sent = {"Authorization": f"Bearer {ADA}", header: value}
            answer = await client.post(g.url, json={}, headers=sent)
            return answer.text == f"Invalid {header} header"

        for host in ("localhost", "127.0.0.1", "[::1]"):
            fine = {"Host": f"{host}:{port}", "Origin": f"http://{host}:{port}"}[header]
            assert not await refused(fine)
        assert [each for each in ELSEWHERE[header] if not await refused(each)] == []

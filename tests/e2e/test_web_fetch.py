"""`web_fetch` under rule files, against servers of this machine with real certificates."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from policy import PolicyStore
from policy.approvals import Approved, ScriptedApprover
from policy.audit import MemorySink
from policy.catalog import builtin_catalog
from policy.model import Execution, PermissionDenied, Timeout, ToolError, Transport
from policy.service import GovernedService, ToolEvent, ToolStarted, build_tool_service
from policy.tools import Limits
from policy.tools.handlers.native import NativeHandler
from policy.tools.handlers.web import web_fetch
from tests.waiting import skip_time

RULES = """\
policy for every agent

default deny

hosts ours = "good.test", "*.good.test", "other.test", "[::1]"

fetch:  allow web_fetch when connects only to ours
secure: allow web_fetch when connects only to ["https://plain.test"]
asking: allow web_fetch when connects only to "ask.test" with approval
public: allow web_fetch when connects only to "*.public.test" unless connects to [private, metadata]
inside: deny web_fetch when connects to [private, metadata] because "that is inside"
"""
NAMES = ["good.test", "a.good.test", "other.test", "plain.test", "ask.test"]


# ------------------------------------------------------------------ certificates


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """A certificate authority of one test run: it signs for names, and can be trusted."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    def trusted(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.load_verify_locations(cadata=_pem(self.certificate).decode())
        return context

    def server(self, folder: Path, *names: str) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        signed = (
            _builder("server", self.certificate.subject, key)
            .add_extension(alternatives, critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()),
                critical=False,
            )
            .sign(self.key, hashes.SHA256())
        )
        chain = folder / f"{names[0]}.pem"
        chain.write_bytes(_pem(signed) + _private(key))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _builder(
    name: str, issuer: x509.Name | None, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer or subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
    )


@pytest.fixture(scope="module")
def authority() -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    use = x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, key_cert_sign=True, crl_sign=True,
        encipher_only=False, decipher_only=False,
    )  # fmt: skip
    certificate = (
        _builder("authority", None, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(use, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return Authority(key=key, certificate=certificate)


# ------------------------------------------------------------------ servers


@dataclass(slots=True, kw_only=True)
class Web:
    """One server that answers by path, and keeps what it was sent and by which name."""

    pages: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    asked_for: list[str | None] = field(default_factory=list)
    port: int = 0
    skipped: float = 0.0  # seconds that pass at once where there is no answer

    def redirect(self, path: str, location: str, status: str = "302 Found") -> None:
        self.pages[path] = f"{status}\r\nlocation: {location}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.requests.append(head)
            answer = self.pages.get(head.split(" ")[1], "200 OK")
            if answer == "nothing":
                skip_time(self.skipped)
                await reader.read()
            writer.write(f"HTTP/1.1 {answer}\r\ncontent-length: 5\r\n\r\nhello".encode("latin-1"))
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    @property
    def hosts(self) -> list[str]:
        """The Host headers, without ports."""
        lines = [line for head in self.requests for line in head.split("\r\n")]
        found = [line[5:].strip() for line in lines if line.lower().startswith("host:")]
        return [host.removesuffix(f":{self.port}") for host in found]


@asynccontextmanager
async def serving(address: str, context: ssl.SSLContext | None = None) -> AsyncIterator[Web]:
    web = Web()
    if context is not None:
        context.sni_callback = lambda _, name, __: web.asked_for.append(name)
    listening = await asyncio.start_server(web.serve, address, 0, ssl=context)
    web.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield web


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with serving("127.0.0.1") as found:
        yield found


@pytest.fixture
async def secure(authority: Authority, tmp_path: Path) -> AsyncIterator[Web]:
    async with serving("127.0.0.1", authority.server(tmp_path, *NAMES)) as found:
        yield found


# ------------------------------------------------------------------ the service


@dataclass(slots=True, kw_only=True)
class Governed:
    """A service under the rules, and what its resolver was asked."""

    service: GovernedService
    sink: MemorySink
    approver: ScriptedApprover
    looked_up: list[str]

    async def fetch(self, url: str, **more: object) -> dict[str, object]:
        value = (await self.service.execute("web_fetch", {"url": url, **more})).value
        assert isinstance(value, dict)
        return value

    @property
    def outcomes(self) -> list[str]:
        return [record.outcome for record in self.sink.records]


@pytest.fixture
def governed(tmp_path: Path, authority: Authority) -> Callable[..., Governed]:
    def build(
        answers: dict[str, list[tuple[str, ...] | None]] | None = None,
        *outcomes: Approved,
        rules: str = RULES,
        seconds: float = 5.0,
    ) -> Governed:
        folder = tmp_path / "rules"
        folder.mkdir()
        (folder / "global.policy").write_text(rules)
        looked_up: list[str] = []

        async def look_up(name: str) -> tuple[str, ...] | None:
            looked_up.append(name)
            said = (answers or {}).get(name)
            if said is None:
                return ("127.0.0.1",) if name.endswith(".test") else None
            return said.pop(0) if len(said) > 1 else said[0]

        store = PolicyStore(folder)
        assert store.current is not None, store.status
        (spec,) = [spec for spec in builtin_catalog().specs if spec.name == "web_fetch"]
        run = web_fetch(Limits(web_seconds=seconds), tls=authority.trusted())
        sink, approver = MemorySink(), ScriptedApprover(*outcomes)
        service = build_tool_service(
            store,
            tools=[NativeHandler(spec, run)],
            audit=sink,
            approver=approver,
            workspace=tmp_path,
            look_up=look_up,
        )
        return Governed(service=service, sink=sink, approver=approver, looked_up=looked_up)

    return build


# ------------------------------------------------------------------ the address that was judged


async def test_the_judged_address_is_asked_by_the_hosts_name(
    governed: Callable[..., Governed], secure: Web
) -> None:
    g = governed()
    answer = await g.fetch(f"https://A.Good.test.:{secure.port}/x?y")
    assert (answer["status"], answer["body"]) == (200, "hello")
    assert secure.asked_for == ["a.good.test"]
    assert secure.hosts == ["a.good.test"]


async def test_a_certificate_must_be_for_the_name_and_not_for_the_address(
    governed: Callable[..., Governed], secure: Web
) -> None:
    g = governed()
    # The server is the right one and its authority is trusted; its certificate has other names.
    with pytest.raises(Transport):
        await g.fetch(f"https://b.good.test:{secure.port}/")
    assert secure.requests == []


async def test_an_unknown_authority_is_not_trusted(
    governed: Callable[..., Governed], tmp_path: Path
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    itself = Authority(
        key=key, certificate=_builder("nobody", None, key).sign(key, hashes.SHA256())
    )
    async with serving("127.0.0.1", itself.server(tmp_path, "good.test")) as web:
        with pytest.raises(Transport):
            await governed().fetch(f"https://good.test:{web.port}/")
        assert web.requests == []


async def test_a_name_that_resolves_elsewhere_the_second_time_is_asked_once(
    governed: Callable[..., Governed], web: Web
) -> None:
    g = governed({"x.public.test": [("127.0.0.1",), ("10.0.0.1",)]})
    assert (await g.fetch(f"http://x.public.test:{web.port}/"))["status"] == 200
    assert g.looked_up == ["x.public.test"]
    with pytest.raises(PermissionDenied, match="inside"):
        await g.fetch(f"http://x.public.test:{web.port}/")
    assert len(web.requests) == 1


@pytest.mark.parametrize(
    "addresses", [("127.0.0.1", "10.0.0.1"), ("::ffff:10.0.0.1",), ("fe80::1%eth0",), (), None]
)
async def test_one_address_inside_or_unknown_is_enough_to_be_refused(
    governed: Callable[..., Governed], web: Web, addresses: tuple[str, ...] | None
) -> None:
    g = governed({"x.public.test": [addresses]})
    with pytest.raises(PermissionDenied):
        await g.fetch(f"http://x.public.test:{web.port}/")
    assert web.requests == []


async def test_an_ipv6_literal_is_reached(governed: Callable[..., Governed]) -> None:
    async with serving("::1") as web:
        assert (await governed().fetch(f"http://[0::1]:{web.port}/"))["status"] == 200
        assert web.hosts == ["[::1]"]


# ------------------------------------------------------------------ redirects


async def test_a_redirect_is_followed_as_a_call_of_its_own(
    governed: Callable[..., Governed], web: Web, secure: Web
) -> None:
    web.redirect("/", f"https://other.test:{secure.port}/there")
    g = governed()
    answer = await g.fetch(f"http://good.test:{web.port}/")
    assert answer["url"] == f"https://other.test:{secure.port}/there"
    assert answer["body"] == "hello"
    assert secure.asked_for == ["other.test"]
    first, second = g.sink.records
    assert (first.outcome, second.outcome) == ("ok", "ok")
    assert first.id != second.id and first.caller == second.caller
    assert second.final_input == {"url": f"https://other.test:{secure.port}/there"}


@pytest.mark.parametrize(
    "location",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://[::ffff:10.0.0.1]/",
        "//metadata.google.internal/",
        "https://evil.test/",
        "https://good.test@evil.test/",
        "https:\\\\evil.test\\",
        "http://nowhere.invalid/",
        "file:///etc/passwd",
        "gopher://good.test/",
        "javascript:alert(1)",
    ],
)
async def test_a_redirect_that_the_policy_refuses_ends_the_call_with_its_reason(
    governed: Callable[..., Governed], web: Web, location: str
) -> None:
    web.redirect("/", location)
    g = governed()
    with pytest.raises(PermissionDenied, match="redirected to") as refused:
        await g.fetch(f"http://good.test:{web.port}/")
    assert refused.value.decision is not None
    assert g.outcomes == ["ok", "denied"]
    assert len(web.requests) == 1


async def test_the_reason_of_a_refused_redirect_is_the_rules(
    governed: Callable[..., Governed], web: Web
) -> None:
    web.redirect("/", "http://10.0.0.1/")
    with pytest.raises(PermissionDenied, match=r"redirected to `http://10\.0\.0\.1/`.*inside"):
        await governed().fetch(f"http://good.test:{web.port}/")


async def test_a_downgrade_needs_a_rule_that_allows_it(
    governed: Callable[..., Governed], web: Web, secure: Web
) -> None:
    secure.redirect("/", f"http://plain.test:{web.port}/")
    secure.redirect("/other", f"http://other.test:{web.port}/")
    rules = RULES.replace('"https://plain.test"', f'"https://plain.test:{secure.port}"')
    g = governed(rules=rules)
    with pytest.raises(PermissionDenied, match="redirected"):
        await g.fetch(f"https://plain.test:{secure.port}/")
    assert web.requests == []
    assert (await g.fetch(f"https://plain.test:{secure.port}/other"))["status"] == 200


async def test_a_redirect_that_asks_is_asked_about(
    governed: Callable[..., Governed], web: Web
) -> None:
    web.redirect("/", f"http://ask.test:{web.port}/x")
    g = governed(None, Approved(by="ada"))
    assert (await g.fetch(f"http://good.test:{web.port}/"))["status"] == 200
    (request,) = g.approver.requests
    assert request.input == {"url": f"http://ask.test:{web.port}/x"}
    with pytest.raises(PermissionDenied, match="redirected"):
        await g.fetch(f"http://good.test:{web.port}/")


async def test_going_round_in_circles_ends(governed: Callable[..., Governed], web: Web) -> None:
    web.redirect("/", "/")
    g = governed()
    with pytest.raises(Execution, match="gave up after 10"):
        await g.fetch(f"http://good.test:{web.port}/")
    assert len(web.requests) == len(g.sink.records) == 11


async def test_secrets_stay_with_the_first_origin(
    governed: Callable[..., Governed], web: Web
) -> None:
    web.redirect("/", "/same")
    web.redirect("/same", f"http://other.test:{web.port}/x", "307 Temporary Redirect")
    g = governed()
    headers = {"Authorization": "Bearer x", "X-Key": "k", "Accept": "text/html"}
    await g.fetch(f"http://good.test:{web.port}/", method="POST", headers=headers)
    first, same, other = (head.lower() for head in web.requests)
    assert first.startswith("post / ") and "bearer x" in first
    assert same.startswith("get /same ") and "bearer x" in same and "x-key" in same
    assert other.startswith("get /x ") and "text/html" in other
    assert "bearer" not in other and "x-key" not in other


async def test_a_followed_call_that_hangs_has_its_own_time(
    governed: Callable[..., Governed], web: Web
) -> None:
    web.redirect("/", "/hangs")
    web.pages["/hangs"] = "nothing"
    web.skipped = 100
    g = governed(seconds=60)
    with pytest.raises(Timeout):
        await g.fetch(f"http://good.test:{web.port}/")
    assert g.outcomes == ["ok", "timeout"]


async def test_cancelling_ends_the_followed_call_and_is_recorded(
    governed: Callable[..., Governed], web: Web
) -> None:
    web.redirect("/", "/hangs")
    web.pages["/hangs"] = "nothing"
    g = governed()
    begun = asyncio.Event()

    def hear(event: ToolEvent) -> None:
        if isinstance(event, ToolStarted) and g.sink.records:
            begun.set()

    g.service.subscribe(hear)
    running = asyncio.create_task(g.fetch(f"http://good.test:{web.port}/"))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert g.outcomes == ["ok", "cancelled"]


async def test_no_answer_of_a_redirect_is_ever_an_unnamed_error(
    governed: Callable[..., Governed], web: Web
) -> None:
    g = governed(rules="policy for every agent\n\ndefault allow\n")
    for location in (
        "file:///etc/passwd",
        "x:",
        "http://u:p@good.test/",
        "http://nowhere.invalid/",
    ):
        web.redirect("/", location)
        with pytest.raises(ToolError):
            await g.fetch(f"http://good.test:{web.port}/")

"""The text of a tool's exception reaches the model: bounded, escaped, and without secrets."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy import ToolError
from policy.capabilities import manifest_of
from policy.catalog import Origin, ToolSpec
from policy.model import Execution
from policy.plugins import PluginRegistry, fixed_grants
from policy.service import Traits, tool
from policy.tools import ExecutionContext
from tests.examples import examples
from tests.fakes import CountingHandler
from tests.service.registry.stage import Governed

LONGEST = 2_000


def raising(error: Callable[[], Exception], **traits: Any) -> Any:
    """Return a tool that fails with this exception."""

    @tool(traits=Traits(**traits))
    def explode() -> str:
        """Fail."""
        raise error()

    return explode


async def told(folder: Path, authored: Any, name: str = "explode") -> str:
    """Return the message of the failed call, as a model gets it; it is on record too."""
    g = Governed(folder, f"allow {name}\n", authored)
    with pytest.raises(ToolError) as caught:
        await g.service.execute(name, {})
    assert g.records[-1].message == caught.value.message[:500] or "\\u{" in caught.value.message
    return caught.value.message


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


class Counted(str):
    def __str__(self) -> str:
        return self


class WithOwnText(Exception):
    def __str__(self) -> str:
        return Counted("of another type")


def grouped() -> Exception:
    inner = ExceptionGroup("two", [ValueError("first"), KeyError("second")])
    return ExceptionGroup("all", [inner, OSError("third"), OSError("fourth")])


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (lambda: ValueError("the order is closed"), "ValueError: the order is closed"),
        (lambda: KeyError("order"), "KeyError: 'order'"),
        (ValueError, "ValueError"),
        (lambda: ValueError("two\nlines\x1b[31m"), "ValueError: two\\u{a}lines\\u{1b}[31m"),
        (lambda: ValueError("\u202eodd"), "ValueError: \\u{202e}odd"),
        (Unprintable, "Unprintable"),
        (WithOwnText, "WithOwnText"),
        (
            grouped,
            "ExceptionGroup: ValueError: first; KeyError: 'second'; OSError: third",
        ),
        (lambda: Execution("other", "it is gone"), "it is gone"),
    ],
)
async def test_a_model_reads_what_a_tool_raises(
    error: Callable[[], Exception], message: str, tmp_path: Path
) -> None:
    assert await told(tmp_path, raising(error)) == f"explode failed: {message}"


async def test_the_text_is_bounded(tmp_path: Path) -> None:
    message = await told(tmp_path, raising(lambda: ValueError("x" * 100_000)))
    assert message.startswith("explode failed: ValueError: xxx")
    assert len(message) <= LONGEST and message.endswith("]")


async def test_a_tool_may_keep_its_exceptions_to_itself(tmp_path: Path) -> None:
    kept = raising(lambda: ValueError("a private matter"), error_text=False)
    assert await told(tmp_path, kept) == "explode failed: ValueError"


class QuietContextTool:
    name = "explode"
    description = "Fail."
    schema: ClassVar[dict[str, Any]] = {"type": "object", "properties": {}}
    error_text = False

    def execute(self, input: Any, ctx: ExecutionContext) -> Any:
        raise ValueError("a private matter")


class LoudContextTool(QuietContextTool):
    error_text = True


async def test_so_may_a_tool_with_a_schema_of_its_own(tmp_path: Path) -> None:
    assert await told(tmp_path, QuietContextTool()) == "explode failed: ValueError"
    loud = await told(tmp_path, LoudContextTool())
    assert loud == "explode failed: ValueError: a private matter"


async def _fails(input: dict[str, Any], ctx: ExecutionContext) -> Any:
    raise ValueError("from outside")


async def test_a_handler_of_the_host_is_quoted_and_one_of_a_server_is_not(tmp_path: Path) -> None:
    own = CountingHandler("explode", body=_fails)
    assert await told(tmp_path, own) == "explode failed: ValueError: from outside"
    remote = CountingHandler("hub__explode", body=_fails)
    remote._spec = ToolSpec(
        name="hub__explode",
        origin=Origin(kind="mcp", server="hub", tool="explode"),
        schema={"type": "object"},
        pinned=True,
    )
    assert await told(tmp_path, remote, "hub__explode") == "hub__explode failed: ValueError"


async def test_a_plugin_is_not_quoted(tmp_path: Path) -> None:
    declared = {"type": "tool", "name": "explode"}
    manifest = manifest_of({"id": "notes", "version": "1.0", "capabilities": [declared]})
    g = Governed(tmp_path, "allow ext notes/explode\n", CountingHandler("look"))
    plugins = PluginRegistry(g.service, fixed_grants({"notes": ["tool:explode"]}))
    plugins.register(manifest, tools={"explode": raising(lambda: ValueError("from outside"))})
    with pytest.raises(ToolError) as caught:
        await g.service.execute("ext__notes__explode", {})
    assert caught.value.message == "ext__notes__explode failed: ValueError"


SECRETS = {
    "DB_PASSWORD": "correct horse battery",
    "STRIPE_KEY": "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "DATABASE_URL": "postgres://app:s3cr3t%2Fpw@db.internal/orders",
    "PRIVATE_KEY": "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END KEY-----",
    "SHORT": "42",
}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("no such key: sk_live_4eC39HqLyjWDarjtT1zdp7dc", "no such key: $STRIPE_KEY"),
        ("bad password 'correct horse battery'", "bad password '$DB_PASSWORD'"),
        (
            "cannot reach postgres://app:s3cr3t%2Fpw@db.internal/orders",
            "cannot reach $DATABASE_URL",
        ),
        ("refused: s3cr3t/pw", "refused: $DATABASE_URL"),
        ("error 42", "error 42"),
        ("unlike 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\\n'", "unlike '$PRIVATE_KEY\\n'"),
        ("GET https://ada:pw@host.example/a?b=c", "GET https://[masked]@host.example/a?b=c"),
        ("redis://:p/w@host:1 is down", "redis://[masked]@host:1 is down"),
        ("GET https://host.example/@scope/pkg", "GET https://host.example/@scope/pkg"),
        ("Authorization: Bearer abc.def", "Authorization: [masked]"),
        (
            "{'Authorization': 'Bearer abc', 'Accept': 'text/html'}",
            "{'Authorization': [masked], 'Accept': 'text/html'}",
        ),
        ('{"cookie": "session=\\"1\\"", "a": 1}', '{"cookie": [masked], "a": 1}'),
        ("(b'x-api-key', b'abc'), (b'a', b'b')", "(b'x-api-key', b[masked]), (b'a', b'b')"),
        ("GET /?api_key=abc&page=2 failed", "GET /?api_key=[masked]&page=2 failed"),
        ("dbname=orders password=abc host=db", "dbname=orders password=[masked] host=db"),
        ("client_secret='a b', id=3", "client_secret=[masked], id=3"),
        ('{"password": "abc", "user": "ada"}', '{"password": [masked], "user": "ada"}'),
        ("password: at least 8 characters", "password: at least 8 characters"),
        ("unexpected token at 3", "unexpected token at 3"),
        ("the server said: bearer eyJhbGciOi.J9", "the server said: bearer [masked]"),
        ("basic authentication is required", "basic authentication is required"),
        ("Basic YWRhOnB3cHdwdw== is wrong", "Basic [masked] is wrong"),
    ],
)
async def test_secrets_are_masked(said: str, shown: str, tmp_path: Path) -> None:
    with mock.patch.dict(os.environ, SECRETS, clear=True):
        raised = await told(tmp_path, raising(lambda: ValueError(said)))
        # A message that the tool means for the model is masked too.
        meant = await told(tmp_path, raising(lambda: Execution("explode", said)))
    assert (raised, meant) == (f"explode failed: ValueError: {shown}", shown)


VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=6, max_size=40)
AROUND = st.text(st.sampled_from("ab /:@'\"=,\n"), max_size=30)


@settings(max_examples=examples(100), deadline=None)
@given(value=VALUES, before=AROUND, after=AROUND, far=st.integers(0, 12_000))
def test_no_value_of_the_environment_is_in_a_message(
    value: str, before: str, after: str, far: int
) -> None:
    def error() -> Exception:
        return ValueError(f"{'.' * far}{before}{value}{after}")

    # What the rest of the message says, or the variable's name, is not a secret's value.
    if value in f"explode failed: ValueError: {'.' * far}{before}{after}$SECRET_VALUE[masked]":
        return
    with (
        mock.patch.dict(os.environ, {"SECRET_VALUE": value}, clear=True),
        tempfile.TemporaryDirectory() as folder,
    ):
        message = asyncio.run(told(Path(folder), raising(error)))
    assert value not in message
    assert len(message) <= LONGEST


@pytest.mark.parametrize(
    "said",
    [
        "a://" * 200_000,
        "a://x:" * 100_000,
        "x" * 1_000_000,
        "authorization: '" * 50_000,
        "bearer " * 100_000,
        "token='" * 50_000,
        "\\" * 500_000,
    ],
)
async def test_a_hostile_text_takes_no_time(said: str, tmp_path: Path) -> None:
    async with asyncio.timeout(5):
        assert len(await told(tmp_path, raising(lambda: ValueError(said)))) <= LONGEST

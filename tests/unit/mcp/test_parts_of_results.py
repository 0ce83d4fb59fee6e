"""Whatever part of a server's result a client is shown, labels mark it and redactions change it."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import policy
from policy.mcp.handler import output_of
from policy.model import Caller, PermissionDenied, ToolCall
from policy.service import GovernedService, tool
from policy.tools import ToolOutput
from tests.examples import examples

RULES = """policy for every agent

default allow
label untrusted on results of read, plain
copied: deny use when input.what from untrusted
gone: redact results of plain matching /mark[0-9]+/ with "[gone]"
"""
MARK = re.compile("mark[0-9]+")

marks = st.integers(1000, 9999).map("mark{}".format)
texts = st.one_of(marks, marks.map("see {} there".format))
encoded = texts.map(lambda text: base64.b64encode(text.encode()).decode())
urls = encoded.map("data:text/plain;charset=utf-8;base64,{}".format)
extra = st.recursive(
    st.one_of(texts, urls, st.integers(0, 9), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(marks, inner, max_size=2)),
    max_leaves=4,
)
further = st.fixed_dictionaries(
    {},
    optional={
        "_meta": st.dictionaries(marks, extra, max_size=2),
        "annotations": st.fixed_dictionaries({"audience": st.just(["user"]), "note": extra}),
        "x-vendor": extra,
        "title": texts,
        "mimeType": texts,
    },
)


def block(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return content of one kind, with whatever further keys."""
    known = st.fixed_dictionaries({"type": st.just(kind), **fields})
    return st.builds(lambda one, more: {**more, **one}, known, further)


contents = st.one_of(
    block("text", text=texts),
    block("image", data=encoded, mimeType=st.just("image/svg+xml")),
    block("audio", data=encoded, mimeType=texts),
    block("resource_link", uri=texts.map("demo://{}".format), name=texts, description=texts),
    block("resource", resource=st.fixed_dictionaries({"uri": texts, "text": texts})),
    block(
        "resource",
        resource=st.fixed_dictionaries(
            {"uri": texts, "blob": encoded, "mimeType": st.just("text/plain"), "_meta": extra}
        ),
    ),
    block(
        "resource",
        resource=st.fixed_dictionaries({"uri": texts, "blob": encoded}, optional={"text": texts}),
    ),
    block("image", data=encoded, blob=encoded),
    block("resource_link", uri=texts, name=texts, icons=st.lists(st.builds(dict, src=urls))),
    block("hologram", shape=extra),
)
results = st.fixed_dictionaries(
    {"content": st.lists(contents, max_size=3)},
    optional={
        "structuredContent": st.dictionaries(marks, extra, max_size=2),
        "_meta": st.dictionaries(marks, extra, max_size=2),
        "isError": st.booleans(),
        "x-vendor": extra,
    },
)


class Server:
    """A service whose tools return what a server has sent; each call is in a session of its own."""

    def __init__(self, folder: Path) -> None:
        self.result: dict[str, Any] = {}
        self._sessions = count()

        def sent() -> ToolOutput:
            # As it comes from a server: text in JSON.
            return output_of(json.loads(json.dumps(self.result)))

        @tool
        async def read() -> Any:
            """Return a result."""
            return sent()

        @tool
        async def plain() -> Any:
            """Return a result that is redacted."""
            return sent()

        @tool
        async def use(what: str) -> str:
            """Use a text."""
            return "used"

        for name in ("rules", "work"):
            (folder / name).mkdir()
        (folder / "rules" / "all.policy").write_text(RULES)
        self._service = policy.build_tool_service(
            policy.PolicyStore(folder / "rules"),
            tools=[read, plain, use],
            workspace=folder / "work",
        )

    def session(self) -> GovernedService:
        """Return the service in a session without history."""
        return self._service.bound_to(Caller(session=f"s{next(self._sessions)}"))


def shown(output: ToolOutput) -> str:
    """Return all that a client may get of an output, encoded content decoded as well."""
    relayed = output.relayed
    assert relayed is not None
    parts = (output.value, relayed.content, relayed.structured, relayed.meta, relayed.more)
    return "\n".join(_texts(ToolCall(tool="", input={"of": parts}).input["of"]))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        held = value.partition(";base64,")[2] if value.startswith("data:") else value
        try:
            return [value, base64.b64decode(held, validate=True).decode()]
        except ValueError:
            return [value]
    if isinstance(value, tuple):
        return [text for item in value for text in _texts(item)]
    if hasattr(value, "items"):
        return [text for key, item in value.items() for text in (key, *_texts(item))]
    return []


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    return Server(tmp_path_factory.mktemp("server"))


@settings(max_examples=examples(200))
@given(results)
def test_every_part_is_marked_by_a_label(server: Server, result: dict[str, Any]) -> None:
    async def found() -> list[str]:
        session = server.session()
        output = await session.execute("read", {})
        wanted, unmarked = sorted(set(MARK.findall(shown(output)))), []
        for mark in wanted:
            try:
                await session.execute("use", {"what": mark})
                unmarked.append(mark)
            except PermissionDenied:
                pass
        await session.execute("use", {"what": "another"})
        return unmarked

    server.result = result
    assert asyncio.run(found()) == []


@settings(max_examples=examples(200))
@given(results)
def test_every_part_is_redacted(server: Server, result: dict[str, Any]) -> None:
    server.result = result
    output = asyncio.run(server.session().execute("plain", {}))
    assert MARK.findall(shown(output)) == []


@pytest.mark.parametrize(
    "structured",
    [
        {"a": "data:text/plain;base64,bWFyazEwMDA="},
        {"a": {"uri": "demo://a", "blob": "bWFyazEwMDA="}},
    ],
)
async def test_encoded_parts_of_structured_content_are_marked(
    server: Server, structured: dict[str, Any]
) -> None:
    server.result = {"content": [], "structuredContent": structured}
    session = server.session()
    await session.execute("read", {})
    with pytest.raises(PermissionDenied):
        await session.execute("use", {"what": "mark1000"})

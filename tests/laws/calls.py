"""The tools, calls, callers and facts of the laws: few fields and few values, so that they meet."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from policy.call import Caller, GuestScope, ToolCall
from policy.catalog import Origin, Resource, ToolSpec
from policy.facts import Facts

FIELDS = ("a", "b", "n", "tags", "box")
_SCHEMA = {
    "type": "object",
    "properties": {name: {} for name in FIELDS},
    "additionalProperties": False,
}


def _tool(
    name: str,
    *resources: Resource,
    server: str | None = None,
    complete: bool = True,
    **more: Any,
) -> ToolSpec:
    if server is None:
        origin = Origin(kind="host", tool=name)
    else:
        origin = Origin(kind="mcp", server=server, tool=name)
    return ToolSpec(
        name=origin.flat_name(),
        origin=origin,
        schema=_SCHEMA,
        resources=resources,
        complete=complete,
        pinned=True,
        **more,
    )


def _argument(verb: Any, *steps: str) -> Resource:
    return Resource(verb=verb, steps=steps)


SPECS: tuple[ToolSpec, ...] = (
    _tool("note"),
    _tool("nota"),
    _tool("risky", requires_confirmation=True),
    _tool("pay", server="bank"),
    _tool("look", _argument("reads", "a")),
    _tool("keep", _argument("reads", "b"), _argument("writes", "a")),
    _tool("fetch", _argument("connects", "a")),
    _tool("shell", _argument("runs", "a"), unseen=True, exec_class=True),
    _tool("loose", server="lab", complete=False),
)
NAMES = tuple(spec.name for spec in SPECS)
VERBS_OF: Mapping[str, tuple[str, ...]] = {
    "look": ("reads",),
    "keep": ("reads", "writes"),
    "fetch": ("connects",),
    "shell": ("runs", "writes"),
    "lab__loose": ("reads",),
}
# A pattern is written as its author would: the server's part by its structured origin.
SPELLED = {"bank__pay": "mcp bank/pay", "lab__loose": "mcp lab/loose"}

# ------------------------------------------------------------------ calls and callers

_PATHS = ("/srv/p/x", "/srv/p/../q", "/etc/x", "p/x")
_HOSTS = ("https://corp.example/x", "a.corp.example", "http://10.0.0.7/", "evil.example:8443")
_COMMANDS = ("git status", "git diff x", "ls; git status", "ls > /srv/p/out", "$X status", "rm x")
_SCALARS = ("p", "q", "pq", "", 1, 5, 2.5, True, None)


def json_values() -> SearchStrategy[Any]:
    """Draw any JSON value a call may hold."""
    return st.recursive(
        st.none()
        | st.booleans()
        | st.integers(min_value=-(2**60), max_value=2**60)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=6)
        | st.sampled_from(_SCALARS),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["a", "b", "c", ""]), inner, max_size=3)
        ),
        max_leaves=6,
    )


def _usual(tool: str) -> dict[str, SearchStrategy[Any]]:
    """Return what each field usually holds; now and then another kind stands in the way."""
    words: tuple[str, ...] = ("p", "q", "pq")
    first = {"look": _PATHS, "keep": _PATHS, "fetch": _HOSTS, "shell": _COMMANDS}.get(tool, words)
    if tool == "lab__loose":
        first = ("p", "/srv/p/x")
    return {
        "a": st.sampled_from(first),
        "b": st.sampled_from(_PATHS if tool == "keep" else words),
        "n": st.sampled_from([1, 5, 2.5, 5.0]),
        "tags": st.lists(st.sampled_from(words), max_size=3),
        "box": st.sampled_from([{"c": "p"}, {"c": 5}, {"c": {"d": "q"}}, {}]),
    }


@st.composite
def calls(draw: DrawFn, tools: tuple[str, ...] = NAMES) -> ToolCall:
    tool = draw(st.sampled_from(tools))
    usual = _usual(tool)
    odd = st.sampled_from([7, "p", ["p"], {"c": "p"}, True, None])
    kept = draw(st.lists(st.sampled_from(FIELDS), unique=True, min_size=2))
    values = {
        name: draw(odd if draw(st.integers(0, 9)) == 0 else usual[name]) for name in sorted(kept)
    }
    return ToolCall(tool=tool, input=values)


_NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
_LATER = datetime(2026, 11, 21, 13, 0, tzinfo=UTC)
_scopes = st.none() | st.builds(
    GuestScope,
    allowed_tools=st.sampled_from([("*",), ("no*", "look"), ("bank__*", "risky"), ()]),
    expires_at=st.sampled_from([None, _NOW, _LATER, _LATER]),
)


_OTHER_ROLES = ("clerk", "clerk", "guest", "anonymous")


@st.composite
def callers(draw: DrawFn, *, depth: int = 1, roles: tuple[str, ...] = _OTHER_ROLES) -> Caller:
    """Draw a caller, an owner or now and then one of `roles`; sometimes started by another."""
    role = draw(st.sampled_from(roles)) if draw(st.integers(0, 5)) == 5 else "owner"
    nested = depth > 0 and draw(st.integers(0, 5)) == 5
    return Caller(
        agent=draw(st.sampled_from(["ann", "bob"])),
        role=role,
        user=draw(st.sampled_from([None, "u"])),
        groups=draw(st.sampled_from([(), ("g",), ("g", "h")])),
        scope=draw(_scopes) if role == "guest" else None,
        parent=draw(callers(depth=depth - 1, roles=roles)) if nested else None,
    )


def facts() -> SearchStrategy[Facts]:
    return st.sampled_from(
        [
            Facts(now=_NOW, cwd="/srv", workspace="/srv", home="/root"),
            Facts(now=None, cwd="/srv", workspace=None, home=None),
        ]
    )

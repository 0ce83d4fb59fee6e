"""The tools, calls, callers and facts that laws draw from: few of each, so that rules match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from policy.catalog import Origin, Resource, ToolSpec
from policy.model import (
    CONFINED_VERBS,
    Caller,
    Facts,
    GuestScope,
    PastCall,
    SandboxTier,
    ToolCall,
)

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
    _tool("post", _argument("sends", "a")),
    _tool("shell", _argument("runs", "a"), unseen=True, exec_class=True),
    _tool("code", _argument("reads", "a"), unseen=True, exec_class=True),
    _tool("loose", server="lab", complete=False),
)
NAMES = tuple(spec.name for spec in SPECS)
VERBS_OF: Mapping[str, tuple[str, ...]] = {
    "look": ("reads",),
    "keep": ("reads", "writes"),
    "fetch": ("connects",),
    "post": ("sends",),
    "shell": ("runs", "writes"),
    "code": ("reads", "writes", "connects"),
    "lab__loose": ("reads",),
}
# A pattern is written as its author would: the server's part by its structured origin.
SPELLED = {"bank__pay": "mcp bank/pay", "lab__loose": "mcp lab/loose"}

Option = TypeVar("Option")

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


@lru_cache(maxsize=256)
def _place(count: int) -> SearchStrategy[int]:
    return st.integers(min_value=0, max_value=count - 1)


def pick(draw: DrawFn, options: Sequence[Option]) -> Option:
    """Draw one of the options; a strategy built anew for each draw would cost more than it."""
    return options[draw(_place(len(options)))]


def once_in(draw: DrawFn, times: int) -> bool:
    """Draw whether the rare thing happens."""
    return draw(_place(times)) == times - 1


_WORDS = ("p", "q", "pq")
_FIRST: Mapping[str, tuple[Any, ...]] = {
    "look": _PATHS,
    "keep": _PATHS,
    "fetch": _HOSTS,
    "shell": _COMMANDS,
    "lab__loose": ("p", "/srv/p/x"),
}
_TAGS = ((), ("p",), ("p", "p"), ("q", "p"), ("p", "p", "pq"), ("q",))
_BOXES: tuple[dict[str, Any], ...] = (
    {"c": "p"},
    {"c": 5},
    {"c": {"d": "q"}},
    {"c": None},
    {},
)
_ODD = (7, "p", ("p",), {"c": "p"}, True, None)


@st.composite
def calls(draw: DrawFn, tools: tuple[str, ...] = NAMES) -> ToolCall:
    """Draw a call; now and then a value of another kind stands in the way, or none."""
    tool = pick(draw, tools)
    usual: Mapping[str, Sequence[Any]] = {
        "a": _FIRST.get(tool, _WORDS),
        "b": _PATHS if tool == "keep" else _WORDS,
        "n": (1, 5, 2.5, 5.0),
        "tags": _TAGS,
        "box": _BOXES,
    }
    values = {
        name: pick(draw, _ODD if once_in(draw, 10) else usual[name])
        for name in FIELDS
        if not once_in(draw, 4)
    }
    return ToolCall(tool=tool, input=values)


_NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
_LATER = datetime(2026, 11, 21, 13, 0, tzinfo=UTC)
_SCOPES = (
    None,
    GuestScope(allowed_tools=("*",)),
    GuestScope(allowed_tools=("*",), expires_at=_LATER),
    GuestScope(allowed_tools=("no*", "look"), expires_at=_LATER),
    GuestScope(allowed_tools=("bank__*", "risky")),
    GuestScope(allowed_tools=("ba*", "n?t?")),
    GuestScope(allowed_tools=("*",), expires_at=_NOW),
)
_OTHER_ROLES = ("clerk", "clerk", "guest", "anonymous")


@st.composite
def callers(draw: DrawFn, *, depth: int = 1) -> Caller:
    """Draw a caller: an owner or now and then another role; sometimes started by another."""
    role = pick(draw, _OTHER_ROLES) if once_in(draw, 6) else "owner"
    return Caller(
        agent=pick(draw, ("ann", "bob")),
        role=role,
        user=pick(draw, (None, "u")),
        groups=pick(draw, ((), ("g",), ("g", "h"))),
        scope=pick(draw, _SCOPES) if role == "guest" else None,
        parent=draw(callers(depth=depth - 1)) if depth > 0 and once_in(draw, 6) else None,
    )


def _past(
    name: str, minutes: float | None, outcome: str = "ok", result: Any = None, **input: Any
) -> PastCall:
    """Return an earlier call of one of the tools, so many minutes ago."""
    origin = next((spec.origin for spec in SPECS if spec.name == name), Origin(tool=name))
    at = None if minutes is None else _NOW - timedelta(minutes=minutes)
    return PastCall(
        tool=name,
        input=input,
        result=result,
        at=at,
        outcome=outcome,
        origin=origin.kind,
        server=origin.server,
    )


WORLDS = (
    Facts(now=_NOW, cwd="/srv", workspace="/srv", home="/root", said=(), history=()),
    Facts(now=None, cwd="/srv", workspace=None, home=None),
    Facts(
        now=_NOW,
        cwd="/srv",
        workspace="/srv",
        home="/root",
        said=("Read p/x and /srv/q.", "ann (or Bob): pay $5, 2.50 -- 'git  status'!", "p q"),
        history=(_past("note", 5), _past("fetch", 90, "failed"), _past("bank__pay", 0.5)),
    ),
    Facts(
        now=_NOW,
        cwd="/srv",
        workspace="/srv",
        home="/root",
        said=(
            "run ls > /srv/p/out; see https://corp.example/x",
            "b\u200bob",
            "p/x,y A.corp.example.",
        ),
        history=(
            _past("note", 10),
            _past("note", -3, "running"),
            _past("lab__loose", 200),
            _past("shell", None),
            _past("look", 9.9, "cancelled"),
        ),
    ),
    Facts(
        now=None, cwd="/srv", home="/root", history=(_past("note", 5), _past("keep", 1, "timeout"))
    ),
    Facts(
        now=_NOW,
        cwd="/srv",
        workspace="/srv",
        home="/root",
        history=(
            _past("note", 9, result={"a": "p", "b": "q", "n": 5, "tags": ("p", "pq")}, a="p", n=5),
            _past("note", 4, result={"a": "q", "b": "p", "box": {"c": "p"}}, a="q", n=2.5),
            _past("bank__pay", 3, result={"a": "x", "b": "q", "n": 1}, a="p", n=1),
            _past("lab__loose", 2, result="P q", a="p"),
            _past("look", 2, "failed", a="/srv/p/x"),
        ),
    ),
    Facts(
        now=_NOW,
        cwd="/srv",
        workspace="/srv",
        home="/root",
        history=(
            _past("note", 9, result="p", a="p", n=5),
            _past("note", 4, result=({"b": "p"}, {"b": ("q", 5)}, "pq"), a="p", n=5),
            _past("note", 2, "failed", a="p", n=1),
            _past("bank__pay", 1, "running", a="p"),
        ),
    ),
    Facts(
        now=_NOW,
        cwd="/srv",
        workspace="/srv",
        home="/root",
        sandbox=SandboxTier(name="bubblewrap", enforces=frozenset(CONFINED_VERBS)),
    ),
    Facts(
        now=None,
        cwd="/srv",
        home="/root",
        history=(),
        sandbox=SandboxTier(
            name="other", enforces=frozenset({"writes"}), tools=frozenset({"code", "note"})
        ),
    ),
)

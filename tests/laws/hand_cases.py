"""Policies, calls and verdicts worked out by hand from the description of the language.

The oracle and the engine must both decide as written here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from policy.model import Caller, Facts, GuestScope, Resolvers, Verdict

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY

WORLD = Facts(
    now=datetime(2026, 11, 21, 12, 0, tzinfo=UTC), cwd="/srv", workspace="/srv", home="/root"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """One call under one policy. `base` is the global file below its header; `by` may be None.

    `by` names the reasons that carry the verdict, `becoming` the input that would run.
    """

    title: str
    base: str
    tool: str
    input: dict[str, Any]
    verdict: Verdict
    by: str | None = None
    becoming: dict[str, Any] | None = None
    others: dict[str, str] = field(default_factory=dict)
    caller: Caller = field(default_factory=lambda: Caller(agent="ann"))
    facts: Facts = WORLD


def _note(title: str, base: str, input: dict[str, Any], verdict: Verdict, **more: Any) -> Hand:
    return Hand(title=title, base=base, tool="note", input=input, verdict=verdict, **more)


def _opens(title: str, test: str, input: dict[str, Any], *, holds: bool) -> Hand:
    """An `allow` under `default deny`: it must be true, not merely undecided."""
    return _note(
        f"allow: {title}", f"default deny\nx: allow note {test}", input, ALLOW if holds else DENY
    )


def _stops(title: str, test: str, input: dict[str, Any], *, holds: bool) -> Hand:
    """A `deny` under `default allow`: only what is certainly false lets the call through."""
    return _note(
        f"deny: {title}", f"default allow\nx: deny note {test}", input, DENY if holds else ALLOW
    )


LAYERS = (
    _note("the plain default decides what nothing matches", "default ask", {}, ASK, by="default"),
    _note("a deny beats an allow", "default deny\nx: allow note\ny: deny note", {}, DENY, by="y"),
    _note("an ask beats an allow", "default deny\nx: allow note\ny: ask note", {}, ASK, by="y"),
    _note(
        "an ask opens nothing",
        "default deny\nx: allow note when input.n == 1\ny: ask note when input.n == 5",
        {"n": 5},
        DENY,
        by="default",
    ),
    _note("a named default replaces the plain one", "default deny\ndefault ask for note", {}, ASK),
    _note(
        "the strictest named default counts",
        "default deny\ndefault ask for n*\ndefault allow for note",
        {},
        ASK,
    ),
    _note(
        "an allow replaces a named default",
        "default deny\ndefault ask for note\nx: allow note",
        {},
        ALLOW,
        by="x",
    ),
    _note(
        "an approval is an ask with the same conditions",
        "default deny\nx: allow note when input.n == 1 with approval",
        {"n": 1},
        ASK,
        by="x",
    ),
    _note("a shadow rule has no effect", "default allow\nx: shadow deny note", {}, ALLOW),
    _note(
        "another layer takes",
        "default allow",
        {},
        DENY,
        by="y",
        others={"agents/ann.policy": 'policy for agent "ann"\ny: deny note'},
    ),
    _note(
        "another agent's layer does not apply",
        "default allow",
        {},
        ALLOW,
        others={"agents/bob.policy": 'policy for agent "bob"\ny: deny note'},
    ),
    _note(
        "a glob of agents applies",
        "default allow",
        {},
        ASK,
        others={"agents/a.policy": 'policy for agents "a*"\ny: ask note'},
    ),
    _note(
        "a role's layer applies to the role",
        "default allow",
        {},
        ASK,
        others={"roles/clerk.policy": 'policy for role "clerk"\ny: ask note'},
        caller=Caller(agent="ann", role="clerk"),
    ),
    _note(
        "a delegation that nobody fills is a gap",
        'default allow\ndelegate note to agent "ann"',
        {"n": 5},
        DENY,
        by="none",
        others={"agents/ann.policy": 'policy for agent "ann"\ny: allow note when input.n == 1'},
    ),
    _note(
        "the named layer's allow fills a delegation",
        'default deny\ndelegate note to agent "ann"',
        {"n": 1},
        ALLOW,
        by="y",
        others={"agents/ann.policy": 'policy for agent "ann"\ny: allow note when input.n == 1'},
    ),
    _note(
        "the named layer's named default fills a delegation",
        'default deny\ndelegate note to agent "ann"',
        {"n": 1},
        ASK,
        by="default",
        others={"agents/ann.policy": 'policy for agent "ann"\ndefault ask for note'},
    ),
    _note(
        "a plain default never fills a delegation",
        'default deny\ndelegate note to agent "ann"',
        {},
        DENY,
        by="none",
        others={"agents/ann.policy": 'policy for agent "ann"\ndefault ask'},
    ),
    _note(
        "a plain default of another layer denies what its allows leave over",
        "default allow",
        {"n": 5},
        DENY,
        by="default",
        others={
            "agents/ann.policy": 'policy for agent "ann"\ndefault deny\n'
            "y: allow note when input.n == 1"
        },
    ),
    _note(
        "an allow of another layer lifts its own default only",
        "default ask",
        {"n": 1},
        ASK,
        others={
            "agents/ann.policy": 'policy for agent "ann"\ndefault deny\n'
            "y: allow note when input.n == 1"
        },
    ),
    _note(
        "a sub-agent is judged for its parent too",
        "default allow",
        {},
        DENY,
        by="y",
        others={"agents/ann.policy": 'policy for agent "ann"\ny: deny note'},
        caller=Caller(agent="bob", parent=Caller(agent="ann")),
    ),
    _note(
        "a condition on the agent is asked of every caller of the chain",
        'default allow\nx: deny note when agent.name == "ann"',
        {},
        DENY,
        caller=Caller(agent="bob", parent=Caller(agent="ann")),
    ),
    _note(
        "nobody knows an anonymous caller",
        "default allow",
        {},
        DENY,
        by="identity",
        caller=Caller(role="anonymous"),
    ),
    _note(
        "a guest without a scope may nothing",
        "default allow",
        {},
        DENY,
        by="scope",
        caller=Caller(role="guest"),
    ),
    _note(
        "a guest may what its scope names",
        "default allow",
        {},
        ALLOW,
        caller=Caller(role="guest", scope=GuestScope(allowed_tools=("no*",))),
    ),
    _note(
        "a scope ends at its expiry",
        "default allow",
        {},
        DENY,
        by="scope",
        caller=Caller(role="guest", scope=GuestScope(allowed_tools=("*",), expires_at=WORLD.now)),
    ),
    _note(
        "without a clock a scope that expires is over",
        "default allow",
        {},
        DENY,
        by="scope",
        caller=Caller(role="guest", scope=GuestScope(allowed_tools=("*",), expires_at=WORLD.now)),
        facts=Facts(),
    ),
    Hand(
        title="a tool's own confirmation asks",
        base="default allow",
        tool="risky",
        input={},
        verdict=ASK,
        by="confirmation",
    ),
    Hand(
        title="a tool's own confirmation opens nothing",
        base="default deny",
        tool="risky",
        input={},
        verdict=DENY,
        by="default",
    ),
    Hand(
        title="where it gives, a wildcard keeps to the host's own tools",
        base="default deny\nx: allow b*\ny: allow note",
        tool="bank__pay",
        input={},
        verdict=DENY,
    ),
    Hand(
        title="where it takes, a wildcard fits every origin",
        base="default allow\nx: deny b*",
        tool="bank__pay",
        input={},
        verdict=DENY,
    ),
    Hand(
        title="a wildcard fits a server that is spelled exactly",
        base="default deny\nx: allow bank__*",
        tool="bank__pay",
        input={},
        verdict=ALLOW,
    ),
    Hand(
        title="an origin pattern fits",
        base="default deny\nx: allow mcp bank/*",
        tool="bank__pay",
        input={},
        verdict=ALLOW,
    ),
    Hand(
        title="a star alone fits everything",
        base="default deny\nx: allow *",
        tool="bank__pay",
        input={},
        verdict=ALLOW,
    ),
    Hand(
        title="except takes away",
        base="default allow\nx: deny * except note",
        tool="note",
        input={},
        verdict=ALLOW,
    ),
    Hand(
        title="a set of tools stands for its patterns",
        base="default allow\ntools ours = note, look\nx: deny ours",
        tool="look",
        input={"a": "/x"},
        verdict=DENY,
    ),
)

CONDITIONS = (
    _opens("equal", 'when input.a == "p"', {"a": "p"}, holds=True),
    _opens("absent is not equal", 'when input.a == "p"', {}, holds=False),
    _opens("nothing by leaving out", 'when input.a != "p"', {}, holds=False),
    _opens("nothing by a null", 'when input.a != "p"', {"a": None}, holds=False),
    _opens("nothing by leaving out, in", 'when input.a not in ["p"]', {}, holds=False),
    _opens("unless an absent", "unless input.n > 5", {}, holds=False),
    _opens("unless a small one", "unless input.n > 5", {"n": 1}, holds=True),
    _opens("is absent", "when input.a is absent", {}, holds=True),
    _opens("null is absent", "when input.a is absent", {"a": None}, holds=True),
    _opens("another kind", 'when input.a != "p"', {"a": 7}, holds=False),
    _opens("or decides", 'when (input.a == "p" or input.n == 1)', {"n": 1}, holds=True),
    _opens("below a text", 'when input.box.c != "p"', {"box": "x"}, holds=False),
    _opens("presence below a text", "when input.box.c is absent", {"box": "x"}, holds=False),
    _opens("one and 1.0", "when input.n == 1.0", {"n": 1}, holds=True),
    _opens("tenths are exact", "when input.n + 0.2 == 0.3", {"n": 0.1}, holds=True),
    _opens("true is no number", "when not (input.n == 5)", {"n": True}, holds=False),
    _opens("beyond a double", "when input.n > 5", {"n": 2**60 + 1}, holds=False),
    _opens("an invisible character", 'when input.a == "p"', {"a": "p\u200b"}, holds=False),
    _opens("one normal form", 'when input.a == "\u00e9"', {"a": "e\u0301"}, holds=True),
    _opens("all of a list", 'when all t in input.tags: t == "p"', {"tags": ["p", "p"]}, holds=True),
    _opens("all of nothing", 'when all t in input.tags: t == "p"', {"tags": []}, holds=False),
    _opens("a list of one", 'when all t in input.tags: t == "p"', {"tags": "p"}, holds=True),
    _opens(
        "one cannot be read", 'when all t in input.tags: t == "p"', {"tags": ["p", 7]}, holds=False
    ),
    _opens("a step on each", 'when "p" in input.box.c', {"box": [{"c": "p"}, {}]}, holds=True),
    _opens("a place past the end", "when input.tags[2] is absent", {"tags": ["p"]}, holds=True),
    _opens("the last", 'when input.tags[-1] == "q"', {"tags": ["p", "q"]}, holds=True),
    _opens("matches the whole", "when input.a matches /p/", {"a": "pq"}, holds=False),
    _opens("contains searches", "when input.a contains /q/", {"a": "pq"}, holds=True),
    _opens("like crosses all", 'when input.a like "p*q"', {"a": "p/\nq"}, holds=True),
    _opens("the root has no parent", 'when agent.parent != "x"', {}, holds=False),
    _opens("a later time", 'when now > time("2020-01-01T00:00:00Z")', {}, holds=True),
    _note(
        "an unknown clock opens nothing",
        'default deny\nx: allow note when now > time("2020-01-01T00:00:00Z")',
        {},
        DENY,
        facts=Facts(),
    ),
    _note(
        "an unknown clock silences no deny",
        'default allow\nx: deny note when now < time("2020-01-01T00:00:00Z")',
        {},
        DENY,
        facts=Facts(),
    ),
    _stops("equal", 'when input.a == "p"', {"a": "p"}, holds=True),
    _stops("absent is false", 'when input.a == "p"', {}, holds=False),
    _stops("not of an absent", 'when input.a != "p"', {}, holds=True),
    _stops("not in of an absent", 'when input.a not in ["p"]', {}, holds=True),
    _stops("another kind counts as met", 'when input.a == "p"', {"a": 7}, holds=True),
    _stops("below a text counts as met", 'when input.box.c == "p"', {"box": "x"}, holds=True),
    _stops("unless an absent", 'unless input.a == "p"', {}, holds=True),
    _stops("unless not an absent", "unless not (input.n > 5)", {}, holds=True),
    _stops("unless of another kind", 'unless input.a == "p"', {"a": 7}, holds=True),
    _stops("unless it holds", 'unless input.a == "p"', {"a": "p"}, holds=False),
    _stops(
        "false beats undecided",
        'when input.a == "p" and input.n == 5',
        {"a": 7, "n": 1},
        holds=False,
    ),
    _stops("no element", 'when any t in input.tags: t == "p"', {"tags": []}, holds=False),
    _stops(
        "an element of another kind",
        'when any t in input.tags: t == "p"',
        {"tags": [7]},
        holds=True,
    ),
    _stops("nobody is named", 'when user.id == "u"', {}, holds=False),
    _stops(
        "a count", 'when count(t in input.tags: t == "p") >= 2', {"tags": ["p", "p"]}, holds=True
    ),
    _stops(
        "an undecided count",
        'when count(t in input.tags: t == "p") >= 2',
        {"tags": [7]},
        holds=True,
    ),
)

REWRITES = (
    _note(
        "a cap",
        "default allow\nx: rewrite note set input.n = at most 3",
        {"n": 5},
        ALLOW,
        becoming={"n": 3},
    ),
    _note(
        "a cap sets an absent field",
        "default allow\nx: rewrite note set input.n = at most 3",
        {},
        ALLOW,
        becoming={"n": 3},
    ),
    _note(
        "a cap of a text",
        "default allow\nx: rewrite note set input.n = at most 3",
        {"n": "p"},
        DENY,
        by="x",
    ),
    _note(
        "caps combine to the least",
        "default allow\nx: rewrite note set input.n = at most 3\n"
        "y: rewrite note set input.n = at most 4",
        {"n": 5},
        ALLOW,
        becoming={"n": 3},
    ),
    _note(
        "crossed bounds",
        'default allow\nx: rewrite note when input.a == "p" set input.n = at most 3\n'
        'y: rewrite note when input.b == "q" set input.n = at least 4',
        {"n": 5, "a": "p", "b": "q"},
        DENY,
    ),
    _note(
        "two values",
        'default allow\nx: rewrite note when input.n == 1 set input.a = "p"\n'
        'y: rewrite note when input.b == "q" set input.a = "q"',
        {"n": 1, "a": "p", "b": "q"},
        DENY,
    ),
    _note(
        "a field inside a changed one",
        "default allow\nx: rewrite note when input.n == 1 remove input.box\n"
        'y: rewrite note when input.b == "q" set input.box.c = "q"',
        {"n": 1, "b": "q", "box": {"c": "p"}},
        DENY,
    ),
    _note(
        "parents are made",
        'default allow\nx: rewrite note set input.box.c = "p"',
        {},
        ALLOW,
        becoming={"box": {"c": "p"}},
    ),
    _note(
        "a parent of another type",
        'default allow\nx: rewrite note set input.box.c = "p"',
        {"box": "x"},
        DENY,
    ),
    _note(
        "remove",
        "default allow\nx: rewrite note remove input.a",
        {"a": 1, "n": 1},
        ALLOW,
        becoming={"n": 1},
    ),
    _note(
        "if absent keeps what is there",
        'default allow\nx: rewrite note set input.a = "q" if absent',
        {"a": "p"},
        ALLOW,
        becoming={"a": "p"},
    ),
    _note(
        "redact",
        'default allow\nx: rewrite note redact input.a matching /p+/ with "*"',
        {"a": "ppqp"},
        ALLOW,
        becoming={"a": "*q*"},
    ),
    _note(
        "if absent stands in nobody's way where the field is there",
        'default allow\nx: rewrite note redact input.a matching /p/ with "*"\n'
        'y: rewrite note set input.a = "q" if absent',
        {"a": "p"},
        ALLOW,
        becoming={"a": "*"},
    ),
    _note(
        "the name of a field cannot be redacted",
        "default allow\nx: rewrite note redact input.box matching /p/",
        {"box": {"p": "q"}},
        DENY,
        by="x",
    ),
    _note(
        "redact that matches again",
        'default allow\nx: rewrite note redact input.a matching /p/ with "pp"',
        {"a": "p"},
        DENY,
    ),
    _note(
        "an undecided rewrite denies",
        'default allow\nx: rewrite note when input.a == "p" set input.n = 1',
        {"a": 7, "n": 1},
        DENY,
        by="x",
    ),
    _note(
        "a rewrite rescues nothing",
        "default allow\nx: rewrite note set input.n = at most 3\ny: deny note when input.n > 3",
        {"n": 5},
        DENY,
        by="y",
    ),
    _note(
        "the new input is decided again",
        "default allow\nx: rewrite note set input.n = at most 3\ny: ask note when input.n == 3",
        {"n": 5},
        ASK,
        by="y",
        becoming={"n": 3},
    ),
    _note(
        "values come from the original",
        "default allow\nx: rewrite note when input.n == 5 set input.n = 4",
        {"n": 5},
        ALLOW,
        becoming={"n": 4},
    ),
    _note(
        "a change that would go on denies",
        "default allow\nx: rewrite note set input.n = input.n + 1",
        {"n": 5},
        DENY,
    ),
    _note(
        "the rewrites of all callers apply together",
        "default allow",
        {"n": 5},
        ALLOW,
        becoming={"n": 3},
        others={
            "agents/ann.policy": 'policy for agent "ann"\ny: rewrite note set input.n = at most 3'
        },
        caller=Caller(agent="bob", parent=Caller(agent="ann")),
    ),
)


def _resource(title: str, tool: str, base: str, value: Any, verdict: Verdict, **more: Any) -> Hand:
    return Hand(title=title, base=base, tool=tool, input=value, verdict=verdict, **more)


_READ = 'default deny\npaths p = "/srv/p/**"\nx: allow look when reads only p'
_NO_READ = 'default allow\npaths p = "/srv/p/**"\nx: deny * when reads p'
_WRITE = 'default deny\npaths p = "/srv/p/**"\nx: allow shell when runs only ["ls *", "git status"]'


def _led_out(path: str) -> str:
    return "/etc/x" if path == "/srv/p/x" else path


RESOURCES = (
    _resource("inside", "look", _READ, {"a": "/srv/p/x"}, ALLOW),
    _resource("the folder itself", "look", _READ, {"a": "/srv/p"}, ALLOW),
    _resource("climbing out", "look", _READ, {"a": "/srv/p/../q"}, DENY),
    _resource("relative", "look", _READ, {"a": "p/x"}, ALLOW),
    _resource("left out", "look", _READ, {}, DENY),
    _resource("no text", "look", _READ, {"a": 7}, DENY),
    _resource("each of a list", "look", _READ, {"a": ["/srv/p/x", "/etc/x"]}, DENY),
    _resource("a deny sees it", "look", _NO_READ, {"a": "/srv/q/../p/x"}, DENY),
    _resource("a deny sees another", "look", _NO_READ, {"a": "/srv/q"}, ALLOW),
    _resource("a deny cannot read it", "look", _NO_READ, {"a": 7}, DENY),
    _resource("no argument, no effect", "look", _NO_READ, {}, ALLOW),
    _resource("an undeclared tool may mean it", "lab__loose", _NO_READ, {"b": "/srv/p/x"}, DENY),
    _resource("an undeclared tool means another", "lab__loose", _NO_READ, {"b": "/etc/x"}, ALLOW),
    _resource(
        "nothing is only of an undeclared tool",
        "lab__loose",
        'default deny\nx: allow mcp lab/loose when reads only "/srv/**"',
        {"b": "/srv/x"},
        DENY,
    ),
    _resource(
        "outside",
        "look",
        'default allow\nx: deny * when reads outside "/srv/**"',
        {"a": "/etc/x"},
        DENY,
    ),
    _resource(
        "not outside",
        "look",
        'default allow\nx: deny * when reads outside "/srv/**"',
        {"a": "/srv/x"},
        ALLOW,
    ),
    _resource(
        "what an allow does not name it does not cover",
        "keep",
        'default deny\nx: allow keep when reads only "/srv/**"',
        {"a": "/srv/x", "b": "/srv/y"},
        DENY,
    ),
    _resource(
        "what an allow names it covers",
        "keep",
        'default deny\nx: allow keep when reads only "/srv/**" and writes only "/srv/p/**"',
        {"a": "/srv/p/x", "b": "/srv/y"},
        ALLOW,
    ),
    _resource(
        "links that lead out",
        "look",
        _READ,
        {"a": "/srv/p/x"},
        DENY,
        facts=Facts(cwd="/srv", workspace="/srv", resolvers=Resolvers(path=_led_out)),
    ),
    _resource(
        "links that lead out silence no deny",
        "look",
        _NO_READ,
        {"a": "/srv/p/x"},
        DENY,
        facts=Facts(cwd="/srv", workspace="/srv", resolvers=Resolvers(path=_led_out)),
    ),
    _resource(
        "a host",
        "fetch",
        'default deny\nx: allow fetch when connects only to "corp.example"',
        {"a": "https://CORP.example/x"},
        ALLOW,
    ),
    _resource(
        "a subdomain is another host",
        "fetch",
        'default deny\nx: allow fetch when connects only to "corp.example"',
        {"a": "https://a.corp.example/x"},
        DENY,
    ),
    _resource(
        "a look-alike",
        "fetch",
        'default deny\nx: allow fetch when connects only to "*.corp.example"',
        {"a": "https://evilcorp.example/"},
        DENY,
    ),
    _resource(
        "an address inside",
        "fetch",
        "default allow\nx: deny * when connects to [private, loopback]",
        {"a": "http://10.0.0.7/"},
        DENY,
    ),
    _resource(
        "a name that resolves inside",
        "fetch",
        "default allow\nx: deny * when connects to [private, loopback]",
        {"a": "http://corp.example/"},
        DENY,
        facts=Facts(resolvers=Resolvers(host=lambda name: ("10.0.0.7",))),
    ),
    _resource(
        "a name that nobody resolves",
        "fetch",
        "default allow\nx: deny * when connects to [private, loopback]",
        {"a": "http://corp.example/"},
        DENY,
        facts=Facts(resolvers=Resolvers(host=lambda name: None)),
    ),
    _resource(
        "anything is some effect where it takes",
        "fetch",
        "default allow\nx: deny * when connects to anything",
        {"a": "corp.example"},
        DENY,
    ),
    _resource("every command fits", "shell", _WRITE, {"a": "git status; ls x"}, ALLOW),
    _resource("a star also stands for nothing", "shell", _WRITE, {"a": "ls"}, ALLOW),
    _resource("one command does not fit", "shell", _WRITE, {"a": "git status; rm x"}, DENY),
    _resource("an unreadable command", "shell", _WRITE, {"a": "$X status"}, DENY),
    _resource(
        "a redirection is an effect of its own", "shell", _WRITE, {"a": "ls > /srv/p/x"}, DENY
    ),
    _resource(
        "a program without a profile may write any of its words",
        "shell",
        _WRITE + " and writes only p",
        {"a": "git status"},
        DENY,
    ),
    _resource(
        "one command is enough to deny",
        "shell",
        'default allow\nx: deny * when runs "rm *"',
        {"a": "ls && rm x"},
        DENY,
    ),
    _resource(
        "no such command",
        "shell",
        'default allow\nx: deny * when runs "rm *"',
        {"a": "ls && git status"},
        ALLOW,
    ),
    _resource(
        "a command that is no text may write anywhere",
        "shell",
        'default allow\nx: deny * when writes "/etc/**"',
        {"a": 7},
        DENY,
    ),
    _resource(
        "an unreadable command may connect anywhere",
        "shell",
        "default allow\nx: deny * when connects to anything",
        {"a": "$X status"},
        DENY,
    ),
)

HANDS = (*LAYERS, *CONDITIONS, *REWRITES, *RESOURCES)

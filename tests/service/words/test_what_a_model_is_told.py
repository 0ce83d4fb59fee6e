"""What a model learns of a failed call: a code and a sentence, but no values."""

from __future__ import annotations

import asyncio
import re
import tempfile
import unicodedata
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy import Caller, GuestScope, PermissionDenied, PolicyStore, ToolError, build_tool_service
from policy.approvals import Approver, Denied, ScriptedApprover, TimedOut
from policy.audit import MemorySink, record_line
from policy.model import DOUBTS, SENTENCES, Code, Doubt
from policy.service import Deny, GovernedService
from policy.tools import Traits, builtin_handlers, tool
from tests.examples import examples

PAGE = Path(__file__).parents[3] / "docs/tool-service.md"
MARKER = "hunter2"
LONGEST = 300

RULES = """
policy for every agent

default deny

let-in:   allow echo, explode when input.path != "never"
files:    allow file_read, file_list when reads anything and not (reads "never")
held:     deny file_read when reads "**/.env" because "secrets stay put"
unnamed:  deny file_read when input.path == "locked"
careful:  ask file_list when input.path == "ask" because "lists are private"
odd:      deny echo when input.count > 3 because "not that many"
closer:   deny echo when input.path like "*.pem" because "keys\\nstay \\u{202e} put"
guests:   deny file_read when session.role == "nobody"
"""


@tool
def echo(path: str, count: int = 1, more: list[int] | None = None) -> str:
    """Say it again."""
    return path * count


@tool(traits=Traits(error_text=False))
def explode(path: str) -> str:
    """Fail, and show with what."""
    raise ValueError(path)


def governed(
    folder: Path,
    *,
    approver: Approver | None = None,
    caller: Caller | None = None,
    rules: str = RULES,
) -> tuple[GovernedService, MemorySink]:
    (folder / "rules").mkdir(exist_ok=True)
    (folder / "rules/global.policy").write_text(rules)
    (folder / "work").mkdir(exist_ok=True)
    store, sink = PolicyStore(folder / "rules"), MemorySink()
    service = build_tool_service(
        store,
        tools=[*builtin_handlers(), echo, explode],
        workspace=folder / "work",
        approver=approver,
        caller=caller,
        audit=sink,
    )
    # A policy that is not in force would refuse everything with the same words.
    store.reload()
    assert store.current is not None and not store.status.stale, store.status.because
    return service, sink


async def refused(service: GovernedService, name: Any, input: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await service.execute(name, input)
    return caught.value


async def test_a_rule_is_told_by_its_because_and_named_only_to_people(tmp_path: Path) -> None:
    service, sink = governed(tmp_path)
    error = await refused(service, "file_read", {"path": ".env"})
    assert isinstance(error, PermissionDenied)
    assert (error.code, error.message, str(error)) == (
        "denied-by-policy",
        "secrets stay put",
        "secrets stay put",
    )
    # People and the record get the rest.
    (reason, *_) = error.decision.deciding  # type: ignore[union-attr]
    assert (reason.rule, reason.file, reason.line) == ("held", "global.policy", 8)
    (record,) = sink.records
    assert (record.id, record.code, record.message) == (error.call_id, error.code, error.message)
    assert b'"rule":"held"' in record_line(record)


async def test_a_because_is_told_whole_whatever_it_ends_in(tmp_path: Path) -> None:
    said = "keep out (please read the docs)"
    service, _ = governed(
        tmp_path,
        rules=f'policy for every agent\n\ndefault allow\n\nread: deny file_read because "{said}"\n',
    )
    error = await refused(service, "file_read", {"path": "a"})
    assert error.message == said


async def test_rewrites_that_collide_are_not_named(tmp_path: Path) -> None:
    rules = (
        "policy for every agent\n\ndefault allow\n\n"
        'one: rewrite echo when input.path like "a*" set input.count = 2\n'
        'two: rewrite echo when input.path like "*b" set input.count = 3\n'
    )
    service, sink = governed(tmp_path, rules=rules)
    error = await refused(service, "echo", {"path": "ab"})
    assert "(" not in error.message
    assert any("(one and two)" in (reason.message or "") for reason in sink.records[-1].reasons)


async def test_a_rule_without_a_because_is_told_by_a_sentence_of_ours(tmp_path: Path) -> None:
    service, _ = governed(tmp_path)
    error = await refused(service, "file_read", {"path": "locked"})
    assert (error.code, error.message) == ("denied-by-policy", SENTENCES["denied-by-policy"])


async def test_a_question_that_may_not_apply_says_so(tmp_path: Path) -> None:
    service, _ = governed(
        tmp_path,
        rules="policy for every agent\n\ndefault allow\n\n"
        'sh: ask bash_exec when writes "**/deploy.yml" because "deploys are reviewed"\n',
    )
    error = await refused(service, "bash_exec", {"command": "cat $X > $X"})
    assert error.message.endswith(
        "; asked because: deploys are reviewed (whether this applies cannot be decided)"
    )


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        (None, "no-approver", "nobody to give it; asked because: lists are private"),
        (Denied(by="ada", reason="use notes.txt"), "approval-refused", "refused: use notes.txt"),
        (Denied(by="ada"), "approval-refused", "the approval was refused"),
        (TimedOut(), "approval-timeout", "nobody approved it in time"),
        ("yes", "approval-failed", "no valid approval was given"),
    ],
)
async def test_a_question_that_nobody_agreed_to_has_its_own_code(
    tmp_path: Path, answer: Any, code: str, message: str
) -> None:
    approver = None if answer is None else ScriptedApprover(answer)
    service, _ = governed(tmp_path, approver=approver)
    error = await refused(service, "file_list", {"path": "ask"})
    assert error.code == code
    assert message in error.message


@pytest.mark.parametrize(
    ("caller", "code"),
    [
        (Caller(role="anonymous"), "unknown-caller"),
        (Caller(role="guest"), "outside-scope"),
        (Caller(role="guest", scope=GuestScope(allowed_tools=("echo",))), "outside-scope"),
    ],
)
async def test_who_may_not_call_is_told_so(tmp_path: Path, caller: Caller, code: str) -> None:
    service, _ = governed(tmp_path, caller=caller)
    error = await refused(service, "file_read", {"path": "a"})
    assert error.code == code


async def test_what_no_rule_allows_does_not_say_what_one_would(tmp_path: Path) -> None:
    service, _ = governed(tmp_path)
    error = await refused(service, "file_delete", {"path": "a"})
    assert (error.code, error.message) == ("not-allowed", SENTENCES["not-allowed"])


async def test_what_cannot_be_decided_is_not_quoted(tmp_path: Path) -> None:
    service, sink = governed(tmp_path)
    error = await refused(service, "file_read", {"path": f"~{MARKER}/x"})
    assert error.code == "not-understood"
    assert (
        error.message == f"{SENTENCES['not-understood']}; {DOUBTS['resources']}: secrets stay put"
    )
    assert any(MARKER in (reason.undecided or "") for reason in sink.records[0].reasons)


async def test_without_a_policy_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    service = build_tool_service(PolicyStore(tmp_path / "rules"))
    error = await refused(service, "file_read", {"path": "a"})
    assert error.code == "policy-unavailable"


async def test_what_a_rule_says_is_shown_on_one_line_with_nothing_hidden(tmp_path: Path) -> None:
    service, _ = governed(tmp_path)
    error = await refused(service, "echo", {"path": "a.pem"})
    assert error.message == "keys\\u{a}stay \\u{202e} put"


async def test_a_name_that_is_no_tool_is_shown_bounded(tmp_path: Path) -> None:
    service, _ = governed(tmp_path)
    error = await refused(service, "\u202e" + "x" * 5_000 + "\n", {})
    assert (error.code, len(error.message) <= LONGEST) == ("not-found", True)
    assert "\u202e" not in error.message and "\n" not in error.message


async def test_a_tool_that_keeps_its_exceptions_does_not_show_with_what(tmp_path: Path) -> None:
    service, _ = governed(tmp_path)
    error = await refused(service, "explode", {"path": MARKER})
    assert (error.code, error.message) == ("execution", "explode failed: ValueError")


@pytest.mark.parametrize(
    ("name", "input", "code"),
    [
        ("file_read", {"path": f"{MARKER}.txt"}, "execution"),
        ("file_read", {"path": f"../../{MARKER}"}, "execution"),
        ("file_read", {"path": f"a\0{MARKER}"}, "not-understood"),
        ("file_list", {"path": f"{MARKER}/x"}, "execution"),
        ("echo", {"path": "a", "count": MARKER}, "validation-failed"),
        ("echo", {"path": "a", "more": f'{{"{MARKER}": 1}}'}, "validation-failed"),
        ("echo", {"path": "a", "more": [MARKER]}, "validation-failed"),
        ("echo", f'{{"path": "{MARKER}", ', "validation-failed"),
        ("echo", [MARKER], "validation-failed"),
        ("echo", {"path": ["x", MARKER]}, "validation-failed"),
    ],
)
async def test_the_tools_of_placet_do_not_show_what_they_were_given(
    tmp_path: Path, name: str, input: Any, code: str
) -> None:
    service, _ = governed(tmp_path)
    error = await refused(service, name, input)
    assert error.code == code
    _is_fit(error)


class Says:
    def __init__(self, said: str) -> None:
        self._said = said

    def classify(self, name: str, input: object) -> Deny:
        return Deny(self._said)


async def test_a_filter_may_say_why_within_the_bound(tmp_path: Path) -> None:
    service, _ = governed(tmp_path)
    service.set_smart_filter(Says("no\r\n" + "y" * 5_000))
    error = await refused(service, "echo", {"path": "a"})
    assert (error.code, error.message[:8]) == ("denied-by-policy", "no\\u{d}\\")
    assert len(error.message) <= LONGEST


def test_the_page_lists_every_code_and_its_sentence() -> None:
    assert set(SENTENCES) == set(get_args(Code))
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| ([^|]+?) \|", PAGE.read_text(), re.M))
    assert {code: rows.get(code) for code in SENTENCES} == dict(SENTENCES)


SECRETS = st.builds(
    lambda before, after: f"{before}{MARKER}{after}",
    st.sampled_from(["", "~", "/", "../", "a b ", "$(", "\u202e", "\n", '{"', "-"]),
    st.sampled_from(["", "/.env", ".pem", "\n", "`", "\u2066", '"}', "x" * 400, "\ud800"]),
)
VALUES = st.one_of(
    SECRETS, st.lists(SECRETS, max_size=2), st.dictionaries(st.sampled_from(["path", "a"]), SECRETS)
)
INPUTS = st.one_of(
    st.dictionaries(
        st.sampled_from(["path", "content", "count", "more", "url", "command", "mode"]),
        VALUES,
        max_size=3,
    ),
    st.dictionaries(st.sampled_from(["path", "content"]), SECRETS, min_size=2),
    st.dictionaries(st.sampled_from(["path", "url", "command"]), SECRETS, min_size=1, max_size=1),
    SECRETS,
    st.lists(SECRETS, max_size=2),
)
CONDITIONS = {
    "echo": ["", "when input.count > 3", 'when input.path like "*hunter2*"'],
    "explode": ["", 'when input.path == "hunter2"'],
    "file_read": ["", 'when reads "**/.env"', 'unless reads only "/srv/**"'],
    "file_write": ["", 'when writes "**/.env"', 'when input.content like "*hunter2*"'],
    "bash_exec": ["", 'when reads "**/.env"', 'when runs "curl"', 'when input.command like "$*"'],
    "web_fetch": ["", "when connects to private", 'unless connects only to "*.corp.example"'],
}
TOOLS = sorted(CONDITIONS)
POLICIES = st.tuples(
    st.sampled_from([f"let-in: allow {', '.join(TOOLS)}", ""]),
    st.lists(
        st.sampled_from([(name, one) for name in TOOLS for one in CONDITIONS[name]]),
        max_size=4,
        unique=True,
    ),
    st.lists(st.sampled_from(["deny", "ask"]), min_size=4, max_size=4),
    st.lists(st.sampled_from(["", ' because "for a reason"']), min_size=4, max_size=4),
)


@settings(max_examples=examples(60), deadline=None)
@given(policy=POLICIES, calls=st.lists(st.tuples(st.sampled_from(TOOLS), INPUTS), max_size=6))
def test_no_value_of_a_call_is_in_what_reaches_a_model(
    policy: tuple[str, list[tuple[str, str]], list[str], list[str]],
    calls: list[tuple[str, Any]],
) -> None:
    first, told, effects, reasons = policy
    effects = effects if first else ["deny"] * 4
    # An `ask` with a condition beside a `deny` without one is an error.
    rules = [
        f"r{n}: {'deny' if condition and (name, '') in told else effect} {name} {condition}{reason}"
        for n, ((name, condition), effect, reason) in enumerate(
            zip(told, effects, reasons, strict=False)
        )
    ]
    text = "\n".join(["policy for every agent", "", "default deny", "", first, *rules, ""])
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_tried(Path(folder), text, calls))


async def _tried(folder: Path, text: str, calls: list[tuple[str, Any]]) -> None:
    service, _ = governed(folder, rules=text)
    for name, input in calls:
        # What would run a command or reach for the network is refused in the end.
        outside = name in ("bash_exec", "web_fetch")
        service.set_smart_filter(Says("not here") if outside else None)
        try:
            await service.execute(name, input)
        except ToolError as error:
            _is_fit(error)


def _is_fit(error: ToolError) -> None:
    assert error.code in SENTENCES
    assert MARKER not in error.message and MARKER not in str(error), error.message
    assert len(error.message) <= LONGEST
    hidden = [c for c in error.message if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert not hidden


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ('r: deny echo after explode because "B"', "history"),
        ('r: deny echo unless input.path in results(file_list).path because "B"', "history"),
        ('r: deny echo unless input.path from results(file_list) because "B"', "history"),
        ('r: deny echo unless input.path named by user because "B"', "said"),
        ('r: deny echo when context.x == 1 because "B"', "facts"),
        ('r: deny echo when url(input.path).host == "a" because "B"', "values"),
        ('r: deny bash_exec when reads "**/.env" because "B"', "resources"),
    ],
)
async def test_help_is_about_what_is_not_known(rules: str, told: Doubt, tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "placet.toml").write_text('[context]\nx = "number"\n')
    service, _ = governed(tmp_path, rules=f"policy for every agent\n\ndefault allow\n{rules}\n")
    await refused(service, "explode", {"path": "x"})
    tool = "bash_exec" if told == "resources" else "echo"
    input = {"command": "cat $F"} if told == "resources" else {"path": "not a url"}
    error = await refused(service, tool, input)
    assert error.code == "not-understood"
    assert error.message == f"{SENTENCES['not-understood']}; {DOUBTS[told]}: B"


async def test_a_limit_that_cannot_count_says_why_and_quotes_nothing(tmp_path: Path) -> None:
    rules = 'policy for every agent\n\ndefault allow\nfew: limit echo to 5 of {} because "B"\n'
    service, _ = governed(tmp_path, rules=rules.format("length(input.more)"))
    error = await refused(service, "echo", {"path": "x", "more": None})
    assert (error.code, error.message) == (
        "denied-by-policy",
        "the amount that a limit counts is absent; B",
    )
    (tmp_path / "b").mkdir()
    service, _ = governed(tmp_path / "b", rules=rules.format("length(url(input.path).host)"))
    error = await refused(service, "echo", {"path": f"http://[{MARKER}"})
    assert error.code == "not-understood"
    assert MARKER not in error.message

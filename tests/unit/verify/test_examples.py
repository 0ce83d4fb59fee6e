"""Tests inside rule files: how they run, and what a failure reports."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.diagnostics import Diagnostic
from policy.generation import Built, read_policy
from policy.verify.literals import same_json

RULES = """\
policy for every agent
default deny
paths work = "/srv/work/**"
read: allow file_read, file_list when reads only work
write: allow file_write when writes only work with approval
no-guests: deny * when session.role == "visitor"
night: deny file_read when now within 00:00..06:00
staff: deny file_list unless "staff" in user.groups
cap: rewrite bash_exec set input.timeout = at most 60
run: allow bash_exec when runs only "ls"
"""


def built(tmp_path: Path, tests: str, rules: str = RULES) -> Built:
    (tmp_path / "global.policy").write_text(rules + tests)
    return read_policy(tmp_path)


def errors(built: Built) -> list[Diagnostic]:
    return [d for d in built.diagnostics if d.severity == "error"]


NOON = '  given now = "2026-06-03T12:00:00Z"\n'


def test_what_holds_lets_the_policy_load(tmp_path: Path) -> None:
    made = built(
        tmp_path,
        f"""\
test "work"
{NOON}  file_read {{path: "/srv/work/a"}} -> allow by read
  file_read {{path: "/etc/passwd"}} -> deny by default
  file_write {{path: "/srv/work/a", content: "x"}} -> ask by write
  given user.groups = ["staff"]
  file_list {{path: "/srv/work"}} -> allow
  given session.role = "visitor"
  file_read {{path: "/srv/work/a"}} -> deny by no-guests
""",
    )
    assert not errors(made)
    assert made.generation is not None
    assert [r.line for r in made.generation.examples] == [13, 14, 15, 17, 19]
    assert all(r.passed for r in made.generation.examples)


def test_another_verdict_fails_at_the_case_and_says_what_was_seen(tmp_path: Path) -> None:
    made = built(tmp_path, f'test "t"\n{NOON}  file_read {{path: "/srv/work/a"}} -> deny\n')
    (error,) = errors(made)
    assert made.generation is None
    assert error.code == "failed-test"
    assert error.message == "this test fails: the verdict is allow, not deny"
    assert "allow by read (global.policy:4): reads only work" in error.label
    assert error.span is not None
    assert (error.span.line, error.span.column) == (13, 3)


def test_the_named_rule_must_carry_the_verdict(tmp_path: Path) -> None:
    made = built(
        tmp_path, f'test "t"\n{NOON}  file_read {{path: "/etc/passwd"}} -> deny by no-guests\n'
    )
    (error,) = errors(made)
    assert error.message == "this test fails: the verdict is deny, but not by `no-guests`"


def test_every_failing_case_is_said(tmp_path: Path) -> None:
    case = '  file_read {path: "/srv/work/a"} -> ask\n'
    assert len(errors(built(tmp_path, f'test "t"\n{NOON}' + case * 3))) == 3


def test_a_clock_that_is_not_given_is_unknown(tmp_path: Path) -> None:
    made = built(tmp_path, 'test "t"\n  file_read {path: "/srv/work/a"} -> deny by night\n')
    assert not errors(made)


def test_a_later_given_replaces_an_earlier_one(tmp_path: Path) -> None:
    made = built(
        tmp_path,
        f"""\
test "t"
{NOON}  file_read {{path: "/srv/work/a"}} -> allow
  given now = "2026-06-03T02:00:00Z"
  file_read {{path: "/srv/work/a"}} -> deny by night
""",
    )
    assert not errors(made)


def test_what_is_given_ends_with_its_test(tmp_path: Path) -> None:
    made = built(
        tmp_path,
        f"""\
test "one"
{NOON}  file_read {{path: "/srv/work/a"}} -> allow
test "two"
  file_read {{path: "/srv/work/a"}} -> deny by night
""",
    )
    assert not errors(made)


@pytest.mark.parametrize(
    ("becoming", "passes"),
    [
        ('{command: "ls", timeout: 60}', True),
        ('{command: "ls", timeout: 60.0}', True),
        ('{command: "ls", timeout: 90}', False),
        ('{command: "ls"}', False),
    ],
)
def test_the_rewritten_input_is_compared_whole(tmp_path: Path, becoming: str, passes: bool) -> None:
    made = built(
        tmp_path,
        f'test "t"\n  bash_exec {{command: "ls", timeout: 90}} -> allow becoming {becoming}\n',
    )
    said = "this test fails: the call becomes another one"
    assert [e.message for e in errors(made)] == ([] if passes else [said])


@pytest.mark.parametrize(
    ("line", "help"),
    [
        ('given agent.nam = "x"', "did you mean `agent.name`?"),
        ('given user.group = ["x"]', "did you mean `user.groups`?"),
        ('given workspce = "/srv"', "did you mean `workspace`?"),
        ('given tool.category = "x"', "it can set "),
        ("given now = 3", "write a string"),
        ('given now = "noon"', "write a time such as"),
        ('given workspace = "srv"', "write an absolute path"),
        ("given user.groups = [1]", "write a list of strings"),
        ('given session.scope = {tools: ["a"]}', "write a value like"),
    ],
)
def test_what_cannot_be_given_is_said_at_its_place(tmp_path: Path, line: str, help: str) -> None:
    case = '  file_read {path: "/etc/passwd"} -> deny\n'
    made = built(tmp_path, f'test "t"\n  {line}\n{case}')
    (error,) = errors(made)
    assert error.code == "unknown-fact"
    assert error.span is not None
    assert error.span.line == 12
    assert error.help.startswith(help)


def test_facts_of_every_kind_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "placet.toml").write_text('[context]\nflight = "object"\n')
    made = built(
        tmp_path,
        """\
test "t"
  given agent.name = "a", session.id = "s", user.id = "u", home = "/home/u", cwd = "/srv/work"
  given agent.parent = "p", context.flight.cabin = "economy", context.flight.seats = 2
  file_read {path: "~/x"} -> allow
  file_read {path: "a"} -> allow
""",
        """\
policy for every agent
default allow
a: deny file_read unless agent.name in ["a", "p"] and session.id == "s" and user.id == "u"
c: deny file_read unless context.flight.cabin == "economy" and context.flight.seats == 2
r: deny file_read unless reads only ["/home/u/**", "/srv/work/**"]
""",
    )
    assert not errors(made), made.diagnostics


def test_agents_above_the_caller_are_given_in_any_order(tmp_path: Path) -> None:
    made = built(
        tmp_path,
        """\
test "t"
  given agent.depth = 3, agent.parent = "p", agent.name = "a"
  file_read {path: "a"} -> allow
  given agent.parent = "q"
  file_read {path: "a"} -> deny by p
  given agent.parent = "p", agent.depth = 2
  file_read {path: "a"} -> deny by d
  given agent.depth = 0
  file_read {path: "a"} -> deny by d
""",
        """\
policy for every agent
default allow
d: deny file_read when agent.name == "a" and agent.depth != 3
p: deny file_read when agent.name != "a" and agent.name != "p"
""",
    )
    assert not errors(made), made.diagnostics


@pytest.mark.parametrize("depth", ["-1", "101", "1.5", "true", '"2"'])
def test_a_depth_is_a_small_whole_number(tmp_path: Path, depth: str) -> None:
    made = built(
        tmp_path, f'test "t"\n  given agent.depth = {depth}\n  file_read {{path: "a"}} -> deny\n'
    )
    assert "a whole number from 0 to 100" in "".join(map(str, errors(made)))


def test_a_guest_is_tested_with_a_scope(tmp_path: Path) -> None:
    made = built(
        tmp_path,
        """\
test "t"
  given session.role = "guest", now = "2026-01-01T00:00:00Z"
  file_read {path: "/a"} -> deny by scope
  given session.scope = {allowed_tools: ["file_*"], expires_at: "2026-01-02T00:00:00Z"}
  file_read {path: "/a"} -> allow
  given now = "2026-01-02T00:00:00Z"
  file_read {path: "/a"} -> deny by scope
""",
        "policy for every agent\ndefault allow\n",
    )
    assert not errors(made), made.diagnostics


def test_a_mistyped_tool_proves_nothing(tmp_path: Path) -> None:
    made = built(tmp_path, 'test "t"\n  file_raed {path: "/etc/passwd"} -> deny\n')
    (error,) = made.diagnostics
    assert error.code == "unknown-tool"
    assert error.help == "did you mean `file_read`?"


def test_a_call_that_is_none_can_be_tested(tmp_path: Path) -> None:
    made = built(
        tmp_path,
        'test "t"\n  nothing {} -> deny by schema\n  file_read {pth: "/a"} -> deny by schema\n',
    )
    assert not errors(made)


def test_a_server_tool_is_found_by_its_origin(tmp_path: Path) -> None:
    (tmp_path / "github.json").write_text(
        '{"tools": [{"name": "get_issue", "inputSchema": {"type": "object"}}]}'
    )
    (tmp_path / "placet.toml").write_text('[catalogue.servers]\ngithub = "github.json"\n')
    made = built(
        tmp_path,
        'test "t"\n  mcp github/get_issue {} -> allow by gh\n',
        "policy for every agent\ndefault deny\ngh: allow mcp github/get_*\n",
    )
    assert not errors(made), made.diagnostics


def test_a_packs_tests_run_over_its_own_rules_alone(tmp_path: Path) -> None:
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs/p.policy").write_text(
        """\
pack "p"
param below: path
keys: deny * when reads "${below}/**"
test "t"
  given below = "/keys"
  file_read {path: "/keys/a"} -> deny by keys
  file_read {path: "/other"} -> allow
  given below = "/other"
  file_read {path: "/other"} -> deny by keys
"""
    )
    made = built(
        tmp_path,
        'test "u"\n  file_read {path: "/k/a"} -> deny by p.keys\n',
        'policy for every agent\nuse "packs/p.policy" with below = "/k"\ndefault deny\n',
    )
    assert not errors(made), made.diagnostics
    assert made.generation is not None
    assert len(made.generation.examples) == 4


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)


@given(JSON)
def test_a_value_is_the_same_as_itself(value: object) -> None:
    assert same_json(value, value)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (1, Decimal("1.0"), True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ("1", 1, False),
        ((1, 2), [1, 2], True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1, "b": None}, False),
    ],
)
def test_numbers_are_compared_and_kinds_are_told_apart(
    left: object, right: object, equal: bool
) -> None:
    assert same_json(left, right) is equal
    assert same_json(right, left) is equal


def test_a_deny_of_what_the_schema_refuses_passes_with_a_warning(tmp_path: Path) -> None:
    made = built(tmp_path, 'test "t"\n  file_write {path: "/etc/passwd"} -> deny\n')
    (warning,) = [d for d in made.diagnostics if d.code == "test-of-no-call"]
    assert warning.severity == "warning"
    assert made.generation is not None
    assert all(r.passed for r in made.generation.examples)


def test_a_deny_by_schema_says_what_it_tests(tmp_path: Path) -> None:
    made = built(tmp_path, 'test "t"\n  file_write {path: "/etc/passwd"} -> deny by schema\n')
    assert made.diagnostics == ()

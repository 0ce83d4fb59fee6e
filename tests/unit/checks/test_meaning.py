"""The checked form of statements: names and packs resolved, sets inlined, resources typed."""

from __future__ import annotations

import tomllib
from datetime import timedelta

import pytest

from policy.catalog import builtin_catalog
from policy.checks import LayerKey, PolicySources, check, checked
from policy.model import Source, Verdict
from policy.syntax import parse, tables_to_layers
from tests.unit.checks.checking import HEAD, all_of, codes_of, everyone, only
from tests.unit.checks.checking import checked as check_files

SECRETS = """pack "secrets"
param home: string = "~"
param also: paths = []
paths creds = "${home}/.ssh/**", also
no-credentials: deny * when reads creds
read: allow file_read
"""


def resource_test(body: str) -> checked.ResourceTest:
    test = everyone(body).rules[0].when
    assert isinstance(test, checked.ResourceTest)
    return test


def items(members: checked.ValueSet | None) -> list[object]:
    """Return all items of a set, those of sets inside it in their place."""
    assert members is not None
    found: list[object] = []
    for part in members.included:
        found.extend(items(part) if isinstance(part, checked.ValueSet) else [part])
    return found


# --- names and sets


def test_a_set_stands_in_place_of_its_name() -> None:
    test = resource_test(
        'paths a = "/a/**", b except "/a/x"\npaths b = "/b"\nr: deny * when reads a\n'
    )
    assert items(test.operand) == ["/a/**", "/b"]
    assert test.operand is not None
    assert test.operand.excluded == ("/a/x",)


def test_a_list_joins_sets_and_items() -> None:
    test = resource_test('hosts a = "a.example"\nr: deny * when connects to [a, private, "b"]\n')
    assert items(test.operand) == ["a.example", "private", "b"]


def test_anything_is_no_set_and_nothing_an_empty_one() -> None:
    assert resource_test("r: allow web_fetch when connects to anything\n").operand is None
    nothing = resource_test("r: allow list_tools when writes nothing\n").operand
    assert nothing == checked.ValueSet(kind="paths", included=())


def test_the_workspace_is_an_operand() -> None:
    test = resource_test("r: allow file_read when reads only workspace\n")
    assert items(test.operand) == [checked.WorkspaceItem()]


@pytest.mark.parametrize(
    ("operand", "kind"),
    [('"ada@a.example"', "addresses"), ('"C01"', "strings"), ("private", "hosts")],
)
def test_what_is_sent_to_is_read_as_its_items_say(operand: str, kind: str) -> None:
    members = resource_test(f"r: deny * when sends to [{operand}]\n").operand
    assert members is not None
    assert members.kind == kind


def test_a_let_is_written_out_and_keeps_its_name_in_reasons() -> None:
    (rule,) = everyone('let guest = session.role == "guest"\nr: deny * when guest\n').rules
    assert isinstance(rule.when, checked.Comparison)
    assert rule.when.text == "guest"
    assert rule.when.left == checked.Fact(path=("session", "role"))


def test_a_name_of_another_layer_is_not_seen_by_the_global_one() -> None:
    files = {
        "global.policy": HEAD + "r: deny * when reads mine\n",
        "agents/x.policy": 'policy for agent "x"\npaths mine = "/x"\n',
    }
    assert codes_of(files) == ["unknown-name"]


def test_a_layer_reads_the_names_of_the_global_one_and_cannot_change_them() -> None:
    files = {
        "global.policy": HEAD + 'paths work = "/w/**"\n',
        "agents/x.policy": 'policy for agent "x"\nr: deny * when reads work\n',
    }
    assert codes_of(files) == []
    files["agents/y.policy"] = 'policy for agent "y"\npaths work = "/**"\n'
    assert codes_of(files) == ["name-redefined"]


def test_two_layers_may_use_one_name_for_themselves() -> None:
    files = {
        "global.policy": HEAD,
        "agents/x.policy": 'policy for agent "x"\npaths mine = "/x.c"\nr: deny * when reads mine\n',
        "agents/y.policy": 'policy for agent "y"\npaths mine = "/y.c"\nq: deny * when reads mine\n',
    }
    assert codes_of(files) == []


def test_a_redefinition_points_at_both_places() -> None:
    found = only('paths a = "/a"\nhosts a = "a.example"\n')
    assert found.span is not None
    assert (found.span.line, found.labels[0].span.line) == (4, 3)


def test_a_set_from_data_that_is_empty_today_is_no_mistake() -> None:
    body = 'strings names from "d.json" at some.names\nr: deny * when session.role in names\n'
    assert codes_of({"global.policy": HEAD + body, "d.json": '{"some": {"names": []}}'}) == []


def test_dollars_can_be_written_twice_to_stand_for_themselves() -> None:
    (rule,) = everyone('r: deny bash_exec when input.command contains "$${IFS}"\n').rules
    assert isinstance(rule.when, checked.TextRelation)
    assert rule.when.right == checked.Constant(value="${IFS}")


# --- conditions


def test_not_equal_is_not_of_equal() -> None:
    (rule,) = everyone('r: deny * when session.role != "owner"\n').rules
    assert isinstance(rule.when, checked.NotOf)
    assert isinstance(rule.when.test, checked.Comparison)
    assert rule.when.test.op == "=="


def test_several_when_clauses_must_all_hold() -> None:
    (rule,) = everyone('r: deny * when user.groups == [] when session.role == "a"\n').rules
    assert isinstance(rule.when, checked.AllOf)
    assert len(rule.when.tests) == 2
    assert rule.when.text == 'user.groups == [] and session.role == "a"'


def test_variables_have_slots_of_their_own() -> None:
    (rule,) = everyone(
        "r: deny * when any g at i in user.groups: any h in user.groups: g == h and i > 0\n"
    ).rules
    outer = rule.when
    assert isinstance(outer, checked.Quantified)
    inner = outer.test
    assert isinstance(inner, checked.Quantified)
    assert rule.slots == 3
    assert len({outer.slot, outer.index_slot, inner.slot}) == 3


def test_a_let_with_a_variable_can_be_used_inside_another_ones_test() -> None:
    (rule,) = everyone(
        'let known = any x in user.groups: x == "a"\nr: deny * when any y in user.groups: known\n'
    ).rules
    assert rule.slots == 2


def test_a_window_has_minutes_and_days() -> None:
    (rule,) = everyone("r: deny * when now within 08:30..23:00 on weekdays\n").rules
    test = rule.when
    assert isinstance(test, checked.WindowTest)
    assert (test.start, test.end, test.zone, test.days) == (510, 1380, "UTC", frozenset(range(5)))


def test_a_span_is_a_length_of_time() -> None:
    (rule,) = everyone('r: deny * when now > time("2026-01-01T00:00:00Z") + 90m\n').rules
    assert isinstance(rule.when, checked.Comparison)
    assert isinstance(rule.when.right, checked.Arithmetic)
    assert rule.when.right.right == checked.Constant(value=timedelta(minutes=90))


def test_a_decimal_is_the_number_that_calls_hold() -> None:
    (rule,) = everyone("r: deny bash_exec when input.timeout > 1.50\n").rules
    assert isinstance(rule.when, checked.Comparison)
    assert rule.when.right == checked.Constant(value=1.5)


def test_a_policy_that_holds_an_object_can_be_a_key() -> None:
    policy = everyone('r: deny web_fetch when input.headers == {a: "b"}\n')
    assert {policy: 1}[everyone('r: deny web_fetch when input.headers == {a: "b"}\n')] == 1


def test_a_declared_context_fact_has_its_kind() -> None:
    body = 'r: deny * when context.tier == 3 or context.plan == "x"\n'
    assert codes_of(body, context={"tier": "number", "plan": "string"}) == []
    assert codes_of(body, context={"tier": "string", "plan": "string"}) == ["wrong-kind"]


# --- places


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ('allow file_read when reads only "/a.txt"', None),
        ('allow file_read when reads any "/a.txt" and reads anything', None),
        ('allow file_read when reads "/a.txt"', "plain-verb-permits"),
        ('allow file_read when not reads "/a.txt" and reads anything', None),
        ('allow file_read when not reads only "/a.txt"', "only-restricts"),
        ('allow file_read when reads anything unless reads "/a.txt"', None),
        ('allow file_read when input.path is present unless reads only "/a.txt"', "only-restricts"),
        ('allow file_read when reads anything unless reads outside "/a.txt"', None),
        ('allow file_read when reads outside "/a.txt"', "outside-permits"),
        ('allow file_read when not reads outside "/a.txt" and reads anything', None),
        ('deny file_read when reads "/a.txt"', None),
        ('deny file_read when reads outside "/a.txt"', None),
        ('deny file_read when reads only "/a.txt"', "only-restricts"),
        ('deny file_read when not reads only "/a.txt"', None),
        ('deny file_read unless reads "/a.txt"', "plain-verb-permits"),
        ('deny file_read unless reads only "/a.txt"', None),
        ('deny file_read when (reads "/a.txt" and user.groups == []) or reads "/b.txt"', None),
        ('deny file_read when any g in user.groups: not reads "/a.txt"', "plain-verb-permits"),
        ('rewrite bash_exec when reads "/a.txt" set input.timeout = 1', None),
        ('rewrite bash_exec unless reads "/a.txt" set input.timeout = 1', "plain-verb-permits"),
    ],
)
def test_a_verb_says_what_its_place_does_with_it(rule: str, code: str | None) -> None:
    assert codes_of(f"r: {rule}\n") == ([] if code is None else [code])


def test_the_place_of_a_test_inside_a_let_is_where_the_let_is_used() -> None:
    body = 'let secret = reads "/s/**"\n'
    assert codes_of(body + "r: deny file_read when secret\n") == []
    assert codes_of(body + "r: deny file_read unless secret\n") == ["plain-verb-permits"]


def test_a_resource_test_knows_whether_its_place_permits() -> None:
    assert resource_test('r: allow file_read when reads only "/a"\n').permits
    assert not resource_test('r: deny file_read when reads "/a"\n').permits


def test_an_allow_knows_that_it_speaks_of_resources() -> None:
    plain, speaking = everyone(
        'a: allow web_fetch\nb: allow file_read when reads only "/a"\n'
    ).rules
    assert not plain.speaks_of_resources
    assert speaking.speaks_of_resources


# --- packs


def use(statement: str, pack: str = SECRETS) -> dict[str, str]:
    return {"global.policy": HEAD + statement, "packs/secrets.policy": pack}


def test_the_rules_of_a_pack_have_its_name_and_only_take() -> None:
    found = check_files(use('use "packs/secrets.policy" with home = "/root"\n'))
    (policy,) = found.policies
    assert [rule.id for rule in policy.rules] == ["secrets.no-credentials"]
    assert [d.code for d in found.diagnostics] == ["not-granted"]
    test = policy.rules[0].when
    assert isinstance(test, checked.ResourceTest)
    assert items(test.operand) == ["/root/.ssh/**"]


def test_a_pack_gives_where_it_is_granted() -> None:
    found = check_files(use('use "packs/secrets.policy" as s granting\n'))
    assert [rule.id for rule in found.policies[0].rules] == ["s.no-credentials", "s.read"]
    assert found.diagnostics == ()


def test_a_pack_inside_a_pack_that_is_not_granted_gives_nothing() -> None:
    files = {
        "global.policy": HEAD + 'use "packs/outer.policy"\n',
        "packs/outer.policy": 'pack "outer"\nuse "packs/secrets.policy" granting\n',
        "packs/secrets.policy": SECRETS,
    }
    found = check_files(files)
    assert [rule.id for rule in found.policies[0].rules] == ["outer.secrets.no-credentials"]


def test_a_pack_used_twice_needs_two_names() -> None:
    twice = 'use "packs/secrets.policy" as a granting\nuse "packs/secrets.policy" as b granting\n'
    assert codes_of(use(twice)) == ["redundant-allow"]
    assert codes_of(use(twice.replace("as b", "as a"))) == ["name-redefined"]


def test_a_name_of_a_pack_is_read_through_its_alias() -> None:
    body = 'use "packs/secrets.policy" as s granting\nr: deny * when writes s.creds\n'
    assert codes_of(use(body)) == []
    assert codes_of(use(body.replace("s.creds", "creds"))) == ["unknown-name"]


def test_a_pack_does_not_see_the_names_of_its_user() -> None:
    pack = 'pack "secrets"\nr: deny * when reads mine\n'
    body = 'paths mine = "/m"\nuse "packs/secrets.policy"\n'
    assert codes_of(use(body, pack)) == ["unknown-name"]


def test_a_shipped_pack_is_used_by_its_name() -> None:
    shipped = {"placet:secrets": parse(Source(name="placet:secrets", text=SECRETS)).tree}
    assert codes_of('use "placet:secrets" granting\n', shipped=shipped) == []
    assert codes_of('use "placet:secret" granting\n', shipped=shipped) == ["unknown-pack"]


def test_a_set_is_a_parameter() -> None:
    body = 'paths more = "/more/**"\nuse "packs/secrets.policy" with also = [more, "/x"] granting\n'
    found = check_files(use(body))
    test = found.policies[0].rules[0].when
    assert isinstance(test, checked.ResourceTest)
    assert items(test.operand) == ["~/.ssh/**", "/more/**", "/x"]


def test_tools_are_a_parameter() -> None:
    pack = 'pack "secrets"\nparam pay: tools\nbig: deny pay\n'
    body = 'tools spend = bash_exec\nuse "packs/secrets.policy" with pay = [spend, "web_fetch"]\n'
    (rule,) = check_files(use(body, pack)).policies[0].rules
    assert rule.tools.exact_names() == frozenset({"bash_exec", "web_fetch"})


def test_an_unused_pack_is_checked() -> None:
    assert codes_of(use("", 'pack "p"\nr: deny file_read when foo\n')) == ["unknown-name"]


def test_a_packs_tests_run_over_a_base_for_each_set_of_parameters() -> None:
    tests = """test "t"
  given home = "/a"
  file_read {path: "/a/.ssh/x"} -> deny by no-credentials
  given home = "/b", session.role = "owner"
  file_read {path: "/b/.ssh/x"} -> deny by no-credentials
test "u"
  given home = "/a"
  file_read {path: "/a/.ssh/y"} -> deny
"""
    found = check_files(use("", SECRETS + tests))
    assert found.diagnostics == ()
    assert [len(suite.tests) for suite in found.suites] == [2, 1]
    for suite in found.suites:
        assert suite.file == "packs/secrets.policy"
        assert suite.base is not None
        (base,) = suite.base
        assert [d.verdict for d in base.defaults] == [Verdict.ALLOW]
        assert base.rules[0].id == "no-credentials"


def test_a_packs_test_must_give_what_the_pack_needs() -> None:
    pack = 'pack "p"\nparam a: hosts\ntest "t"\n  file_read {path: "x"} -> allow\n'
    assert codes_of(use("", pack)) == ["missing-param"]


# --- layers and tables


def test_headers_are_compared_after_they_are_made_alike() -> None:
    files = {
        "global.policy": HEAD,
        "agents/x.policy": 'policy for agents "b", "a", "b"\n',
        "agents/y.policy": 'policy for agents "a", "b"\n',
        "agents/z.policy": 'policy for agents "a"\n',
        "agents/w.policy": 'policy for agent "a"\n',
        "agents/v.policy": 'policy for agent "a*"\n',
    }
    assert [p.key for p in check_files(files).policies] == [
        LayerKey(kind="every"),
        LayerKey(kind="agent", names=("a",)),
        LayerKey(kind="agent", names=("a*",)),
        LayerKey(kind="agents", names=("a", "b")),
    ]


def test_a_folder_binds_whom_the_configuration_says() -> None:
    files = {"global.policy": HEAD, "teams/x.policy": 'policy for role "guest"\n'}
    assert codes_of(files, binders={"teams": ("agent",)}) == ["folder-may-not-bind"]
    assert codes_of(files, binders={"teams": ("agent", "role")}) == []


def tables(text: str) -> tuple[list[str], list[str]]:
    source = Source(name="placet.toml", text=text)
    rules = tables_to_layers(tomllib.loads(text), source=source)
    sources = PolicySources(tables=tuple((b, s, source) for b, s in rules.layers))
    found = check(sources, builtin_catalog())
    rules_of = [rule for policy in found.policies for rule in policy.rules]
    return (
        [f"{rule.id} {sorted(rule.tools.exact_names() or ())}" for rule in rules_of],
        [d.code for d in found.diagnostics],
    )


def test_a_table_key_is_a_tool_an_alias_or_a_category() -> None:
    rules, said = tables(
        '[permissions.tools]\ndefault = "deny"\nbash = "ask"\nweb_fetch = "allow"\n'
    )
    assert rules == ["table:bash ['bash_exec']", "table:web_fetch ['web_fetch']"]
    assert said == []


def test_a_table_key_that_names_nothing_is_a_warning() -> None:
    assert tables('[permissions.tools]\ndefault = "deny"\nfile_raed = "deny"\n')[1] == [
        "unknown-tool"
    ]


# --- what is not known


def test_an_unknown_tool_is_an_error_where_a_near_one_is_known() -> None:
    near = only("r: deny file_raed\n")
    assert (near.severity, near.help) == ("error", "did you mean `file_read`?")
    far = only("r: deny make_coffee\n")
    assert far.severity == "warning"


def test_a_set_of_tools_is_suggested_too() -> None:
    found = only("tools reading = file_read\nr: deny raeding\n")
    assert (found.severity, found.help) == ("error", "did you mean `reading`?")


def test_the_tools_of_a_server_may_come_later() -> None:
    assert only("r: deny mcp github/*\n").severity == "warning"


def test_a_field_is_suggested() -> None:
    assert only('r: deny web_fetch when input.methd == "GET"\n').help == "did you mean `method`?"


def test_every_mistake_of_a_policy_is_said_at_once() -> None:
    body = "a: deny file_raed\nb: deny file_read when foo\nc: deny * when reads only bar\n"
    assert sorted(codes_of(body)) == [
        "only-restricts",
        "unknown-name",
        "unknown-name",
        "unknown-tool",
    ]


@pytest.mark.parametrize("word", ["let", "paths", "tools"])
def test_names_nested_too_deeply_are_refused(word: str) -> None:
    first = {"let": "3", "paths": '"/x"', "tools": "file_read"}[word]
    chain = [f"{word} n0 = {first}", *(f"{word} n{i} = n{i - 1}" for i in range(1, 2_000))]
    # Read from either end: the deepest first, and each after what it needs.
    for order in (chain, chain[::-1]):
        assert set(codes_of("\n".join(order) + "\n")) <= {"too-deep", "wrong-kind"}


@pytest.mark.parametrize("word", ["paths", "tools"])
def test_sets_that_double_are_refused_before_they_are_large(word: str) -> None:
    first = {"paths": '"/x"', "tools": "file_read"}[word]
    chain = [f"{word} n0 = {first}", *(f"{word} n{i} = n{i - 1}, n{i - 1}" for i in range(1, 39))]
    assert set(codes_of("\n".join(chain) + "\n")) == {"too-deep"}


def test_a_policy_without_files_has_no_default() -> None:
    assert [d.code for d in all_of({})] == ["missing-default"]

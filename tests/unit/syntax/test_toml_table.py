"""The permission tables of the configuration give the same rules as files do."""

from __future__ import annotations

import tomllib

from policy.model import Source, Verdict
from policy.syntax import TableRules, tables_to_layers
from policy.syntax import tree as t


def read(text: str) -> TableRules:
    return tables_to_layers(tomllib.loads(text), source=Source(name="placet.toml", text=text))


def test_each_key_is_a_rule_of_its_layer() -> None:
    rules = read(
        '[permissions.tools]\ndefault = "deny"\ncode_exec = "ask"\n"memory_*" = "allow"\n'
        '[permissions.agents."research-*".tools]\nbash = "deny"\n"mcp github/*" = "allow"\n'
    )
    assert rules.diagnostics == ()
    (everyone, all_rules), (research, its_rules) = rules.layers
    assert everyone == t.EveryAgent(span=everyone.span)
    assert research == t.Agents(patterns=("research-*",), plural=True, span=research.span)
    default, ask, allow = all_rules
    assert isinstance(default, t.Default)
    assert default.verdict is Verdict.DENY
    assert isinstance(ask, t.Rule)
    assert isinstance(allow, t.Rule)
    assert (ask.name, ask.verdict) == ("table:code_exec", Verdict.ALLOW)
    assert isinstance(ask.clauses[0], t.WithApproval)
    assert (allow.name, allow.clauses) == ("table:memory_*", ())
    assert [rule.span.line for rule in (*all_rules, *its_rules)] == [2, 3, 4, 6, 7]
    assert isinstance(its_rules[1], t.Rule)
    assert its_rules[1].tools.included[0].origin == "mcp"


def test_the_older_table_is_read_too() -> None:
    rules = read(
        '[policies.tool_permissions]\ndefault = "ask"\n'
        '[policies.tool_permissions.overrides]\n"file_*" = "deny"\n'
    )
    ((_, (default, override)),) = rules.layers
    assert isinstance(default, t.Default)
    assert isinstance(override, t.Rule)
    assert (override.name, override.span.line) == ("table:file_*", 4)


def test_what_is_no_verdict_is_told_at_its_line() -> None:
    rules = read('[permissions.tools]\na = "Deny"\nb = true\nc = ["ask"]\nd = "allow"\n')
    assert [d.span.line for d in rules.diagnostics if d.span] == [2, 3, 4]
    assert {d.code for d in rules.diagnostics} == {"table-value"}
    assert 'did you mean "deny"?' in rules.diagnostics[0].help
    assert [rule.span.line for rule in rules.layers[0][1]] == [5]


def test_what_is_no_table_is_told() -> None:
    (found,) = read('permissions = "none"\n').diagnostics
    assert found.code == "table-value"
    assert read("").layers == ()

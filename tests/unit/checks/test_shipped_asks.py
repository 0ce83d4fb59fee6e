"""What the coding pack asks about is allowed by it, so that an answer lets the call pass."""

from __future__ import annotations

from pathlib import Path

from policy.catalog import builtin_catalog
from policy.checks import PolicySources, check
from policy.checks.satisfiability.disjoint import unreached_commands
from policy.generation import shipped_profiles
from policy.model import Source, Verdict
from policy.syntax import parse

_PACK = Path(__file__).parents[3] / "rules" / "packs" / "coding.policy"
_TEXT = 'policy for every agent\n\ndefault deny\nuse "placet:coding" granting\n'


def test_an_allow_covers_each_command_that_the_coding_pack_asks_about() -> None:
    pack = Source(name="placet:coding", text=_PACK.read_text(encoding="utf-8"))
    profiles = shipped_profiles()
    sources = PolicySources(
        files=(parse(Source(name="global.policy", text=_TEXT)).tree,),
        shipped={"placet:coding": parse(pack).tree},
        profiles=profiles,
    )
    (everyone,) = check(sources, builtin_catalog()).policies
    commands = [rule for rule in everyone.rules if "bash_exec" in (rule.tools.exact_names() or ())]
    allows = [rule for rule in commands if rule.verdict is Verdict.ALLOW]
    asks = [rule for rule in commands if rule.verdict is Verdict.ASK]
    assert len(asks) > 5
    assert {rule.id: unreached_commands(rule, allows, profiles) for rule in asks} == {
        rule.id: () for rule in asks
    }

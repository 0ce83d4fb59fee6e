"""Claims at a load and at a reload: what is not proved does not take effect."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy
from policy.model import ToolCall
from tests.unit.cli.running import run

RULES = """\
policy for every agent

default deny
read: allow file_read when reads only "/srv/**"
private: deny * when reads "/srv/payroll/**"
prove always deny * when reads "/srv/payroll/**"
"""
BROKEN = RULES.replace('private: deny * when reads "/srv/payroll/**"\n', "")
CALL = ToolCall(tool="file_read", input={"path": "/srv/payroll/a"})


def _folder(tmp_path: Path, text: str, settings: str = "") -> Path:
    (tmp_path / "global.policy").write_text(text)
    (tmp_path / "placet.toml").write_text(settings)
    return tmp_path


def _codes(folder: Path) -> dict[str, str]:
    with pytest.raises(policy.PolicyInvalid) as raised:
        policy.load(folder)
    return {found.code: str(found.severity) for found in raised.value.diagnostics}


def test_a_policy_that_breaks_its_claim_does_not_load(tmp_path: Path) -> None:
    policy.load(_folder(tmp_path, RULES))
    assert _codes(_folder(tmp_path, BROKEN)) == {"invariant-broken": "error"}


def test_an_edit_that_breaks_a_claim_leaves_the_last_good_rules_in_force(tmp_path: Path) -> None:
    store = policy.PolicyStore(_folder(tmp_path, RULES))
    (tmp_path / "global.policy").write_text(BROKEN)
    store.reload()
    assert [found.code for found in store.status.diagnostics] == ["invariant-broken"]
    in_force = store.current
    assert in_force is not None
    assert str(in_force.decide(CALL).verdict) == "deny"
    (tmp_path / "global.policy").write_text(RULES)
    store.reload()
    assert store.status.diagnostics == ()


@pytest.mark.parametrize(
    ("rule", "codes"),
    [
        ('reads only "/srv/**"', {"invariant-broken": "error"}),
        ('connects only to "a.example"', {"invariant-broken": "error"}),
        ('reads only "/srv/**" and input.server == "a"', {"invariant-broken": "error"}),
        ("reads nothing and connects to nothing", {"invariant-undecided": "error"}),
    ],
)
def test_a_uri_is_a_file_or_a_host_and_not_both(
    tmp_path: Path, rule: str, codes: dict[str, str]
) -> None:
    text = f"policy for every agent\n\ndefault deny\nr: allow mcp_read_resource when {rule}\n"
    assert _codes(_folder(tmp_path, f"{text}prove never allow mcp_read_resource\n")) == codes


@pytest.mark.parametrize(("mode", "codes"), [("warn", ["invariant-broken"]), ("off", [])])
def test_the_configuration_may_warn_or_prove_nothing(
    tmp_path: Path, mode: str, codes: list[str]
) -> None:
    folder = _folder(tmp_path, BROKEN, f'[reload]\nproofs = "{mode}"\n')
    found = policy.load(folder)
    assert [warning.code for warning in found.warnings] == codes
    assert str(found.decide(CALL).verdict) == "allow"
    # The command proves whatever the configuration says.
    assert run("prove", folder).code == 1


@pytest.mark.parametrize("kind", ["prove", "assume"])
def test_only_an_assumption_may_be_undecided(tmp_path: Path, kind: str) -> None:
    claim = f"{kind} never allow file_read when input.path matches /[0-9]{{9}}/\n"
    folder = _folder(tmp_path, RULES + claim)
    if kind == "prove":
        assert _codes(folder) == {"invariant-undecided": "error"}
    else:
        assert [found.code for found in policy.load(folder).warnings] == ["assumption-undecided"]


def test_a_claim_that_no_call_meets_is_a_warning(tmp_path: Path) -> None:
    claim = "prove never allow file_read when input.path is absent\n"
    found = policy.load(_folder(tmp_path, RULES + claim))
    assert [warning.code for warning in found.warnings] == ["invariant-about-nothing"]


def test_a_claim_of_one_agent_is_about_that_agent(tmp_path: Path) -> None:
    folder = _folder(tmp_path, BROKEN.split("prove")[0])
    (tmp_path / "agents").mkdir()
    layer = tmp_path / "agents" / "clerk.policy"
    claim = 'prove always deny * when reads "/srv/payroll/**"\n'
    layer.write_text(
        f'policy for agent "clerk"\nno-pay: deny * when reads "/srv/payroll/**"\n{claim}'
    )
    policy.load(folder)
    layer.write_text(f'policy for agent "clerk"\n{claim}')
    assert _codes(folder) == {"invariant-broken": "error"}


def test_failing_tests_are_reported_before_claims(tmp_path: Path) -> None:
    test = 'test "x"\n  file_read {path: "/srv/payroll/a"} -> deny\n'
    assert _codes(_folder(tmp_path, BROKEN + test)) == {"failed-test": "error"}

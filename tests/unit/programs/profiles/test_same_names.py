"""A pattern matches the other names of its subcommand, and no sibling of it."""

from __future__ import annotations

import pytest

from policy.generation import shipped_profiles
from policy.programs import (
    Profiles,
    ScriptAnalysis,
    analyse_script,
    matches_command,
    read_command_pattern,
)
from policy.values import Unreadable

_OWN = Profiles.of(
    {
        "tool.toml": 'names = ["tl"]\nsiblings = ["other"]\n'
        '[sub.up]\nnames = ["u"]\nsiblings = ["down|d", "show"]\noperands = "text..."\n'
    }
)


def fit(command: str, item: str, profiles: Profiles) -> bool | None:
    script = analyse_script(command, profiles)
    pattern = read_command_pattern(item, profiles)
    assert isinstance(script, ScriptAnalysis)
    assert not isinstance(pattern, Unreadable)
    return matches_command(script.commands[0], pattern)


@pytest.mark.parametrize(
    ("command", "item", "answer"),
    [
        ("tl up x", "tool up *", True),
        ("tool u x", "tool up *", True),
        ("tool d x", "tool down *", True),
        ("tool down x", "tool up *", False),
        ("tool up x", "tool show *", False),
        ("other up x", "tool up *", False),
        ("other u x", "other up *", True),
        ("tool show x", "tool *", True),
    ],
)
def test_a_pattern_fits_other_names_and_no_sibling(
    command: str, item: str, answer: bool | None
) -> None:
    assert fit(command, item, _OWN) is answer


@pytest.mark.parametrize(
    ("command", "item"),
    [
        ("gh pr merge 1", "gh pr create *"),
        ("kubectl delete pod x", "kubectl get *"),
        ("kubectl delete pod x", "kubectl apply *"),
        ("docker rm x", "docker start *"),
        ("terraform destroy", "terraform plan *"),
        ("npm start", "npm test *"),
        ("az login", "gcloud *"),
    ],
)
def test_no_shipped_profile_takes_one_subcommand_for_another(command: str, item: str) -> None:
    assert fit(command, item, shipped_profiles()) is False

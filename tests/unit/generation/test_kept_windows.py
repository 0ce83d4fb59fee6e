"""A window longer than calls are kept keeps a policy from being in force, also after an edit."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy

RULES = """\
policy for every agent

default allow
label spam on results of web_fetch when result.spam == true
late: deny file_write after spam within 7d
other: deny file_delete when writes "/etc/**"
"""


def _kept_for(folder: Path, retention: str) -> Path:
    (folder / "placet.toml").write_text(f'[history]\nretention = "{retention}"\n')
    return folder


def test_an_edit_of_the_retention_alone_is_checked_against_rules_that_were_checked_before(
    tmp_path: Path,
) -> None:
    (tmp_path / "global.policy").write_text(RULES)
    store = policy.PolicyStore(_kept_for(tmp_path, "7d"))
    in_force = store.current
    _kept_for(tmp_path, "6d")
    assert [found.code for found in store.reload().diagnostics] == ["window-beyond-retention"]
    assert store.current is in_force
    _kept_for(tmp_path, "1w")
    assert store.reload().diagnostics == ()


def test_the_help_names_what_would_be_enough(tmp_path: Path) -> None:
    (tmp_path / "global.policy").write_text(RULES.replace("7d", "90m"))
    with pytest.raises(policy.PolicyInvalid) as raised:
        policy.load(_kept_for(tmp_path, "1h"))
    (found,) = raised.value.diagnostics
    assert found.message == "this reaches back 90m, and earlier calls are kept for 1h"
    assert '[history] retention` in `placet.toml` to "2h" or more' in found.help

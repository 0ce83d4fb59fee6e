"""A name after `after` that is neither a tool nor a label."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.generation import read_policy

RULES = """policy for every agent

default allow
label untrusted on results of web_fetch
a: deny file_read after {name}
"""


@pytest.mark.parametrize(
    ("name", "complete", "found"),
    [
        ("note", False, "warning[unknown-tool]"),
        ("note", True, "error[unknown-label]"),
        ("file_raed", True, "error[unknown-tool]"),
        ("note*", True, "error[unknown-tool]"),
        ("untrustd", False, "error[unknown-label]"),
    ],
)
def test_a_name_is_an_error_where_no_tool_can_have_it(
    name: str, complete: bool, found: str, tmp_path: Path
) -> None:
    (tmp_path / "a.policy").write_text(RULES.format(name=name))
    if complete:
        (tmp_path / "placet.toml").write_text("[catalogue]\ncomplete = true\n")
    one = next(iter(read_policy(tmp_path).diagnostics))
    assert f"{one.severity}[{one.code}]" == found

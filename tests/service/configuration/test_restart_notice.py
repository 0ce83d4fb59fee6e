"""What is said of edits of `[service]`, which a service reads when it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy import PolicyStore
from policy.service import build_tool_service

CODE = '[service.code]\nlanguages = ["python"]\n'
PYTHON = '[service.python]\nenabled = true\nindex = "https://a.example/"\nhosts = ["a.example"]\n'


def test_an_edit_that_waits_for_a_restart_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table, rules = tmp_path / "placet.toml", tmp_path / "a.policy"
    rules.write_text("policy for every agent\n\ndefault deny\n")
    table.write_text(CODE + PYTHON)
    store = PolicyStore(tmp_path)
    build_tool_service(store, workspace="/tmp")
    edits = (
        (CODE + PYTHON.replace('["a.example"]', '["a.example", "b.example"]'), None),
        (PYTHON, "[service.code] languages"),
        (
            "[service.bash]\ntimeout = 9\n",
            "[service.bash] timeout, [service.code] languages, [service.python] enabled, "
            "[service.python] index",
        ),
        (CODE + PYTHON, None),
    )
    for text, said in edits:
        caplog.clear()
        table.write_text(text)
        assert store.reload().changed
        found = [each for each in caplog.messages if "restarted" in each]
        expected = f"an edit waits until this service is restarted: {said}"
        assert found == ([] if said is None else [expected])
    caplog.clear()
    rules.write_text("policy for every agent\n\ndefault allow\n")
    assert store.reload().changed
    assert not any("restarted" in each for each in caplog.messages)

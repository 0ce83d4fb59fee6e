"""Tests in rule files that call tools of plugins, which are known once these run."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.model import ToolError
from tests.service.plugins.running_plugins import program, running, table

CODE = "def call(tool, input): return 1"
POLICY = """\
policy for every agent

default deny
own: allow ext hostile/t

test "plugin"
  ext__hostile__t {{}} -> {}
"""


async def test_a_case_is_tested_when_its_plugin_starts(tmp_path: Path) -> None:
    tables = table(program(tmp_path, CODE))
    async with running(tmp_path, tables, policy=POLICY.format("allow by own")) as on:
        assert await on.call("ext__hostile__t") == 1
        assert on.store.current is not None
        (result,) = on.store.current.examples
        assert result.tested


async def test_a_plugin_with_which_a_test_fails_does_not_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tables = table(program(tmp_path, CODE))
    async with running(tmp_path, tables, policy=POLICY.format("deny")) as on:
        with pytest.raises(ToolError):
            await on.call("ext__hostile__t")
        assert "this test fails" in on.plugins.report()["hostile"].problem
        assert on.store.current is not None
        (result,) = on.store.current.examples
        assert (result.tested, result.passed) == (False, True)

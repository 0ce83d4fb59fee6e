"""What `placet init` writes holds for the code of commands, not for their words alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy import Execution, PolicyStore
from policy.service import GovernedService, build_tool_service
from tests.unit.cli.running import run
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock


@pytest.fixture
def service(tmp_path: Path) -> GovernedService:
    """A service by the rules for coding agents, with a workspace that has a secret."""
    rules, work = tmp_path / "rules", tmp_path / "work"
    assert run("init", rules).code == 0
    work.mkdir()
    (work / ".env").write_text("hush")
    (work / "Makefile").write_text("test:\n\t@cat .env || echo done\n")
    return build_tool_service(PolicyStore(rules), workspace=work)


@needs_bubblewrap
async def test_tests_run_and_find_no_secret(service: GovernedService) -> None:
    found = (await service.execute("bash_exec", {"command": "make test"})).value
    assert found["stdout"] == "done\n"


@needs_landlock
async def test_landlock_hides_files_and_for_a_folder_says_what_to_do(
    service: GovernedService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    found = (await service.execute("bash_exec", {"command": "make test"})).value
    assert found["stdout"] == "done\n"
    (tmp_path / "work" / ".env").unlink()
    (tmp_path / "work" / ".env").mkdir()
    said = r"hide .*/\.env .*: it is a folder; a person .* `bubblewrap`"
    with pytest.raises(Execution, match=said) as refused:
        await service.execute("bash_exec", {"command": "make test"})
    assert refused.value.code == "sandbox-missing"

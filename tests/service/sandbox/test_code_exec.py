"""`code_exec`: programs of the configured languages, in a sandbox or not at all."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from policy import Execution, PolicyStore, Timeout, ValidationFailed
from policy.service import GovernedService, build_tool_service
from tests.unit.cli.running import run
from tests.unit.sandbox.confining import needs_bubblewrap

POLICY = "policy for every agent\n\ndefault deny\n\nallow code_exec when call.unseen\n"
CODE = '[service.code]\nlanguages = ["python", "perl", "javascript", "ruby"]\n'
CONFINED = CODE + '[sandbox]\ndriver = "bubblewrap"\n'
HELLO = {
    "python": ("python3", "print('hello')"),
    "perl": ("perl", 'print "hello\\n";'),
    "javascript": ("node", "console.log('hello')"),
    "ruby": ("ruby", "puts 'hello'"),
}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "global.policy").write_text(POLICY)
    return folder


def service_of(rules: Path, settings: str) -> GovernedService:
    (rules / "placet.toml").write_text(settings)
    workspace = rules.parent / "work"
    workspace.mkdir(exist_ok=True)
    return build_tool_service(PolicyStore(rules), workspace=workspace)


async def run_code(service: GovernedService, code: str, **more: Any) -> Any:
    input = {"language": "python", "code": code, **more}
    return (await service.execute("code_exec", input)).value


@needs_bubblewrap
@pytest.mark.parametrize("language", HELLO)
async def test_a_program_prints_into_the_result(rules: Path, language: str) -> None:
    program, code = HELLO[language]
    ran = run_code(service_of(rules, CONFINED), code, language=language)
    if shutil.which(program) is None:
        with pytest.raises(Execution, match=f"`{program}` is not installed"):
            await ran
    else:
        expected = {"exit_code": 0, "stdout": "hello\n", "stderr": "", "truncated": False}
        assert await ran == expected


@needs_bubblewrap
async def test_a_program_is_confined_to_the_workspace(rules: Path) -> None:
    (rules.parent / "secret").write_text("hush")
    code = "open('made', 'w').write('x'); print(open('../secret').read())"
    done = await run_code(service_of(rules, CONFINED), code)
    assert done["exit_code"] == 1
    assert "FileNotFoundError" in done["stderr"]
    assert (rules.parent / "work" / "made").read_text() == "x"


async def test_without_a_sandbox_no_program_runs(rules: Path) -> None:
    service = service_of(rules, CODE + '[sandbox]\ndriver = "off"\n')
    with pytest.raises(Execution) as refused:
        await run_code(service, "open('made', 'w')")
    assert refused.value.code == "sandbox-missing"
    assert not (rules.parent / "work" / "made").exists()
    settings = CODE + '[sandbox]\ndriver = "off"\nrequired = false\n'
    assert (await run_code(service_of(rules, settings), "print(1)"))["stdout"] == "1\n"


@needs_bubblewrap
async def test_a_program_has_bounds(rules: Path) -> None:
    service = service_of(rules, CONFINED + "[service.bash]\noutput = 100\n")
    done = await run_code(service, "print('x' * 1000)")
    assert (len(done["stdout"]), done["truncated"]) == (100, True)
    with pytest.raises(Timeout, match="longer than 1 seconds"):
        await run_code(service, "while True: pass", timeout=1)
    with pytest.raises(Execution, match="at most 1,000,000 characters"):
        await run_code(service, "#" * 1_000_001)
    assert (await run_code(service, "#" * 900_000))["exit_code"] == 0


async def test_only_configured_languages_are_taken(rules: Path) -> None:
    service = service_of(rules, '[service.code]\nlanguages = ["perl"]\n')
    with pytest.raises(ValidationFailed, match="language"):
        await run_code(service, "print(1)")


def test_check_knows_the_tool_where_it_is_configured(rules: Path) -> None:
    (rules / "placet.toml").write_text(CODE)
    assert run("check", str(rules)).code == 0
    (rules / "global.policy").write_text(POLICY.replace("call.unseen", 'input.langage == "x"'))
    assert "no field `input.langage`" in run("check", str(rules)).out
    (rules / "placet.toml").write_text('[service.code]\nlanguages = ["cobol"]\n')
    assert "languages" in run("check", str(rules)).out

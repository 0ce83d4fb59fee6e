"""Rules bound what the code of `bash_exec` touches, in a real sandbox."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from policy import Execution, PermissionDenied, PolicyStore
from policy.audit import JsonlSink
from policy.evaluation import Floor
from policy.generation import SandboxSettings
from policy.model import Bound, Confinement, NamedResources, ResourceSet
from policy.processes import ProgramToStart
from policy.sandbox import SandboxMissing
from policy.service import GovernedService, build_tool_service
from policy.service.program_launcher import InForce, ProgramLauncher
from tests.unit.sandbox.confining import needs_bubblewrap

POLICY = """\
policy for every agent

default deny
build: allow bash_exec when runs only "make *" and reads only workspace and writes only "out/**"
no-keys: deny * when reads "keys/**"
no-env: deny * when reads "**/.env"
"""
MAKEFILE = """\
all:
\t-cat ../data/d
\t-cat keys/k
\t-cat sub/deep/.env
\t-chmod 600 sub/deep/.env && cat sub/deep/.env
\t-mv sub moved && cat moved/deep/.env
\t-cat open
\t-echo x > src
\t-echo y > out/made
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    for folder in ("rules", "work/out", "work/keys", "work/sub/deep", "data"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "data" / "d").write_text("of data\n")
    (tmp_path / "work" / "keys" / "k").write_text("of keys\n")
    (tmp_path / "work" / "sub" / "deep" / ".env").write_text("of env\n")
    (tmp_path / "work" / "open").write_text("of the workspace\n")
    (tmp_path / "work" / "Makefile").write_text(MAKEFILE)
    (tmp_path / "rules" / "global.policy").write_text(POLICY, encoding="utf-8")
    return tmp_path / "rules"


def _service(rules: Path, settings: str, audit: Path | None = None) -> GovernedService:
    (rules / "placet.toml").write_text(settings, encoding="utf-8")
    sink = None if audit is None else JsonlSink(audit)
    return build_tool_service(PolicyStore(rules), workspace=rules.parent / "work", audit=sink)


async def _make(service: GovernedService) -> Any:
    return (await service.execute("bash_exec", {"command": "make"})).value


ON = '[sandbox]\ndriver = "bubblewrap"\nreads = ["../data"]\n'


@needs_bubblewrap
async def test_code_touches_what_the_rule_covers(rules: Path, tmp_path: Path) -> None:
    service = _service(rules, ON, tmp_path / "audit.jsonl")
    found = await _make(service)
    assert "of the workspace\n" in found["stdout"]
    assert "of keys" not in found["stdout"]
    assert "of env" not in found["stdout"]
    assert "of data" not in found["stdout"]
    assert (tmp_path / "work" / "out" / "made").read_text() == "y\n"
    assert not (tmp_path / "work" / "src").exists()
    records = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert records[-1]["confinement"]["relied_on"] == ["reads", "writes"]


@needs_bubblewrap
async def test_a_command_cannot_hide_the_workspace_from_later_ones_by_a_link(rules: Path) -> None:
    service = _service(rules, ON)
    work = rules.parent / "work"
    (work / "Makefile").write_text("all:\n\tln -sfn nothing out/.env; cat open\n")
    assert "of the workspace" in (await _make(service))["stdout"]
    # A link to nothing hides nothing.
    assert "of the workspace" in (await _make(service))["stdout"]
    assert not (work / "out" / "nothing").exists()
    (work / "Makefile").write_text("all:\n\tln -sfn .. out/.env; cat open\n")
    assert "of the workspace" in (await _make(service))["stdout"]
    said = rf"out/\.env, which leads over a symbolic link to {work}, .* a person has to remove"
    with pytest.raises(Execution, match=said) as refused:
        await _make(service)
    assert refused.value.code == "sandbox-missing"


@needs_bubblewrap
async def test_a_command_does_not_run_where_too_much_is_to_be_looked_through(
    rules: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said = r"more than 4 files and folders; a person has to raise `\[sandbox\] search`"
    with pytest.raises(Execution, match=said):
        await _make(_service(rules, f"{ON}search = 4\n"))
    assert "there are more than 4 files and folders; a person" in caplog.text


@pytest.mark.parametrize("settings", ["", 'reads = ["../data"]', 'driver = "off"'])
async def test_no_rule_holds_because_of_a_sandbox_that_nobody_has_named(
    rules: Path, settings: str
) -> None:
    with pytest.raises(PermissionDenied):
        await _make(_service(rules, f"[sandbox]\n{settings}\n"))


async def test_a_sandbox_that_is_not_required_enforces_nothing(rules: Path) -> None:
    with pytest.raises(PermissionDenied):
        await _make(_service(rules, f"{ON}required = false\n"))


async def test_a_call_that_relies_on_a_sandbox_does_not_start_without(tmp_path: Path) -> None:
    nothing = NamedResources(rule="r", resources=ResourceSet(included=()))
    relying = Confinement(connects=Bound(within=((nothing,),)), relied_on=("connects",))
    launcher = ProgramLauncher(
        lambda: InForce(settings=SandboxSettings(), floor=Floor()),
        workspace=str(tmp_path),
        home=str(tmp_path),
        confinement=lambda: relying,
    )
    program = ProgramToStart(arguments=("true",), env={}, folder=str(tmp_path))
    with pytest.raises(SandboxMissing, match="connects"):
        await launcher.launch(program, stdin=0, stdout=1, stderr=2)


@needs_bubblewrap
async def test_rules_are_told_which_driver_the_best_is(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (rules / "global.policy").write_text(
        'policy for every agent\ndefault deny\nallow bash_exec when sandbox.tier == "bubblewrap"\n'
    )
    best = '[sandbox]\ndriver = "best"\n'
    await _service(rules, best).execute("bash_exec", {"command": "true"})
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(rules))
    with pytest.raises(PermissionDenied):
        await _service(rules, best).execute("bash_exec", {"command": "true"})

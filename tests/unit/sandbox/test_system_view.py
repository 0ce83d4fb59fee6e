"""What rules deny of the folders that every confined program reads."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from policy.generation import Reach
from policy.model import Bound, Confinement, NamedResources, ResourceSet
from policy.sandbox import CannotConfine, SandboxPlan, exceeded_verb, plan_of
from policy.sandbox import system_view as view
from tests.unit.sandbox.confining import needs_bubblewrap, plan_in, run


def _denying(*items: str) -> Confinement:
    named = NamedResources(rule="r", resources=ResourceSet(included=items))
    return Confinement(reads=Bound(without=(named,)), relied_on=("reads",))


def _plan(work: Path, *items: str, kept: tuple[str, ...] = ()) -> SandboxPlan:
    return plan_of(
        Reach(),
        folder=str(work),
        home="/home/somebody",
        workspace=str(work),
        kept=kept,
        confinement=_denying(*items),
    )


@pytest.fixture
def opt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of `/opt`, beside one that stands for the rest."""
    for name in ("opt/vault/.env", "usr/share/.env", "work/a"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    folders = (str(tmp_path / "usr"), str(tmp_path / "opt"))
    monkeypatch.setattr(view, "SYSTEM", folders)
    monkeypatch.setattr(view, "_SEARCHED", folders[1])
    return tmp_path / "opt"


@needs_bubblewrap
def test_what_rules_deny_of_the_system_is_hidden(tmp_path: Path) -> None:
    if not os.path.islink("/etc/os-release") or not os.path.isdir("/usr/share/doc"):
        pytest.skip("this system has neither documentation nor a link among its settings")
    plan = _plan(tmp_path, "/etc/passwd", "/usr/share/doc/**", os.path.realpath("/etc/os-release"))
    done = run(plan, "cat /etc/passwd /etc/os-release; ls /usr/share/doc; ls / > done; cat done")
    assert "usr" in done.stdout.split()
    assert "root:" not in done.stdout
    assert "NAME=" not in done.stdout
    assert done.stderr.count("Permission denied") + done.stderr.count("No such file") == 3


def test_wildcards_are_looked_for_where_programs_are_added(opt: Path) -> None:
    work, usr = opt.parent / "work", opt.parent / "usr"
    assert _plan(work, "**/.env").masked == (f"{opt}/vault/.env",)
    assert _plan(work, f"{usr}/share/**/.env").masked == (f"{usr}/share/.env",)
    assert _plan(work, f"{opt}/vault/**").masked == (f"{opt}/vault",)
    assert _plan(work, "**/passwd").masked == ("/etc/passwd",)


def test_a_folder_above_listed_files_hides_all_of_them(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "/etc/**")
    assert "/etc/passwd" in plan.masked
    assert "/etc" not in plan.masked


@pytest.mark.parametrize("glob", ["/usr/**", "/usr/lib/**", "/bin/sh", "/**"])
def test_what_every_program_needs_cannot_be_hidden(tmp_path: Path, glob: str) -> None:
    with pytest.raises(CannotConfine, match="without which no program starts"):
        _plan(tmp_path, glob)


def test_what_placet_protects_is_hidden_in_the_system(opt: Path) -> None:
    policy = str(opt / "vault")
    plan = _plan(opt.parent / "work", "/nowhere", kept=(policy, f"{policy}/.env"))
    assert plan.masked == (policy,)


def test_a_server_that_sees_what_a_rule_denies_is_too_wide(tmp_path: Path) -> None:
    plan = replace(plan_in(tmp_path), writes=())
    everything = (NamedResources(rule="r", resources=ResourceSet(included=("/**",))),)
    for path, exceeded in (("/etc/passwd", "reads"), ("/nowhere/**", None)):
        denied = _denying(path)
        assert denied.reads is not None
        bound = replace(denied.reads, within=(everything,))
        assert exceeded_verb(plan, (), replace(denied, reads=bound)) == exceeded

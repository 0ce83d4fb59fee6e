"""Workspaces in the folders of the system, such as `/usr/src/app` and `/opt/app`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from policy.generation import Reach
from policy.model import Bound, Confinement, NamedResources, ResourceSet
from policy.sandbox import (
    CannotConfine,
    SandboxDriver,
    SandboxPlan,
    denial_of,
    driver_named,
    exceeded_verb,
    plan_of,
    problem_of_workspace,
)
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock, plan_in, run
from tests.unit.sandbox.plans import PLAN

DRIVERS = [
    pytest.param("bubblewrap", marks=needs_bubblewrap),
    pytest.param("landlock", marks=needs_landlock),
]


@pytest.fixture
def app() -> Iterator[Path]:
    """A folder in one of the system, with files."""
    try:
        folder = tempfile.TemporaryDirectory(dir="/usr/src")
    except OSError:
        pytest.skip("nothing can be made in /usr/src")
    with folder as name:
        work = Path(name).resolve()
        for file in ("src/a", "keys/k", ".env", "other"):
            (work / file).parent.mkdir(exist_ok=True)
            (work / file).write_text(f"of {file}\n")
        yield work


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> SandboxDriver:
    return driver_named(request.param)


def _bound(*within: str, without: tuple[str, ...] = ()) -> Bound:
    inner, outer = (
        NamedResources(rule="r", resources=ResourceSet(included=items))
        for items in (within, without)
    )
    return Bound(within=((inner,),) if within else (), without=(outer,) if without else ())


def _planned(app: Path, confinement: Confinement | None = None) -> SandboxPlan:
    return plan_of(
        Reach(),
        folder=str(app),
        home="/home/somebody",
        workspace=str(app),
        confinement=confinement,
    )


def test_it_is_read_and_written(app: Path, driver: SandboxDriver) -> None:
    done = run(_planned(app), "cat src/a; echo x > new; ls /usr/src; touch /usr/src/x", driver)
    assert done.stdout.startswith("of src/a\n")
    assert (app / "new").read_text() == "x\n"
    assert not os.path.exists("/usr/src/x")


def test_what_rules_do_not_cover_is_not_seen(app: Path, driver: SandboxDriver) -> None:
    confinement = Confinement(reads=_bound(f"{app}/src/**"), relied_on=("reads",))
    plan = _planned(app, confinement)
    assert (plan.writes, plan.private) == ((f"{app}/src",), (str(app),))
    done = run(
        plan,
        f"cat {app}/src/a {app}/other {app}/keys/k; echo x > {app}/x; echo y > {app}/src/y",
        driver,
    )
    assert done.stdout == "of src/a\n"
    assert not (app / "x").exists()
    assert (app / "src" / "y").exists()


def test_what_rules_deny_is_hidden(app: Path, driver: SandboxDriver) -> None:
    plan = _planned(app, Confinement(reads=_bound(without=("**/.env",)), relied_on=("reads",)))
    assert plan.masked == (f"{app}/.env",)
    assert run(plan, "cat .env other", driver).stdout == "of other\n"


def test_other_programs_do_not_see_it(app: Path, driver: SandboxDriver) -> None:
    plan = plan_of(Reach(), folder="/", home="/home/somebody", workspace=None, private=(str(app),))
    done = run(plan, f"cat {app}/other; ls {app}; ls /usr/lib | head -n 1 | wc -l", driver)
    assert done.stdout == "1\n"
    found = denial_of(plan, tier="bubblewrap", closed=(), status=1, errors=done.stderr)
    assert found is not None
    assert found.denied[0].target == f"{app}/other"


def test_workspaces_of_other_sessions_are_not_seen(app: Path, driver: SandboxDriver) -> None:
    plan = plan_of(
        Reach(),
        folder=str(app / "src"),
        home="/home/somebody",
        workspace=str(app / "src"),
        private=(str(app),),
    )
    done = run(plan, "cat a; cat ../keys/k ../other", driver)
    assert done.stdout == "of src/a\n"


def test_what_is_protected_in_it_need_not_be_hidden(app: Path) -> None:
    bound = Confinement(reads=_bound(f"{app}/src/**"), relied_on=("reads",))
    plan = plan_of(
        Reach(),
        folder=str(app),
        home="/home/a",
        workspace=str(app),
        kept=(f"{app}/keys",),
        confinement=bound,
    )
    assert plan.masked == ()


def test_a_server_is_not_too_wide_for_what_it_does_not_see(app: Path) -> None:
    bound = _bound("/**", without=(f"{app}/.env",))
    relying = Confinement(reads=bound, relied_on=("reads",))
    plan = replace(PLAN, reads=("/srv",), writes=(), kept=(), immovable=())
    assert exceeded_verb(plan, (), relying) == "reads"
    assert exceeded_verb(replace(plan, private=(str(app),)), (), relying) is None


@pytest.mark.parametrize(
    "path",
    ["/usr", "/opt", "/usr/local", "/usr/bin", "/usr/local/bin/x", "/lib/x", "/usr/lib/python3"],
)
def test_programs_of_the_system_are_no_workspace(path: str) -> None:
    assert "programs of the system" in (problem_of_workspace(os.path.realpath(path)) or "")


@pytest.mark.parametrize("path", ["/usr/src/app", "/opt/app", "/usr/share/app", "/srv", "/app"])
def test_a_folder_of_its_own_may_be_a_workspace(path: str) -> None:
    assert problem_of_workspace(path) is None


def test_a_workspace_of_programs_is_an_error() -> None:
    with pytest.raises(CannotConfine, match="cannot be a workspace"):
        plan_in(Path("/usr/local"))


@pytest.mark.parametrize("home", ["/", "/bin", "/usr/sbin", "/dev", "/etc"])
@needs_bubblewrap
def test_a_home_that_is_no_folder_of_a_user_is_not_emptied(tmp_path: Path, home: str) -> None:
    plan = replace(plan_in(tmp_path), home=home)
    assert run(plan, "ls > x; cat /etc/hosts > /dev/null && echo $?").stdout == "0\n"

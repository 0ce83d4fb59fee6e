"""What is configured, as the rules that allow a call narrow it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.generation import Reach
from policy.model import Bound, Confinement, NamedResources, ResourceSet
from policy.sandbox import CannotConfine, SandboxPlan, plan_of


def _set(*items: str) -> NamedResources:
    return NamedResources(rule="r", resources=ResourceSet(included=items))


def _only(*items: str) -> Bound:
    return Bound(within=((_set(*items),),))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for folder in ("home", "data/a", "work/src", "work/keys"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "work" / "notes.md").touch()
    return tmp_path / "work"


def _plan(
    work: Path, confinement: Confinement, *, search: int = 200_000, **reach: object
) -> SandboxPlan:
    data = str(work.parent / "data")
    return plan_of(
        Reach(reads=(data,), **reach),  # type: ignore[arg-type]
        folder=str(work),
        home=str(work.parent / "home"),
        workspace=str(work),
        confinement=confinement,
        search=search,
    )


def test_without_bounds_the_plan_is_as_configured(work: Path) -> None:
    plan = _plan(work, Confinement())
    assert (plan.reads, plan.writes) == ((str(work.parent / "data"),), (str(work),))


def test_reads_are_the_parts_that_the_rules_cover(work: Path) -> None:
    plan = _plan(work, Confinement(reads=_only(f"{work}/src/**", f"{work.parent}/data/a/**")))
    assert plan.writes == (f"{work}/src",)
    assert plan.reads == (f"{work.parent}/data/a",)


def test_what_may_not_be_written_is_read_only(work: Path) -> None:
    plan = _plan(work, Confinement(writes=_only(f"{work}/src/**")))
    assert plan.writes == (f"{work}/src",)
    assert str(work) in plan.reads


def test_what_is_not_configured_is_not_added(work: Path) -> None:
    plan = _plan(work, Confinement(reads=_only("/**"), writes=_only("/**")))
    assert (plan.reads, plan.writes) == ((str(work.parent / "data"),), (str(work),))


def test_nothing_is_nothing(work: Path) -> None:
    plan = _plan(work, Confinement(reads=_only(), connects=_only()), network="all")
    assert (plan.reads, plan.writes, plan.network) == ((), (), "none")


def test_a_file_is_mounted_and_a_folder_that_is_named_without_its_contents_is_not(
    work: Path,
) -> None:
    plan = _plan(work, Confinement(writes=_only(f"{work}/notes.md", f"{work}/src", f"{work}/no")))
    assert plan.writes == (f"{work}/notes.md",)


def test_what_rules_deny_is_hidden_or_read_only(work: Path) -> None:
    taken = (_set(f"{work}/keys/**", f"{work}/missing"), _set("/nowhere/**"))
    plan = _plan(work, Confinement(reads=Bound(without=taken)))
    assert plan.masked == (f"{work}/keys",)
    plan = _plan(work, Confinement(writes=Bound(without=taken)))
    assert f"{work}/keys" in plan.kept


def test_what_rules_deny_by_wildcards_is_hidden_or_read_only(work: Path) -> None:
    for name in ("src/deep/.env", "keys/.env"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).touch()
    taken = (_set("**/.env", f"{work}/keys/**"),)
    plan = _plan(work, Confinement(reads=Bound(without=taken)))
    assert plan.masked == (f"{work}/keys", f"{work}/src/deep/.env")
    plan = _plan(work, Confinement(writes=Bound(without=taken)))
    assert {f"{work}/keys", f"{work}/src/deep/.env"} <= {*plan.kept}
    assert f"{work}/src/deep" in plan.immovable


def test_the_folders_above_a_hidden_file_keep_their_names(work: Path) -> None:
    (work / "src" / "deep").mkdir()
    (work / "src" / "deep" / ".env").touch()
    plan = _plan(work, Confinement(reads=Bound(without=(_set("**/.env"),))))
    assert plan.masked == (f"{work}/src/deep/.env",)
    assert plan.immovable == (f"{work}/src", f"{work}/src/deep")


def test_a_folder_that_is_taken_away_whole_is_not_mounted(work: Path) -> None:
    for item in (f"{work.parent}/**", "**/work/**", "**/w*"):
        plan = _plan(work, Confinement(reads=Bound(without=(_set(item),))))
        assert plan.writes == (), item
        assert not [path for path in plan.masked if path.startswith(str(work))], item


def test_too_much_to_look_through_is_refused(work: Path) -> None:
    denied = Confinement(reads=Bound(without=(_set("**/.env"),)))
    with pytest.raises(CannotConfine, match="more than 3 files and folders"):
        _plan(work, denied, search=3)
    (work / ".env").touch()
    assert _plan(work, denied, search=0).masked == ()


def test_a_link_in_a_rule_leads_where_it_leads(work: Path) -> None:
    (work.parent / "link").symlink_to(work / "src")
    plan = _plan(work, Confinement(reads=_only(f"{work.parent}/link/**")))
    assert plan.writes == (f"{work}/src",)


def test_what_cannot_be_mounted_is_refused_only_if_a_rule_relies_on_it(work: Path) -> None:
    notes = _only("**/*.md")
    assert _plan(work, Confinement(reads=notes)).writes == (str(work),)
    with pytest.raises(CannotConfine, match="reads"):
        _plan(work, Confinement(reads=notes, relied_on=("reads",)))


def test_a_link_that_code_can_make_grants_nothing(work: Path) -> None:
    cache, data = work.parent / "cache", work.parent / "data"
    cache.mkdir()
    (work / "out").symlink_to(cache)
    (work.parent / "by-operator").symlink_to(data / "a")
    (work.parent / "to-work").symlink_to(work)
    bound = _only(
        f"{work}/out/**", f"{work.parent}/to-work/out/**", f"{work.parent}/by-operator/**"
    )
    plan = _plan(work, Confinement(reads=bound, writes=bound), writes=(str(cache),))
    assert (plan.reads, plan.writes) == ((str(data / "a"),), ())


def test_folders_above_what_is_masked_keep_their_names(work: Path) -> None:
    (work / "sub/keys").mkdir(parents=True)
    denied = Bound(without=(_set(f"{work}/sub/keys/**"),))
    plan = _plan(work, Confinement(reads=denied))
    assert plan.masked == (f"{work}/sub/keys",)
    assert f"{work}/sub" in plan.immovable


def _without(*items: str) -> Bound:
    return Bound(without=(_set(*items),))


@pytest.mark.parametrize("named", ["**/.env", "{work}/.env"])
@pytest.mark.parametrize("target", [".", "..", "/", "/usr", "/usr/bin/env", "/lib"])
def test_a_link_that_takes_what_no_command_goes_without_is_an_error(
    target: str, named: str, work: Path
) -> None:
    (work / ".env").symlink_to(target)
    said = (
        rf"deny to read {work}/\.env, which leads over a symbolic link to .* a person has to remove"
    )
    with pytest.raises(CannotConfine, match=said) as refused:
        _plan(work, Confinement(reads=_without(named.format(work=work))))
    assert refused.value.for_caller


def test_a_link_that_would_make_the_workspace_read_only_is_an_error(work: Path) -> None:
    (work / "src" / ".env").symlink_to("..")
    with pytest.raises(
        CannotConfine, match=r"deny to write .*src/\.env, which leads over a symbolic link"
    ):
        _plan(work, Confinement(writes=_without("**/.env")))


@pytest.mark.parametrize("target", ["gone", "gone/below", ".env", "notes.md/x", "/gone"])
def test_a_link_to_nothing_hides_nothing(target: str, work: Path) -> None:
    (work / ".env").symlink_to(target)
    assert _plan(work, Confinement(reads=_without("**/.env"))).masked == ()


def test_a_link_hides_what_it_leads_to(work: Path) -> None:
    (work / ".env").symlink_to("notes.md")
    (work / "src" / ".env").symlink_to("../keys")
    plan = _plan(work, Confinement(reads=_without("**/.env")))
    assert plan.masked == (f"{work}/keys", f"{work}/notes.md")


def test_a_link_that_no_program_can_have_made_hides_what_it_leads_to(work: Path) -> None:
    (work.parent / "data" / ".env").symlink_to(work)
    plan = _plan(work, Confinement(reads=_without("**/.env")))
    assert plan.writes == ()


def test_what_rules_name_themselves_is_hidden_where_a_link_leads_there_as_well(work: Path) -> None:
    (work / ".env").symlink_to(".")
    plan = _plan(work, Confinement(reads=_without("**/.env", str(work))))
    assert plan.writes == ()

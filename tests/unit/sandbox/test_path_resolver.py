"""Paths are resolved, but not over links that code in a sandbox may have made."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from policy.generation import (
    McpServer,
    PluginSettings,
    Reach,
    SandboxSettings,
    ServiceSettings,
    Settings,
    StdioServer,
)
from policy.model import Bound, Confinement, NamedResources, ResourceSet
from policy.sandbox import CannotConfine, SandboxPlan, exceeded_verb, plan_of, writable_folders
from policy.sandbox.path_resolver import PathResolver, UntrustedLink
from policy.sandbox.pinned_paths import pinned


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    for folder in ("open/in", "outside/in", "home"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path.resolve()


def resolved(disk: Path, path: str) -> str:
    found = PathResolver([str(disk / "open")]).resolve(str(disk / path))
    return str(Path(found).relative_to(disk))


def test_links_that_only_people_can_make_are_followed(disk: Path) -> None:
    (disk / "by-person").symlink_to("outside")
    (disk / "to-open").symlink_to(disk / "open")
    (disk / "outside" / "up").symlink_to("../by-person/in")
    assert resolved(disk, "by-person/in") == "outside/in"
    assert resolved(disk, "outside/up") == "outside/in"
    assert resolved(disk, "to-open/in") == "open/in"
    assert resolved(disk, "outside/./in/../none/at/all") == "outside/none/at/all"


@pytest.mark.parametrize(
    "path", ["open/link", "open/in/link/x", "to-open/link", "outside/over", "open/in/../link"]
)
def test_links_that_code_can_make_are_not_followed(disk: Path, path: str) -> None:
    (disk / "open" / "link").symlink_to(disk / "outside")
    (disk / "open" / "in" / "link").symlink_to(".")
    (disk / "to-open").symlink_to("open")
    (disk / "outside" / "over").symlink_to("../open/link/in")
    with pytest.raises(UntrustedLink):
        resolved(disk, path)


def test_a_folder_is_known_by_another_name_as_well(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As where letter case is ignored, or the folder is mounted twice.
    (disk / "open" / "link").symlink_to(disk / "outside")
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path: stat(str(path).replace("OPEN", "open")))
    readlink = os.readlink
    monkeypatch.setattr(os, "readlink", lambda path: readlink(path.replace("OPEN", "open")))
    with pytest.raises(UntrustedLink):
        resolved(disk, "OPEN/link")


def test_a_loop_of_links_is_not_followed_for_ever(disk: Path) -> None:
    (disk / "a").symlink_to("b")
    (disk / "b").symlink_to("a")
    with pytest.raises(UntrustedLink):
        resolved(disk, "a")


def test_the_root_and_what_is_missing_stay_as_they_are(disk: Path) -> None:
    resolver = PathResolver([str(disk / "gone")])
    assert resolver.resolve("/") == resolver.resolve("/..") == "/"
    assert resolver.resolve(f"{disk}/gone/a/b") == f"{disk}/gone/a/b"


def only(*items: str) -> Bound:
    return Bound(
        within=((NamedResources(rule="r", resources=ResourceSet(included=items)),),), without=()
    )


def plan_for(disk: Path, bound: Bound | None = None, *reads: str, **more: object) -> SandboxPlan:
    work = str(disk / "open")
    return plan_of(
        Reach(reads=reads),
        folder=work,
        home=str(disk / "home"),
        workspace=work,
        confinement=None if bound is None else Confinement(reads=bound, relied_on=("reads",)),
        **more,  # type: ignore[arg-type]
    )


def swap(disk: Path) -> None:
    """Exchange the folder `open/in` and a link in its place, which leads outside."""
    here, aside = disk / "open" / "in", disk / "open" / "aside"
    if here.is_symlink():
        here.unlink()
        aside.rename(here)
    else:
        here.rename(aside)
        here.symlink_to(disk / "outside")


@pytest.mark.parametrize("first", ["folder", "link"])
def test_no_moment_for_a_swap_makes_a_rule_permit_what_it_does_not_name(
    disk: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    outside = str(disk / "outside")
    originals = {name: getattr(os, name) for name in ("lstat", "readlink")}
    moment, looks, most = 0, 0, 500

    def hooked(name: str) -> Callable[..., object]:
        def look(*arguments: object, **more: object) -> object:
            nonlocal looks
            looks += 1
            if looks == moment:
                swap(disk)
            return originals[name](*arguments, **more)

        return look

    if first == "link":
        swap(disk)
    while looks >= moment and moment < most:
        moment, looks = moment + 1, 0
        with monkeypatch.context() as patched:
            for name in originals:
                patched.setattr(os, name, hooked(name))
            plan = plan_for(disk, only(f"{disk}/open/in/**"), outside)
        shown = (*plan.reads, *plan.writes)
        assert outside not in shown
        try:
            with pinned(shown) as opened:
                held = [os.readlink(f"/proc/self/fd/{each}") for each in opened.values()]
                assert set(held) <= {str(disk / "open" / "in")}
        except CannotConfine:
            pass
        if looks >= moment:
            swap(disk)
    assert 10 < moment < most


def test_a_path_that_is_swapped_after_the_plan_is_not_opened(disk: Path) -> None:
    plan = plan_for(disk, None, str(disk / "open" / "in"))
    swap(disk)
    with pytest.raises(CannotConfine, match="symbolic link by now") as said, pinned(plan.reads):
        pass
    assert said.value.for_caller


def test_an_error_names_the_path_and_the_link_to_the_caller(disk: Path) -> None:
    swap(disk)
    with pytest.raises(CannotConfine) as refused:
        plan_for(disk, None, f"{disk}/open/in/in")
    said = str(refused.value)
    assert said.startswith(f"{disk}/open/in/in leads over {disk}/open/in, a symbolic link")
    assert refused.value.for_caller


@pytest.mark.parametrize("whose", ["writable", "private"])
def test_what_other_sandboxes_may_write_counts(disk: Path, whose: str) -> None:
    (disk / "home" / "link").symlink_to("/usr")
    with pytest.raises(CannotConfine, match="is a symbolic link"):
        plan_for(disk, None, "~/link", **{whose: (str(disk / "home"),)})
    assert "/usr" in plan_for(disk, None, "~/link").reads


def test_a_server_is_not_called_by_a_rule_whose_path_is_a_link_by_now(disk: Path) -> None:
    outside, by_rule = str(disk / "outside"), only(f"{disk}/open/in/**")
    plan = plan_of(Reach(reads=(outside,)), folder="/", home="/home/nobody", workspace=None)
    swap(disk)
    relying = Confinement(reads=by_rule, relied_on=("reads",))
    assert exceeded_verb(plan, (), relying) is None
    assert exceeded_verb(plan, (), relying, writable=(str(disk / "open"),)) == "reads"


def test_all_that_code_may_write_by_a_policy_is_known() -> None:
    server = StdioServer(command=("s",), reach=Reach(writes=("~/server",)))
    settings = Settings(
        sandbox=SandboxSettings(reach=Reach(reads=("/r",), writes=("~/command",))),
        plugins={"p": PluginSettings(reach=Reach(writes=("/plugin",)))},
        mcp_servers=(
            McpServer(name="s", transport=server),
            McpServer(name="unconfined", transport=StdioServer(command=("s",))),
        ),
        service=ServiceSettings(workspaces="~/sessions", home="/home/configured"),
    )
    found = writable_folders(settings, home="/home/given")
    homes = (os.path.expanduser("~"), "/home/configured", "/home/given")
    assert {f"{home}/{name}" for home in homes for name in ("server", "command")} <= {*found}
    assert {"/plugin", os.path.expanduser("~/sessions")} <= {*found}
    assert "/r" not in found

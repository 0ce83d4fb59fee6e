"""`python_exec`: Python programs with packages that are installed by pip, in real sandboxes."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import tarfile
from pathlib import Path
from typing import Any, cast

import pytest

from policy import Execution, PermissionDenied, PolicyStore, ValidationFailed
from policy.audit import MemorySink
from policy.sandbox import Peer
from policy.service import GovernedService, build_tool_service
from tests.service.sandbox.wheels import index_of, interpreter, needs_pip, wheel
from tests.unit.cli.running import run
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock
from tests.unit.sandbox.network.stand_ins import certificate_of
from tests.waiting import until, wait_until, working_in

pytestmark = [needs_bubblewrap, needs_pip]

POLICY = """policy for every agent

default deny
allow python_exec
"""


class Desk:
    """A service, the wheels that it installs from, and where it keeps them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rules, self.work = folder / "rules", folder / "work"
        self.wheels, self.kept = folder / "wheels", folder / "state" / "placet" / "python-packages"
        self.records = MemorySink()
        for each in (self.rules, self.work, self.wheels):
            each.mkdir()

    def service(
        self, settings: str | None = None, *, rules: str = POLICY, more: str = "", **arguments: Any
    ) -> GovernedService:
        settings = f'wheels = "{self.wheels}"' if settings is None else settings
        (self.rules / "global.policy").write_text(rules)
        (self.rules / "placet.toml").write_text(
            f'[service.python]\nenabled = true\ninterpreter = "{interpreter()}"\n{settings}\n{more}'
        )
        store = PolicyStore(self.rules)
        assert store.current is not None, store.status.diagnostics
        return build_tool_service(store, workspace=self.work, audit=self.records, **arguments)

    def installations(self) -> list[str]:
        return sorted(each.name for each in self.kept.iterdir()) if self.kept.exists() else []


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Desk(tmp_path)


async def ran(service: GovernedService, code: str, *requirements: str, **more: Any) -> Any:
    input = {"code": code, **({"requirements": [*requirements]} if requirements else {}), **more}
    return (await service.execute("python_exec", input)).value


async def test_code_imports_what_it_requires(desk: Desk) -> None:
    wheel(desk.wheels, "needed", "2.1")
    wheel(desk.wheels, "wanted", requires=["needed>=2"])
    wheel(desk.wheels, "wanted", "0.9")
    service = desk.service()
    code = "import wanted, needed; print(wanted.version, needed.version)"
    done = await ran(service, code, "Wanted == 1.*")
    assert (done["stdout"], done["stderr"]) == ("1.0 2.1\n", "")
    assert done["installed"] == ["needed==2.1", "wanted==1.0"]
    (first,) = desk.installations()
    assert (await ran(service, code, "wanted==1.*"))["stdout"] == "1.0 2.1\n"
    assert desk.installations() == [first]
    assert "installed" not in await ran(service, "print(1)")


async def test_what_cannot_be_resolved_is_told_by_pip(desk: Desk) -> None:
    wheel(desk.wheels, "wanted", requires=["missing"])
    service = desk.service()
    for requirement, said in (("wanted>=2", "wanted>=2"), ("wanted", "missing")):
        with pytest.raises(Execution) as failed:
            await ran(service, "print(1)", requirement)
        assert failed.value.code == "install-failed"
        assert "pip says: " in failed.value.message
        assert f"No matching distribution found for {said}" in failed.value.message
    assert desk.installations() == []


async def failure(service: GovernedService, *requirements: str) -> str:
    with pytest.raises(Execution) as failed:
        await ran(service, "print(1)", *requirements)
    assert failed.value.code == "install-failed"
    return failed.value.message


@pytest.mark.parametrize(
    "member", ["../../escaped.py", pytest.param("/tmp/escaped.py", marks=pytest.mark.long)]
)
async def test_a_file_outside_of_the_package_is_not_installed(desk: Desk, member: str) -> None:
    wheel(desk.wheels, "evil", files={member: "x"})
    said = await failure(desk.service(), "evil")
    assert "outside the target directory" in said
    assert str(desk.folder) not in said
    assert not list(desk.folder.rglob("escaped*"))
    assert desk.installations() == []


async def test_no_pth_file_is_read_and_no_name_of_a_script_leads_out(desk: Desk) -> None:
    names = ("../../../../escaped", "../../escaped2", "x")
    scripts = "".join(f"{name} = evil:main\n" for name in names)
    wheel(
        desk.wheels,
        "evil",
        files={"evil.pth": "import sys; print('read a .pth')\n"},
        extra={
            "entry_points.txt": f"[console_scripts]\n{scripts}",
            "RECORD": "../../../../../escaped3,,\nevil.py,,\n",
        },
    )
    done = await ran(desk.service(), "import evil; print(evil.version)", "evil")
    assert (done["stdout"], done["stderr"]) == ("1.0\n", "")
    (kept,) = desk.installations()
    outside = [
        each for each in desk.folder.rglob("escaped*") if desk.kept / kept not in each.parents
    ]
    assert outside == []


async def test_a_huge_wheel_is_not_installed(desk: Desk) -> None:
    wheel(desk.wheels, "huge", files={"zeros": bytes(30_000_000)})
    many = {f"many{number}": bytes(900_000) for number in range(30)}
    wheel(desk.wheels, "many", files=many)
    service = desk.service(f'wheels = "{desk.wheels}"\nsize = 10_000_000')
    # By the limit of a file, or by the size of the folder, whichever is found first.
    huge = await failure(service, "huge")
    assert "File too large" in huge or "larger than 10,000,000 bytes" in huge
    assert "larger than 10,000,000 bytes" in await failure(service, "many")
    assert desk.installations() == []


async def test_nothing_is_built(desk: Desk) -> None:
    marker = desk.folder / "built"
    setup = f"open({str(marker)!r}, 'w'); print('built')\nfrom setuptools import setup\nsetup()\n"
    for name in ("sdist", "linked"):
        with tarfile.open(desk.wheels / f"{name}-1.0.tar.gz", "w:gz") as archive:
            for member, text in (
                ("setup.py", setup),
                ("PKG-INFO", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"),
                (
                    "pyproject.toml",
                    '[build-system]\nrequires = []\nbuild-backend = "setup"\n'
                    'backend-path = ["."]\n',
                ),
            ):
                entry = tarfile.TarInfo(f"{name}-1.0/{member}")
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
    wheel(desk.wheels, "evil", requires=[f"linked @ file://{desk.wheels}/linked-1.0.tar.gz"])
    # Unconfined, so that only pip itself stands in between.
    service = desk.service(more='[sandbox]\ndriver = "off"\nrequired = false\n')
    assert "No matching distribution found for sdist" in await failure(service, "sdist")
    assert "only wheels are installed" in await failure(service, "evil")
    assert not marker.exists()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("git+https://x.test/a", "a package requires another from a repository of git: packages"),
        ("file:///srv/nowhere", "perhaps a package requires another by a URL or a path"),
    ],
)
async def test_a_package_that_requires_an_address_is_not_installed(
    desk: Desk, address: str, said: str
) -> None:
    wheel(desk.wheels, "wanted", requires=[f"other @ {address}"])
    assert said in await failure(desk.service(), "wanted")


async def test_only_names_and_versions_are_requirements(desk: Desk) -> None:
    for refused in ("-r x", "a\n--no-index", "a; x == 'y'"):
        with pytest.raises(ValidationFailed, match="requirements"):
            await ran(desk.service(), "print(1)", refused)
    for refused in ("git+https://x.test/a", "a @ file:///a", "./a", "a-1.0-py3-none-any.whl"):
        with pytest.raises(ValidationFailed, match=r"installed by name, .* a repository: `"):
            await ran(desk.service(), "print(1)", refused)


async def test_rules_read_requirements_in_one_spelling(desk: Desk) -> None:
    rules = POLICY.replace(
        "allow python_exec",
        "only: allow python_exec when input.requirements is absent\n"
        "numbers: allow python_exec when all r in input.requirements: r matches /a-b[=<>].*/",
    )
    wheel(desk.wheels, "a_b")
    service = desk.service(rules=rules)
    assert (await ran(service, "import a_b", "A.b >= 1.0, < 2"))["exit_code"] == 0
    record = desk.records.records[-1]
    assert cast(Any, record.final_input)["requirements"] == ("a-b>=1.0,<2",)
    for refused in (["a-b"], ["a-b==1.0", "other"]):
        with pytest.raises(PermissionDenied):
            await ran(service, "import a_b", *refused)


async def test_limits_of_requirements(desk: Desk) -> None:
    wheel(desk.wheels, "one")
    wheel(desk.wheels, "two", requires=["one"])
    service = desk.service(f'wheels = "{desk.wheels}"\nrequirements = 2\npackages = ["Two"]')
    with pytest.raises(ValidationFailed, match="`one` is none of the packages"):
        await ran(service, "print(1)", "one")
    with pytest.raises(ValidationFailed, match="named twice"):
        await ran(service, "print(1)", "two>=1", "Two<2")
    with pytest.raises(ValidationFailed):
        await ran(service, "print(1)", "a", "b", "c")
    assert "they need others than `[service.python] packages` has: one" in await failure(
        service, "two"
    )
    without = desk.service("")
    assert "has neither `index` nor `wheels`" in await failure(without, "one")


async def test_no_program_writes_what_is_installed(desk: Desk) -> None:
    wheel(desk.wheels, "wanted")
    code = """
import os, wanted
place = os.path.dirname(wanted.__file__)
for act in (
    lambda: open(wanted.__file__, "a"),
    lambda: open(place + "/evil.py", "w"),
    lambda: os.rename(wanted.__file__, place + "/x"),
    lambda: os.unlink(wanted.__file__),
    lambda: os.mkdir(os.path.dirname(place) + "/evil"),
    lambda: os.rename(place, os.path.dirname(place) + "/x"),
    lambda: os.utime(place),
    lambda: os.chmod(place, 0o777),
):
    try:
        act()
        print("written")
    except OSError as error:
        print(type(error).__name__)
"""
    # Not even where the whole of it lies in a folder that programs may write.
    service = desk.service(more=f'[sandbox]\nwrites = ["{desk.folder}/state"]\n')
    assert "written" not in (await ran(service, code, "wanted"))["stdout"]
    (place,) = desk.installations()
    assert sorted(each.name for each in (desk.kept / place).iterdir() if each.suffix == ".py") == [
        "wanted.py"
    ]


async def test_no_tool_writes_the_wheels_that_are_installed(desk: Desk) -> None:
    inside = desk.work / "wheels"
    wheel(inside, "wanted")
    rules = POLICY.replace("allow python_exec", "allow python_exec, file_*, bash_exec")
    service = desk.service(f'wheels = "{inside}"', rules=rules)
    code = f"import wanted; open({str(inside / 'evil-1.0-py3-none-any.whl')!r}, 'w')"
    assert "Read-only file system" in (await ran(service, code, "wanted"))["stderr"]
    for tool, input in (
        ("file_delete", {"path": "wheels"}),
        ("file_write", {"path": "wheels/a.whl", "content": "x"}),
        ("bash_exec", {"command": "cp a.whl wheels"}),
    ):
        with pytest.raises(PermissionDenied) as refused:
            await service.execute(tool, input)
        assert refused.value.code == "out-of-bounds"


@needs_landlock
async def test_it_works_with_landlock_where_no_host_is_needed(desk: Desk) -> None:
    wheel(desk.wheels, "wanted")
    service = desk.service(more='[sandbox]\ndriver = "landlock"\n')
    code = "import wanted; print(wanted.version); open(wanted.__file__, 'a')"
    done = await ran(service, code, "wanted")
    assert done["stdout"] == "1.0\n" and "PermissionError" in done["stderr"]
    hosts = 'index = "http://packages.test/simple/"\nhosts = ["packages.test"]'
    with pytest.raises(Execution) as refused:
        await ran(desk.service(hosts, more='[sandbox]\ndriver = "landlock"\n'), "1", "wanted")
    assert refused.value.code == "sandbox-missing"


async def test_two_calls_at_once_install_once(desk: Desk) -> None:
    wheel(desk.wheels, "wanted")
    first, second = desk.service(), desk.service()
    calls = (ran(one, "import wanted", "wanted") for one in (first, first, second))
    assert [done["exit_code"] for done in await asyncio.gather(*calls)] == [0, 0, 0]
    assert len(desk.installations()) == 1


@pytest.mark.long
async def test_an_installation_that_is_cancelled_leaves_nothing(desk: Desk) -> None:
    wheel(desk.wheels, "wanted", files={f"part{n}.py": "x = 1\n" * 1000 for n in range(300)})
    service = desk.service()
    call = asyncio.ensure_future(ran(service, "import wanted", "wanted"))
    await until(desk.installations)
    (staging,) = desk.installations()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    assert desk.installations() == []
    assert working_in(desk.kept / staging) == []
    assert (await ran(service, "import wanted", "wanted"))["exit_code"] == 0


@pytest.mark.long
async def test_what_is_old_is_installed_anew(desk: Desk) -> None:
    wheel(desk.wheels, "wanted")
    service = desk.service(f'wheels = "{desk.wheels}"\nkeep = "1h"')
    await ran(service, "import wanted", "wanted")
    (place,) = desk.installations()
    before = (desk.kept / place).stat().st_mtime - 3601
    os.utime(desk.kept / place, (before, before))
    assert (await ran(service, "import wanted", "wanted"))["exit_code"] == 0
    old, new = desk.installations()
    assert new == place and old.startswith(f".old-{place}")


async def look_up(name: str) -> tuple[str, ...] | None:
    return {"packages.test": ("93.184.216.34",), "files.test": ("93.184.216.35",)}.get(name)


INDEX = 'index = "https://packages.test/simple/"\nhosts = {}'


async def test_an_index_is_reached_and_nothing_else(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(desk.wheels, "wanted")
    wheel(desk.wheels, "evil", requires=["linked @ https://other.test/linked-1.0-py3-none-any.whl"])
    # An installation trusts whom the system trusts; besides, it sees a folder of wheels.
    trust = desk.folder / "trust"
    trust.mkdir()
    trusted, context = certificate_of("packages.test", "files.test", folder=trust)
    monkeypatch.setattr("policy.tools.handlers.pip._AUTHORITIES", str(trusted))
    index = f'{INDEX}\nwheels = "{trust}"'
    both = index.format('["packages.test", "files.test"]')
    async with index_of(desk.wheels, files_at="files.test", context=context) as port:

        async def dial(address: str, _: int) -> Peer:
            return Peer.of(await asyncio.open_connection("127.0.0.1", port))

        monkeypatch.setattr("policy.service.sandbox_connections.dial", dial)
        code = (
            "import wanted, socket; print(wanted.version); socket.create_connection(('::1', 3128))"
        )
        # That a rule opens a host for programs does not open it for installations.
        other = 'allow sandbox_connect when connects only to "other.test"\n'
        service = desk.service(both, look_up=look_up, rules=POLICY + other)
        done = await ran(service, code, "wanted")
        assert done["stdout"] == "1.0\n" and "Connection refused" in done["stderr"]
        reached = [each for each in desk.records.records if each.tool == "sandbox_connect"]
        urls = [cast(Any, each.input)["url"] for each in reached]
        assert urls == ["https://packages.test:443", "https://files.test:443"]
        assert {each.parent for each in reached} == {desk.records.records[-1].id}
        assert "the sandbox does not connect to other.test:443: " in await failure(service, "evil")
        # One host is not enough, and a rule can take it away.
        one = desk.service(index.format('["packages.test"]'), look_up=look_up)
        assert "the sandbox does not connect to files.test:443: " in await failure(one, "wanted<3")
        denied = 'no-files: deny sandbox_connect when connects to "files.test"\n'
        service = desk.service(both, look_up=look_up, rules=POLICY + denied)
        assert "does not connect to files.test:443: a rule denies this" in (
            await failure(service, "wanted>=1")
        )


async def test_the_rule_of_the_call_bounds_its_installation(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(desk.wheels, "wanted")
    rules = POLICY.replace("allow python_exec", "allow python_exec when connects only to nothing")
    service = desk.service(
        INDEX.format('["packages.test"]'),
        look_up=look_up,
        rules=rules,
        more='[sandbox]\ndriver = "bubblewrap"\n',
    )
    assert "the rule that allows the call does not let it connect there" in (
        await failure(service, "wanted")
    )
    assert (await ran(service, "print(1)"))["stdout"] == "1\n"


@pytest.mark.long
def test_a_service_that_is_killed_leaves_no_half_of_an_installation(desk: Desk) -> None:
    wheel(desk.wheels, "wanted", files={f"part{n}.py": "x = 1\n" * 1000 for n in range(200)})
    service = desk.service()
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(ran(service, "import wanted", "wanted"))
        finally:
            os._exit(0)
    wait_until(desk.installations)
    (staging,) = desk.installations()
    wait_until(lambda: any((desk.kept / staging / "tmp").iterdir()))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert desk.installations() == [staging] and staging.startswith(".new-")
    wait_until(lambda: not working_in(desk.kept / staging))
    done = asyncio.run(ran(desk.service(), "import wanted; print(wanted.version)", "wanted"))
    assert done["stdout"] == "1.0\n"
    assert len(desk.installations()) == 2


def test_check_knows_the_tool_where_it_is_configured(desk: Desk) -> None:
    desk.service(rules=POLICY.replace("allow", "named: allow"))
    assert run("check", str(desk.rules)).code == 0
    wrong = POLICY.replace(
        "allow python_exec", 'named: allow python_exec when input.requires == "x"'
    )
    (desk.rules / "global.policy").write_text(wrong)
    assert "no field `input.requires`" in run("check", str(desk.rules)).out

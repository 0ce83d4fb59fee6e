"""What rules hide from a program that Landlock confines, where files stand beside it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from policy.generation import Reach
from policy.model import Bound, Confinement, NamedResources, ResourceSet
from policy.sandbox import CannotConfine, SandboxMissing, SandboxPlan, plan_of
from policy.sandbox import landlock_grants as grants
from policy.sandbox.landlock import Landlock
from tests.unit.sandbox.confining import needs_landlock, run

pytestmark = needs_landlock

# Each line tries to read or to change one of the files, and ends in an error.
ATTEMPTS = """\
cat .env
cat src/.env
cat link
cat hooked/.env
echo x > .env
echo x >> src/.env
truncate -s 0 .env
ln .env src/other
ln .env other
mv .env src/other
mv src/.env deep/other
mv src moved
mv -T src deep
rm .env
rm -r src
ln src/.env deep/other
python3 -c 'import os; os.rename("deep", "src")'
python3 -c 'import ctypes; l=ctypes.CDLL(None); exit(l.renameat2(-100, b".env", -100, b"file", 2))'
cp .git/hooks/h src/.env
ls .git/hooks/none
echo x > new
echo x > src/new
"""


def denying(*items: str) -> Confinement:
    named = NamedResources(rule="r", resources=ResourceSet(included=items))
    return Confinement(reads=Bound(without=(named,)), relied_on=("reads",))


def hiding(work: Path, *items: str, reads: tuple[str, ...] = ()) -> SandboxPlan:
    return plan_of(
        Reach(reads=reads),
        folder=str(work),
        home="/home/somebody",
        workspace=str(work),
        confinement=denying(*items),
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for name in (".env", "src/.env", ".git/hooks/h", ".git/config", "file", "src/file", "deep/f"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"HUSH {name}\n" if "env" in name else f"of {name}\n")
    (tmp_path / "link").symlink_to(".env")
    (tmp_path / "hooked").symlink_to("src")
    return tmp_path


def test_nothing_reads_or_changes_a_hidden_file(work: Path) -> None:
    plan = hiding(work, "**/.env")
    script = "".join(f"{line} && echo GOT: '{line[:9]}'\n" for line in ATTEMPTS.splitlines())
    before = {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}
    done = run(plan, script, Landlock())
    assert "HUSH" not in done.stdout + done.stderr
    assert "GOT" not in done.stdout
    assert {path: path.read_bytes() for path in work.rglob("*") if path.is_file()} == before


def test_what_stands_beside_it_is_read_and_written(work: Path) -> None:
    plan = hiding(work, "**/.env")
    done = run(
        plan,
        "cat file src/file .git/hooks/h; ls; ls src; echo a > file; echo b > src/file; "
        "mkdir deep/new && echo c > deep/new/c && mv deep/f deep/g && git --version > deep/v",
        Landlock(),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("of file\nof src/file\nof .git/hooks/h\n")
    assert {"file", "deep", "src"} <= set(done.stdout.split())
    assert (work / "src" / "file").read_text() == "b\n"
    assert (work / "deep" / "new" / "c").exists()
    closed = (str(work), str(work / ".git"), str(work / "src"))
    assert Landlock().narrowed(plan) == closed


def test_only_folders_on_the_way_to_a_hidden_file_are_closed(work: Path) -> None:
    (work / ".env").unlink()
    plan = hiding(work / "deep", "**/.env")
    assert plan.masked == Landlock().narrowed(plan) == ()
    plan = hiding(work / "src", "**/.env")
    assert Landlock().narrowed(plan) == (str(work / "src"),)


def test_a_hidden_file_in_a_folder_to_read(
    work: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    done = run(
        hiding(other, "**/.env", reads=(str(work),)),
        f"cat {work}/file {work}/src/file {work}/src/.env; echo x > {work}/file; echo y > mine",
        Landlock(),
    )
    assert done.stdout == "of file\nof src/file\n"
    assert (work / "file").read_text() == "of file\n"
    assert (other / "mine").exists()


def test_a_file_that_replaces_a_hidden_one_is_not_read_either(work: Path) -> None:
    plan = hiding(work, "**/.env")
    script = "until test -e deep/go; do sleep 0.01; done; cat .env"
    with Landlock().confined(plan, ("sh", "-c", script)) as start:
        process = subprocess.Popen(
            start.arguments,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=start.descriptors,
            text=True,
        )
    new = work / "new"
    new.write_text("HUSH again\n")
    new.rename(work / ".env")
    (work / "deep" / "go").touch()
    out, _ = process.communicate(timeout=10)
    assert out == ""


def test_a_hidden_folder_in_a_workspace_is_refused(work: Path) -> None:
    with pytest.raises(SandboxMissing, match=r"src from this command: it is a folder; a person"):
        run(hiding(work, "src/**", str(work / "src")), "true", Landlock())


def test_too_many_files_beside_a_hidden_one_are_refused(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = len(grants.granted_rights(hiding(work, "**/.env")))
    monkeypatch.setattr(grants, "MOST", most + 10)
    grants.granted_rights(hiding(work, "**/.env"))
    (work / "one-more").touch()
    with pytest.raises(
        CannotConfine, match=f"more than {most} files and folders are beside all 2 that are hidden"
    ):
        grants.granted_rights(hiding(work, "**/.env"))


def test_what_is_hidden_of_the_system(work: Path) -> None:
    plan = hiding(work, "/etc/passwd", "/usr/share/doc/**", "/usr/share/doc")
    done = run(
        plan, "ls /usr/share/doc; ls /usr; cat /etc/passwd; ls /usr/lib > deep/libs", Landlock()
    )
    assert done.stdout == ""
    assert done.stderr.count("Permission denied") == 3
    assert (work / "deep" / "libs").read_text()

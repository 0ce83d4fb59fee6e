"""Hooks and settings of others that did not exist when a program started."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from policy.sandbox.kept_names import made_paths, said_of_made
from policy.sandbox.landlock import Landlock
from tests.unit.sandbox.confining import needs_landlock, plan_in, run


def made_in(folder: Path, unkept: tuple[str, ...]) -> list[str]:
    found = made_paths([str(folder)], unkept)
    return [str(Path(each).relative_to(folder)) for each in found]


def test_what_appears_is_found(tmp_path: Path) -> None:
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / ".git" / "config").touch()
    unkept = plan_in(tmp_path).unkept
    assert made_in(tmp_path, unkept) == []
    (tmp_path / ".git" / "commondir").write_text("../ev")
    (tmp_path / ".claude").symlink_to("nowhere")
    (tmp_path / ".git" / "index").touch()
    assert made_in(tmp_path, unkept) == [".git/commondir", ".claude"]
    (tmp_path / ".claude").unlink()
    plan = plan_in(tmp_path)
    assert str(tmp_path / ".git" / "commondir") in plan.kept
    assert made_in(tmp_path, plan.unkept) == []


def test_a_file_that_leads_to_a_repository_is_found(tmp_path: Path) -> None:
    unkept = plan_in(tmp_path).unkept
    (tmp_path / ".git").write_text("gitdir: ev\n")
    assert made_in(tmp_path, unkept) == [".git"]
    # Where it was there, it stays read-only.
    assert made_in(tmp_path, plan_in(tmp_path).unkept) == []


@needs_landlock
def test_a_server_or_plugin_is_looked_at_when_it_has_ended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # The process of a server and of a plugin runs so, too.
    plan = plan_in(tmp_path)
    assert run(plan, "mkdir .claude", Landlock()).returncode == 0
    assert f"While a program ran in its sandbox, {tmp_path}/.claude appeared" in caplog.text


def test_git_works_as_before_with_the_file_of_the_remedy(tmp_path: Path) -> None:
    script = (
        "git init -q . && echo . > .git/commondir && touch a && git add a && "
        "git -c user.name=a -c user.email=a@b commit -qm a && git rev-parse --git-common-dir"
    )
    done = subprocess.run(
        ["/bin/bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(tmp_path, done.stdout.strip()).resolve() == tmp_path / ".git"


def test_a_sentence_names_a_few_of_them() -> None:
    said = said_of_made([f"/w/{n}" for n in range(7)], subject="this command")
    assert "/w/0, /w/1, /w/2, /w/3, /w/4 and 2 more appeared" in said
    assert "\x1b" not in said_of_made(["/w/\x1b"], subject="this command")

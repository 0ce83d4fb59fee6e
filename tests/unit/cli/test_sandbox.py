"""`placet sandbox`: what the sandbox of a policy is, and a command in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.running import run
from tests.unit.sandbox.confining import needs_bubblewrap


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    work, folder = tmp_path / "work", tmp_path / "rules"
    (work / ".git" / "hooks").mkdir(parents=True)
    folder.mkdir()
    (folder / "global.policy").write_text("policy for every agent\n\ndefault deny\n")
    (folder / "placet.toml").write_text('[service]\nworkspace = "../work"\n')
    return folder


@needs_bubblewrap
def test_the_plan_and_what_was_tried_are_shown(rules: Path) -> None:
    done = run("sandbox", "explain", rules)
    work = rules.parent / "work"
    assert done.code == 0
    first, *rest = done.out.splitlines()
    assert first == "commands are confined by bubblewrap"
    assert f"write     {work}" in rest
    assert any("so what rules deny is not hidden from code" in line for line in rest)
    assert f"read only {work}/.git/hooks" in rest
    assert "network   no network, not even this machine's own" in rest
    [missing] = [line for line in rest if "do not exist" in line]
    assert missing.startswith(f"note: these do not exist in {work}, so commands may make them: ")
    assert missing.endswith(", .zed, opencode.json")
    assert any(line.startswith("tried inside, and stopped: read a file outside") for line in rest)
    assert rest[-1] == "! not stopped, and not tried: take all inotify instances of the user"
    record = run("sandbox", "explain", rules, "--format", "json").record
    assert record["plan"]["writes"] == [str(work)]
    assert record["reached"]["connect to a Unix socket"] is False


def test_a_read_only_file_with_another_name_is_noted(rules: Path) -> None:
    config = rules.parent / "work" / ".git" / "config"
    config.write_text("[core]\n")
    (rules / "placet.toml").write_text(
        '[service]\nworkspace = "../work"\n[sandbox]\ndriver = "landlock"\n'
    )
    named = f"! {config} has another name (a hard link), which may be written"
    assert named not in run("sandbox", "explain", rules).out.splitlines()
    (config.parent / "other").hardlink_to(config)
    assert named in run("sandbox", "explain", rules).out.splitlines()


def test_a_configured_path_over_a_link_is_noted_or_refused(rules: Path) -> None:
    (rules.parent / "data").mkdir()
    link = rules.parent / "link"
    link.symlink_to("data")
    own = f'[sandbox]\ndriver = "off"\nreads = ["{link}"]\n'
    (rules / "placet.toml").write_text(f'[service]\nworkspace = "../work"\n{own}')
    leads = f"note: {link} leads over a symbolic link to {rules.parent / 'data'}"
    assert leads in run("sandbox", "explain", rules).out.splitlines()
    server = f'[mcp.servers.s]\ncommand = "s"\nsandbox = {{ writes = ["{link.parent}"] }}\n'
    with (rules / "placet.toml").open("a") as file:
        file.write(server)
    done = run("sandbox", "explain", rules)
    assert done.code == 1
    assert f"{link} is a symbolic link, which a program in a sandbox may have made" in done.err


@pytest.mark.parametrize(("required", "so"), [("true", "are not run"), ("false", "run unconfined")])
def test_a_driver_that_is_off_is_said_to_be_off(rules: Path, required: str, so: str) -> None:
    own = 'network = "hosts"\nconnects = ["127.0.0.1:80"]\n'
    (rules / "placet.toml").write_text(f'[sandbox]\ndriver = "off"\nrequired = {required}\n{own}')
    first, *rest = run("sandbox", "explain", rules).out.splitlines()
    assert any(line.startswith("note: 127.0.0.1:80 is reached by programs") for line in rest)
    assert first == f'commands {so}: `[sandbox] driver` is "off". It would be so:'


def test_a_machine_that_cannot_confine_is_said_to_be_one(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (rules / "placet.toml").write_text('[sandbox]\ndriver = "bubblewrap"\n')
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    monkeypatch.chdir(tmp_path / "work")
    done = run("sandbox", "explain", rules)
    assert done.code == 1
    assert "! `bwrap` is not installed: install the package `bubblewrap`" in done.out
    assert done.out.startswith("commands are not run: no sandbox works here. It would be so:\n")
    assert "names no `driver`" not in done.out


def test_the_policy_is_found_as_by_other_commands(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(rules.parent)
    found = run("sandbox", "explain", "--format", "json").record
    assert found["plan"]["writes"] == [str(tmp_path / "work")]
    other = tmp_path / "other"
    other.mkdir()
    found = run("sandbox", "explain", rules, "--workspace", other, "--format", "json").record
    assert found["plan"]["writes"] == [str(other)]
    printed = run("sandbox", "print", "--workspace", other, "--for", "seatbelt", "ls").out
    assert f'(subpath "{other}")' in printed
    monkeypatch.chdir(other)
    for more in (("explain",), ("run", "--rules", "rules", "true")):
        done = run("sandbox", *more)
        assert (done.code, "write one with `placet init`" in done.err) == (2, True)


def test_without_a_policy_nothing_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("sandbox", "print", "--for", "docker", "--image", "x", "ls")
    assert done.err == "note: no policy is at `rules`, so nothing is configured\n"
    assert f"target={tmp_path} " in done.out
    assert "--network=none" in done.out
    (tmp_path / "rules").symlink_to("nowhere")
    assert run("sandbox", "print", "--for", "docker", "--image", "x", "ls").code == 2


def test_a_sandbox_that_cannot_be_as_configured_is_an_error(rules: Path) -> None:
    with (rules / "placet.toml").open("a") as file:
        file.write('[sandbox]\nreads = ["gone"]\n')
    for more in (("explain", rules), ("run", "--rules", rules, "true")):
        done = run("sandbox", *more)
        assert done.code == 1
        assert "there is no" in done.err
        assert "which `[sandbox]` names" in done.err


def test_an_unknown_option_is_not_taken_for_the_command(rules: Path) -> None:
    for more in (("run",), ("print", "--for", "seatbelt")):
        done = run("sandbox", *more, "--rules", rules, "--nosuch", "--", "ls")
        assert (done.code, "--nosuch" in done.err) == (2, True)
    printed = run("sandbox", "print", "--rules", rules, "--for", "seatbelt", "ls", "--all")
    assert printed.out.endswith(" ls --all\n")


@needs_bubblewrap
def test_a_command_runs_in_it(rules: Path) -> None:
    script = "pwd; echo x > a; echo y > .git/hooks/a; exit 3"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "policy",
            "sandbox",
            "run",
            "--rules",
            rules,
            "--",
            "sh",
            "-c",
            script,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    work = rules.parent / "work"
    assert (done.returncode, done.stdout) == (3, f"{work}\n")
    assert (work / "a").exists()
    assert not (work / ".git" / "hooks" / "a").exists()


def test_a_limit_that_does_not_hold_is_reported(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (rules / "placet.toml").open("a") as file:
        file.write("[sandbox]\nlimits = { processes = 9 }\n")
    monkeypatch.setattr("policy.sandbox.control_groups.MEMBERSHIPS", tmp_path / "none")
    for user, said in ((0, "does not hold for root here"), (1000, "counts all of this user's")):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        assert f"! `processes` {said}" in run("sandbox", "explain", rules).out


def test_the_sandbox_is_printed_for_another_program(rules: Path) -> None:
    more = ("--rules", rules, "--for")
    done = run("sandbox", "print", *more, "docker", "--image", "python:3.13", "--", "pytest", "-q")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("docker run --rm ")
    assert done.out.endswith(" python:3.13 pytest -q\n")
    assert f"--mount=type=bind,source={rules.parent}/work,target=" in done.out
    done = run("sandbox", "print", *more, "seatbelt", "--", "git", "status")
    assert done.out.startswith("/usr/bin/sandbox-exec -p '(version 1)\n(deny default)\n")
    assert run("sandbox", "print", *more, "docker", "--", "git").code == 2
    assert run("sandbox", "print", *more, "seatbelt", "--image", "x", "--", "git").code == 2


def test_files_that_docker_protects_until_they_are_replaced_are_named(rules: Path) -> None:
    config = rules.parent / "work" / ".git" / "config"
    config.write_text("[core]\n")
    done = run("sandbox", "print", "--rules", rules, "--for", "docker", "--image", "x", "ls")
    assert done.err.startswith(f"note: Docker protects {config} by a mount on a single file, until")
    assert len(done.err.splitlines()) == 1
    assert run("sandbox", "print", "--rules", rules, "--for", "seatbelt", "ls").err == ""


def test_a_limit_that_another_program_does_not_have_is_an_error(rules: Path) -> None:
    with (rules / "placet.toml").open("a") as file:
        file.write("[sandbox]\nlimits = { memory = 1_000_000_000 }\n")
    done = run("sandbox", "print", "--rules", rules, "--for", "seatbelt", "--", "git")
    assert (done.code, done.out) == (1, "")
    assert "Seatbelt has no limit for `memory`" in done.err


def test_an_error_of_the_settings_stands_alone(rules: Path) -> None:
    (rules / "global.policy").write_text(
        "policy for every agent\n\ndefault deny\nallow web_fetch\n"
    )
    (rules / "placet.toml").write_text('[sandbox]\nnetwork = "nowhere"\n')
    done = run("sandbox", "run", "--rules", rules, "true")
    assert done.code == 1
    assert done.err.startswith("error[bad-settings]: `network`:")
    assert "warning" not in done.err


def test_the_home_folder_may_be_named_by_a_tilde(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    with (rules / "placet.toml").open("a") as file:
        file.write('[sandbox]\nreads = ["~"]\n')
    done = run("sandbox", "print", "--rules", rules, "--for", "docker", "--image", "x", "ls")
    assert f"source={home},target={home},readonly " in done.out

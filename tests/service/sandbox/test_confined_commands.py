"""`bash_exec` in the sandbox that `placet.toml` configures, through the service."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from policy import Execution, PolicyStore
from policy.audit import AuditSink, JsonlSink, MemorySink, record_line
from policy.model import Verdict
from policy.service import GovernedService, build_tool_service
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock
from tests.waiting import until

POLICY = "policy for every agent\n\ndefault deny\n\nallow bash_exec, list_tools\n"
ON = '[sandbox]\ndriver = "bubblewrap"\n'
OFF = '[sandbox]\ndriver = "off"\nrequired = false\n'


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "global.policy").write_text(POLICY, encoding="utf-8")
    return folder


def service_of(
    rules: Path, settings: str, *, audit: AuditSink | None = None
) -> tuple[GovernedService, PolicyStore]:
    configure(rules, settings)
    workspace = rules.parent / "work"
    workspace.mkdir(exist_ok=True)
    store = PolicyStore(rules)
    return build_tool_service(store, workspace=workspace, audit=audit), store


def configure(rules: Path, settings: str) -> None:
    (rules / "placet.toml").write_text(settings, encoding="utf-8")


async def output_of(service: GovernedService, command: str) -> Any:
    return (await service.execute("bash_exec", {"command": command})).value


@needs_bubblewrap
async def test_commands_see_the_workspace_and_not_what_is_beside_it(rules: Path) -> None:
    (rules.parent / "secret").write_text("hush")
    service, _ = service_of(rules, ON)
    found = await output_of(service, "echo x > here; cat ../secret || ls ..")
    assert found["stdout"] == "work\n"
    assert (rules.parent / "work" / "here").exists()


@needs_bubblewrap
async def test_commands_are_confined_where_nothing_is_configured(rules: Path) -> None:
    (rules.parent / "secret").write_text("hush")
    records = MemorySink()
    service, _ = service_of(rules, "", audit=records)
    found = await output_of(service, "echo x > here && cat here ../secret")
    assert (found["stdout"], found["exit_code"]) == ("x\n", 1)
    assert records.records[-1].sandbox == "bubblewrap"
    await service.execute("list_tools", {})
    assert records.records[-1].sandbox is None


@pytest.mark.parametrize(
    "driver",
    [
        pytest.param("bubblewrap", marks=needs_bubblewrap),
        pytest.param("landlock", marks=needs_landlock),
    ],
)
async def test_people_are_told_of_settings_of_git_that_a_command_makes(
    rules: Path, caplog: pytest.LogCaptureFixture, driver: str
) -> None:
    records = MemorySink()
    git = rules.parent / "work" / ".git"
    git.mkdir(parents=True)
    service, _ = service_of(rules, f'[sandbox]\ndriver = "{driver}"\n', audit=records)
    made = f"{git}/commondir"
    found = await output_of(service, "echo ../ev > .git/commondir")
    assert (found["exit_code"], found["sandbox"]["made"]) == (0, [made])
    assert f"{made} appeared" in found["sandbox"]["message"]
    assert [each.getMessage() for each in caplog.records if "appeared" in each.getMessage()] == [
        found["sandbox"]["message"].replace("this command", "a program")
    ]
    assert json.loads(record_line(records.records[-1]))["made"] == [made]
    # From now on it is read-only, and only what is new is told.
    found = await output_of(service, "echo ../ew > .git/commondir")
    assert found["exit_code"] == 1 and "made" not in found["sandbox"]
    assert (git / "commondir").read_text() == "../ev\n"
    assert not records.records[-1].made


async def test_a_record_says_that_nothing_confined_a_command(rules: Path) -> None:
    records = MemorySink()
    service, _ = service_of(rules, OFF, audit=records)
    await output_of(service, "true")
    assert b'"sandbox":"none"' in record_line(records.records[-1])


async def test_a_refusal_says_what_people_can_do(
    rules: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    monkeypatch.setattr("policy.sandbox.landlock.version", lambda: 0)
    records = MemorySink()
    service, store = service_of(rules, "", audit=records)
    for settings, why in (
        ("", "`bwrap` is not installed"),
        ('driver = "off"', "`[sandbox] driver`"),
    ):
        configure(rules, f"[sandbox]\n{settings}\n")
        store.reload()
        caplog.clear()
        with pytest.raises(Execution) as refused:
            await output_of(service, "true")
        assert refused.value.code == "sandbox-missing"
        (said,) = [each.message for each in caplog.records if "no program" in each.message]
        assert said.startswith(f"no program is started: {why}")
        assert "or write `required = false` under `[sandbox]`" in said
        record = records.records[-1]
        assert (record.verdict, record.code) == (Verdict.ALLOW, "sandbox-missing")


@needs_bubblewrap
async def test_a_shell_that_is_missing_is_not_blamed_on_the_sandbox(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.tools.handlers.shell.shell_arguments", lambda _: ("nosuch", "-c"))
    service, _ = service_of(rules, ON)
    with pytest.raises(Execution, match="`nosuch` is not installed on this machine"):
        await output_of(service, "true")


@needs_bubblewrap
async def test_a_link_that_a_command_leaves_is_named_to_those_whom_it_stops(rules: Path) -> None:
    service, _ = service_of(rules, ON)
    link = rules.parent / "work" / ".mcp.json"
    (link.parent / "run.mk").write_text(f"all:\n\tln -s /tmp {link.name}\n")
    await output_of(service, "make -f run.mk")
    with pytest.raises(Execution, match=f"{link} must stay read-only.*remove the link") as refused:
        await output_of(service, "true")
    assert refused.value.code == "sandbox-missing"
    link.unlink()
    assert (await output_of(service, "true"))["exit_code"] == 0


@needs_landlock
async def test_the_driver_is_the_configured_one(rules: Path) -> None:
    service, store = service_of(rules, '[sandbox]\ndriver = "landlock"\n')
    found = await output_of(service, "echo x > here && cat here; ls /proc")
    assert found["stdout"] == "x\n"
    assert "Permission denied" in found["stderr"]
    configure(rules, OFF)
    store.reload()
    assert (await output_of(service, "ls /proc"))["exit_code"] == 0


@needs_bubblewrap
async def test_an_edit_applies_to_the_next_command(rules: Path) -> None:
    (rules.parent / "secret").write_text("hush")
    service, store = service_of(rules, OFF)
    assert (await output_of(service, "cat ../secret"))["stdout"] == "hush"
    configure(rules, ON)
    store.reload()
    assert (await output_of(service, "cat ../secret"))["exit_code"] == 1
    configure(rules, f'{ON}reads = ["../secret"]\n')
    store.reload()
    assert (await output_of(service, "cat ../secret"))["stdout"] == "hush"


@needs_bubblewrap
async def test_no_code_writes_the_policy_in_the_workspace(tmp_path: Path) -> None:
    rules = tmp_path / "work" / "rules"
    rules.mkdir(parents=True)
    (rules / "global.policy").write_text(POLICY, encoding="utf-8")
    configure(rules, ON)
    (tmp_path / "work" / "run.mk").write_text(
        "all:\n\t-echo '#' >> rules/global.policy\n\t-mv rules x\n\t-touch rules/new.policy\n"
    )
    service = build_tool_service(
        PolicyStore(rules), workspace=tmp_path / "work", policy_in_workspace=True
    )
    found = await output_of(service, "make -f run.mk")
    assert (rules / "global.policy").read_text() == POLICY
    assert {each.name for each in rules.iterdir()} == {"placet.toml", "global.policy"}
    assert found["stderr"].count("Read-only file system") == 2


async def test_without_a_sandbox_the_command_is_not_run(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, _ = service_of(rules, ON)
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    with pytest.raises(Execution) as caught:
        await output_of(service, "echo x > here")
    assert caught.value.code == "sandbox-missing"
    assert caught.value.message == "this runs only in a sandbox, and none can be set up for it here"
    assert not (tmp_path / "work" / "here").exists()


async def test_it_runs_unconfined_where_that_is_configured(
    rules: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    service, _ = service_of(rules, f"{ON}required = false\n")
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    with caplog.at_level(logging.WARNING):
        assert (await output_of(service, "echo x"))["stdout"] == "x\n"
        assert (await output_of(service, "echo y"))["stdout"] == "y\n"
    (said,) = [each.message for each in caplog.records if "not confined" in each.message]
    assert "`bwrap` is not installed" in said


@needs_bubblewrap
async def test_a_sandbox_that_cannot_be_as_configured_is_never_a_wider_one(rules: Path) -> None:
    service, _ = service_of(rules, f'{ON}required = false\nreads = ["gone"]\n')
    with pytest.raises(Execution) as caught:
        await output_of(service, "echo x")
    assert caught.value.code == "sandbox-missing"
    assert "there is no" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('driver = "docker"', "driver"),
        ('reads = ["~root/x"]', "home folder of another user"),
        ('writes = ["cache/*"]', "without `*`"),
        ('network = "some"', "network"),
        ("limits = { memory = 0 }", "memory"),
        ("limits = { forks = 3 }", "forks"),
    ],
)
def test_wrong_settings_are_reported_with_their_place(
    rules: Path, settings: str, said: str
) -> None:
    configure(rules, f"[sandbox]\n{settings}\n")
    store = PolicyStore(rules)
    assert store.current is None
    (found,) = [each for each in store.status.diagnostics if each.severity.value == "error"]
    assert found.place[:2] == ("placet.toml", 2)
    assert said in found.message


@needs_bubblewrap
async def test_a_command_that_fails_by_its_sandbox_says_so_beside_its_output(rules: Path) -> None:
    service, _ = service_of(rules, ON)
    found = await output_of(service, "echo x > here; echo y > /usr/x")
    assert found["exit_code"] == 1
    assert "Read-only file system" in found["stderr"]
    assert found["sandbox"]["code"] == "denied-by-sandbox"
    assert found["sandbox"]["denied"] == [{"verb": "write", "target": "/usr/x", "likely": True}]
    assert "what it did before stays done" in found["sandbox"]["message"]
    assert "sandbox" not in await output_of(service, "false")


@needs_bubblewrap
async def test_what_a_sandbox_has_denied_is_on_record_and_redacted(rules: Path) -> None:
    (rules / "more.policy").write_text(
        'policy for every agent\nkeys: redact results of * matching /SECRET-[a-z]+/ with "[key]"\n'
    )
    audit = rules.parent / "audit.jsonl"
    service, _ = service_of(rules, ON, audit=JsonlSink(audit))
    for command in ("echo y > /usr/x", "echo y > /usr/SECRET-abc", "false"):
        await service.execute("bash_exec", {"command": command})
    first, second, third = map(json.loads, audit.read_text().splitlines()[1::2])
    assert first["sandbox"] == "bubblewrap"
    assert first["denied"] == [{"verb": "write", "target": "/usr/x", "likely": True}]
    assert [one["target"] for one in second["denied"]] == ["/usr/[key]"]
    assert "denied" not in third


async def test_a_command_without_a_sandbox_is_not_said_to_have_failed_by_one(rules: Path) -> None:
    service, _ = service_of(rules, OFF)
    found = await output_of(service, "cat /nonexistent/x")
    assert found["exit_code"] == 1
    assert "sandbox" not in found


@needs_bubblewrap
async def test_a_command_ends_when_somebody_replaces_what_its_sandbox_protects(
    rules: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service, _ = service_of(rules, ON)
    work = rules.parent / "work"
    config = work / ".git" / "config"
    config.parent.mkdir()
    config.write_text("[core]\n")

    async def replace_it() -> None:
        await until((work / "started").exists)
        (work / "saved").write_text("[core]\n\tbare = false\n")
        (work / "saved").replace(config)

    output, _ = await asyncio.gather(
        service.execute("bash_exec", {"command": "echo a; echo x > started; sleep 3600"}),
        replace_it(),
    )
    found = output.value
    assert (found["exit_code"], found["stdout"]) == (-9, "a\n")
    assert found["sandbox"] == {
        "code": "ended-by-sandbox",
        "message": "The sandbox has ended this command: somebody else has replaced, renamed or "
        f"removed {config}, which it protects; what was done before stays done, and it can be "
        "tried again.",
        "tier": "bubblewrap",
        "denied": [],
        "lost": str(config),
    }
    assert "it could read and write what has this name now" in caplog.text
    again = await output_of(service, "cat .git/config; echo x > .git/config")
    assert again["stdout"].endswith("bare = false\n")
    assert again["sandbox"]["code"] == "denied-by-sandbox"

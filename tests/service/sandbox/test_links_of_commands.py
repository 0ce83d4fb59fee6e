"""Commands that put a link in the place of a configured path, and what is started after that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policy import Execution, PolicyStore
from policy.mcp import configured_servers
from policy.model import NotFound
from policy.service import GovernedService, build_tool_service
from tests.service.plugins.running_plugins import program, running, table
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock

RULES = "policy for every agent\n\ndefault deny\n\n"
READS = """
def call(tool, input):
    return open(input["file"]).read()
"""
SERVER = Path(__file__).resolve().parents[2] / "mcp_servers" / "reading.py"
READ = {
    "name": "read",
    "inputSchema": {"type": "object", "properties": {"file": {"type": "string"}}},
}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "key").write_text("hush")
    return tmp_path / "outside" / "key"


def commands(tmp_path: Path, settings: str) -> GovernedService:
    rules, work = tmp_path / "rules", tmp_path / "work"
    rules.mkdir()
    work.mkdir()
    (rules / "global.policy").write_text(f"{RULES}allow bash_exec\n")
    (rules / "placet.toml").write_text(settings)
    return build_tool_service(PolicyStore(rules), workspace=work)


async def output_of(service: GovernedService, command: str) -> str:
    done = (await service.execute("bash_exec", {"command": command})).value
    return str(done["stdout"])


async def refusal(service: GovernedService, tool: str, **input: object) -> Execution:
    with pytest.raises(Execution) as refused:
        await service.execute(tool, input)
    assert refused.value.code == "sandbox-missing"
    return refused.value


@needs_landlock
async def test_a_command_cannot_choose_what_a_configured_path_stands_for(
    tmp_path: Path, secret: Path
) -> None:
    cache = tmp_path / "open" / "cache"
    cache.mkdir(parents=True)
    writes = f'writes = ["{cache.parent}", "{cache}"]'
    service = commands(tmp_path, f'[sandbox]\ndriver = "landlock"\n{writes}\n')
    # The real attempt: Landlock knows files, and no names.
    attempt = f"cd {cache.parent} && mv cache c2 && ln -s {secret.parent} cache && readlink cache"
    assert await output_of(service, attempt) == f"{secret.parent}\n"
    said = await refusal(service, "bash_exec", command=f"cat {secret}; echo x > {secret}")
    assert f"{cache} is a symbolic link, which a program" in said.message
    cache.unlink()
    cache.mkdir()
    assert await output_of(service, f"cat {secret} || echo no") == "no\n"


@needs_bubblewrap
async def test_a_folder_that_is_made_anew_outside_cannot_be_made_a_link(
    tmp_path: Path, secret: Path
) -> None:
    cache = tmp_path / "work" / "cache"
    service = commands(tmp_path, f'[sandbox]\ndriver = "bubblewrap"\nwrites = ["{cache}"]\n')
    cache.symlink_to(secret.parent)
    await refusal(service, "bash_exec", command=f"cat {secret}")


@needs_bubblewrap
async def test_a_plugin_reads_nothing_through_a_link_of_a_command(
    tmp_path: Path, secret: Path
) -> None:
    notes = tmp_path / "work" / "notes"
    tables = table(
        program(tmp_path, READS, access={"reads": ["*"]}),
        more=f'[plugins.hostile.sandbox]\nreads = ["{notes}"]\n',
    )
    rules = f'{RULES}allow ext hostile/* when reads only "{notes}/**"\n'
    (tmp_path / "work").mkdir()
    notes.mkdir()
    async with running(tmp_path, tables, confined=True, policy=rules) as on:
        # It was started once to see that it works, but not yet for this rule.
        notes.rmdir()
        notes.symlink_to(secret.parent)
        said = await refusal(on.service, "ext__hostile__t", file=str(notes / "key"))
        assert f"{notes} is a symbolic link" in said.message


@needs_bubblewrap
async def test_a_server_reads_nothing_through_a_link_of_a_command(
    tmp_path: Path, secret: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rules, docs = tmp_path / "rules", tmp_path / "work" / "docs"
    rules.mkdir()
    docs.parent.mkdir()
    docs.symlink_to(secret.parent)
    (rules / "global.policy").write_text(f"{RULES}allow mcp files/*\n")
    (rules / "files.json").write_text(json.dumps([{**READ, "server": "files"}]))
    (rules / "placet.toml").write_text(
        f"""[catalogue]
files = ["files.json"]

[mcp.servers.files]
command = "/usr/bin/python3"
args = ["-I", "-S", "{SERVER}"]

[mcp.servers.files.sandbox]
reads = ["{docs}", "{SERVER.parent}"]
"""
    )
    store = PolicyStore(rules)
    service = build_tool_service(store, tools=(), workspace=docs.parent)
    async with configured_servers(service, store):
        with pytest.raises(NotFound):
            await service.execute("files__read", {"file": str(docs / "key")})
    assert f"{docs} is a symbolic link" in caplog.text

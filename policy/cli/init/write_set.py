"""The command `placet init`: a policy set for one kind of agent, into a new or empty folder."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import click

from policy.cli.agent_settings.own_tools import tools_list, with_own_tools
from policy.cli.init.starting_sets import STARTING_SETS, files_of
from policy.cli.loading import exit_with
from policy.diagnostics import visible


@click.command("init")
@click.argument(
    "folder",
    metavar="[DIR]",
    type=click.Path(file_okay=False, path_type=Path),
    default="rules",
    required=False,
)
@click.option(
    "--for",
    "agent",
    type=click.Choice(list(STARTING_SETS)),
    default="coding-agent",
    show_default=True,
    help="The kind of agent that the rules are for.",
)
def command(folder: Path, *, agent: str) -> None:
    """Write a small policy with comments and tests into DIR, a new or empty folder.

    Nothing is ever overwritten. The output names the next steps.

    \b
    Examples:
      placet init
      placet init ~/support-rules --for support
    """
    if agent == "data" and find_spec("sqlglot") is None:
        exit_with("the set for data agents needs the extra `sql`: install placet[sql]")
    files = all_files_of(agent)
    _write(folder, files)
    for name in files:
        click.echo(f"wrote {visible(str(folder / name))}")
    click.echo()
    click.echo(f"These rules are for {STARTING_SETS[agent]}. Next:")
    for what, line in _next_steps(shlex.quote(str(folder)), agent):
        click.echo(f"\n  # {what}\n  {visible(line)}")


def all_files_of(agent: str) -> Mapping[str, bytes]:
    """Return the files of a set, with lists of the tools that coding agents have of their own."""
    files = files_of(agent)
    if agent != "coding-agent":
        return files
    lists = {f"{name}.json": f"{tools_list(name)}\n".encode() for name in with_own_tools()}
    return dict(sorted({**files, **lists}.items()))


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files; end the command if the folder holds anything, or cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if next(folder.iterdir(), None) is not None:
            exit_with(f"{folder} is not empty: name a new folder")
        for name, content in files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            # Never overwrites, even what another program has just written.
            with open(file, "xb") as stream:
                stream.write(content)
    except OSError as error:
        place = os.fsdecode(error.filename) if error.filename else str(folder)
        exit_with(f"{place} cannot be written: {error.strerror or error}")


def _next_steps(folder: str, agent: str) -> Iterator[tuple[str, str]]:
    yield (
        "change the rules, then check and test them; --watch does so at every save",
        (f"placet check {folder} --watch"),
    )
    yield "ask how a call is decided, and why", f"placet explain {folder} {_EXAMPLES[agent]}"
    if agent == "coding-agent":
        yield (
            "put the rules in front of your coding agent: first look, then without --dry-run",
            (f"placet hook claude-code --policy {folder} --install --dry-run"),
        )
    elif agent == "research":
        yield (
            "serve the built-in tools under these rules to an MCP client",
            (f"placet serve {folder} --workspace ~/research"),
        )
    elif agent == "gateway":
        yield (
            "put the rules before the MCP servers of a client: first look, then without --dry-run",
            (f"placet gateway {folder} --wrap .mcp.json --dry-run"),
        )
    else:
        yield (
            "decide calls of your own program, one JSON line each",
            (f"placet decide {folder} < calls.jsonl"),
        )


_EXAMPLES = {
    "coding-agent": "--command 'git status && cat .env'",
    "support": """--tool refund --input '{"order": "o-1", "amount": 200}'""",
    "research": """--tool web_fetch --input '{"url": "https://news.example/story"}'""",
    "gateway": """--tool tickets__close_ticket --input '{"ticket": "t-1", "state": "solved"}'""",
    "data": """--tool run_query --input '{"query": "select email from customers"}'""",
}

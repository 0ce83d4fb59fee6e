"""`placet status`: whether a policy is in force and current, and what is frozen."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import click

from policy.cli.approver_groups import groups_without_members, note_on_groups
from policy.cli.emergency_stop import Shape
from policy.cli.fast_paths import fast_paths
from policy.cli.loading import exit_with, prefix
from policy.cli.options import format_option
from policy.daemon import daemons
from policy.diagnostics import visible
from policy.generation import read_policy
from policy.store import Freezer, Status, first_error, health_record

# The exit status for each state.
CODES = {"up": 0, "down": 1, "stale": 3, "frozen": 4}
UNREACHABLE = 5
_SECONDS = 10
_LARGEST = 1_000_000  # bytes
_LONGEST = 500
# By whether the status is that of the files.
_NOTHING = {
    False: "nothing is in force",
    True: "a server that starts now would deny everything",
}


@click.command("status")
@click.argument("path", type=click.Path(path_type=Path), default="rules")
@click.option("--url", metavar="URL", help="Ask a server over HTTP, and read no files.")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The server's bearer token; without it a server reports one word.",
)
@format_option
def command(path: Path, *, url: str | None, token_file: Path | None, format: Shape) -> None:
    """Show whether the policy at PATH loads and what is frozen, or the status of a server.

    From the files, this is what a server that starts now would do, and beside it what each running
    daemon for hooks has in force. Only a running server knows what it has in force, and whether
    that is stale: ask it with --url.

    \b
    Examples:
      placet status rules/
      placet status --url http://127.0.0.1:8642 --token-file token --format json

    Exit status: 0 in force and up to date, 1 nothing in force, 2 wrong usage, 3 stale, 4 a tool is
    frozen, 5 the server cannot be reached.
    """
    found = status_of_files(path) if url is None else _of_server(url, token_file)
    click.echo(json.dumps(found) if format == "json" else "\n".join(_lines(found)))
    raise SystemExit(CODES[found["state"]])


def status_of_files(path: Path) -> dict[str, Any]:
    """Return what a server that starts now would have in force, and what daemons have."""
    ways = fast_paths()
    built = read_policy(path, engine=ways.engine, shortcuts=ways.shortcuts)
    force = built.generation
    status = Status(
        generation=None if force is None else force.id,
        stale_since=None,
        because=first_error(built.diagnostics),
        diagnostics=built.diagnostics,
        checked_at=datetime.now(UTC),
    )
    empty = () if force is None else groups_without_members(force)
    return {
        **health_record(status, Freezer.of(path).current()),
        "daemons": _daemons_of(path),
        "groups_without_members": [group.name for group in empty],
        "notes": [note_on_groups(empty, root=prefix(path))] if empty else [],
    }


def _daemons_of(path: Path) -> list[dict[str, Any]]:
    """Return what the running daemons of the policy have in force, one record a project."""
    try:
        found = daemons()
    except OSError:  # their folder cannot be used, and then there are none
        return []
    policy = os.path.realpath(path)
    return [
        {"pid": each["pid"], "project": project["folder"], "policy": project["policy"]}
        for each in found
        if each["problem"] is None and os.path.realpath(each["policy"]) == policy
        for project in each["projects"]
    ]


def _of_server(url: str, token_file: Path | None) -> dict[str, Any]:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        exit_with(f"--url takes the address of a server, such as http://127.0.0.1:8642, not {url}")
    asked = urlunsplit((parts.scheme, parts.netloc, "/healthz", "", ""))
    request = urllib.request.Request(asked)  # noqa: S310 - the scheme is one of two
    if token_file is not None:
        token = token_file.read_text("utf-8").strip()
        request.add_header("Authorization", f"Bearer {token}")
    try:
        try:
            answer = urllib.request.urlopen(request, timeout=_SECONDS)  # noqa: S310 - as above
        except urllib.error.HTTPError as error:
            answer = error  # 503 has a body that says why
        with answer:
            found = json.loads(answer.read(_LARGEST))
        if found["state"] not in CODES:
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError) as error:
        exit_with(f"{asked} gives no answer: {type(error).__name__}: {error}", code=UNREACHABLE)
    return dict(found)


def _lines(found: dict[str, Any]) -> list[str]:
    """Return the status for people; without the token a server reports only the first line."""
    force = found.get("generation")
    lines = [str(found["state"])]
    if force:
        lines.append(f"in force: generation {force['number']} {visible(force['digest'], 80)}")
    if found.get("because"):
        since = f" since {visible(found['stale_since'], 40)}" if found.get("stale_since") else ""
        what = "stale" if force else _NOTHING["daemons" in found]
        lines.append(f"{what}{since}, because {visible(found['because'], _LONGEST)}")
    for one in found.get("freezes", ()):
        tools = visible(", ".join(one["tools"]), _LONGEST)
        by = f" by {visible(one['by'], 80)}" if one["by"] else ""
        lines.append(f"frozen{by}: {tools}, because {visible(one['because'], _LONGEST)}")
    lines += [
        f"the daemon for hooks, process {each['pid']}, in {visible(each['project'], _LONGEST)}: "
        f"{visible(each['policy'], 2 * _LONGEST)}"
        for each in found.get("daemons", ())
    ]
    lines += [f"note: {visible(note, 2 * _LONGEST)}" for note in found.get("notes", ())]
    return lines

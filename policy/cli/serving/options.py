"""The options of commands that serve MCP clients, and what they mean."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from policy.approvals import ApprovalOutcome
from policy.cli.approvers import Asked, scripted_answers
from policy.cli.loading import exit_with
from policy.cli.options import cache_option, path_argument
from policy.diagnostics import visible

# `policy.proxy` needs the extra `mcp`; without it, the command says so.
if TYPE_CHECKING:
    from policy.proxy import Address

_SHORTEST_TOKEN = 16

_BEFORE = (
    path_argument,
    click.option(
        "--workspace",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="The folder that the tools work in.  [default: as configured, else the current "
        "folder]",
    ),
)
_AFTER = (
    click.option("--http", "address", metavar="HOST:PORT", help="Serve HTTP instead of stdio."),
    click.option(
        "--token-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="The file with the bearer token of HTTP clients. Without it every call is denied.",
    ),
    click.option(
        "--allow-host",
        "names",
        multiple=True,
        metavar="NAME",
        help="Another host name by which HTTP clients may address this server.",
    ),
    click.option(
        "--approve",
        type=click.Choice(["queue", "terminal", "deny"]),
        help="How asks are answered: with `placet approvals`, on this terminal (only with --http), "
        "or by denying them.  [default: queue if the policy has `[approvals]`, else deny]",
    ),
    click.option(
        "--approve-script",
        "script",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="For demos and tests: a file of answers to asks, one a line, `yes` or `no`.",
    ),
    click.option(
        "--audit",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Append a record of every call to this file, as JSON lines.",
    ),
    click.option(
        "--policy-in-workspace",
        is_flag=True,
        help="Serve even if the policy is in the workspace, where tools could reach it.",
    ),
    click.option(
        "--agent", metavar="NAME", help="The agent that calls.  [default: as in `[serve]`]"
    ),
    cache_option,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingOptions:
    """The options as they are given. `address` None: stdio. `audit` is absolute.

    `token` is the one token of all HTTP clients, `answers` are those of a script.
    """

    path: Path
    workspace: Path | None
    address: Address | None
    token: str | None
    approve: Asked | None
    answers: tuple[ApprovalOutcome, ...] | None
    audit: Path | None
    policy_in_workspace: bool
    agent: str | None
    files: tuple[Path, ...]


def serving_options(
    *between: Callable[..., Any],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options of serving, with `between` in their midst; the command gets them read."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def read(
            path: Path,
            *,
            workspace: Path | None,
            address: str | None,
            token_file: Path | None,
            names: tuple[str, ...],
            approve: Asked | None,
            script: Path | None,
            audit: Path | None,
            policy_in_workspace: bool,
            agent: str | None,
            **others: Any,
        ) -> None:
            if find_spec("mcp") is None:
                exit_with("serving needs the extra `mcp`: install placet[mcp]")
            if address is None and (approve == "terminal" or token_file is not None or names):
                exit_with("--approve terminal, --token-file and --allow-host need --http")
            options = ServingOptions(
                path=path,
                workspace=workspace,
                address=None if address is None else _address(address, names),
                token=None if token_file is None else _token(token_file),
                approve=approve,
                answers=None if script is None else scripted_answers(script),
                audit=None if audit is None else Path(os.path.abspath(audit)),
                policy_in_workspace=policy_in_workspace,
                agent=agent,
                files=tuple(file for file in (token_file, script) if file is not None),
            )
            command(options, **others)

        wrapped: Callable[..., None] = read
        for option in reversed((*_BEFORE, *between, *_AFTER)):
            wrapped = option(wrapped)
        return wrapped

    return decorated


def _address(text: str, names: tuple[str, ...]) -> Address:
    from policy.proxy import Address

    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65_535):
        exit_with(f"--http takes HOST:PORT, such as 127.0.0.1:8642, not {visible(text, 80)}")
    return Address(host=host, port=int(port), names=names)


def _token(file: Path) -> str:
    try:
        token = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        exit_with(f"{file} cannot be read: {error}")
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        exit_with(f"{file} does not contain a token of at least {_SHORTEST_TOKEN} plain characters")
    return token

"""`placet serve`: serves the governed tools over MCP, on stdio or HTTP."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from policy.approvals import Filed, StoreUnusable
from policy.audit import AuditFileUnfit
from policy.cli.approvers import Asked, approval_mode, scripted_answers
from policy.cli.fast_paths import fast_paths
from policy.cli.governed_service import GovernedServices, ServeOptions
from policy.cli.loading import exit_with
from policy.cli.options import cache_option, path_argument
from policy.cli.python_tools import python_tools
from policy.diagnostics import visible
from policy.service import PolicyInReach, policy_in_reach
from policy.store import PolicyStore, Reloaded, health_record
from policy.tools import builtin_handlers, running_tool

# `policy.proxy` needs the extra `mcp`; without it, the command says so.
if TYPE_CHECKING:
    from policy.proxy import Address

_SHORTEST_TOKEN = 16


@click.command("serve")
@path_argument
@click.option(
    "--workspace",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder that the tools work in.  [default: as configured, else the current folder]",
)
@click.option(
    "--tools",
    "targets",
    multiple=True,
    metavar="MODULE:OBJECT",
    help="Serve these tools of your own as well: a tool, or a list of them.",
)
@click.option("--http", "address", metavar="HOST:PORT", help="Serve HTTP instead of stdio.")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The file with the bearer token of HTTP clients. Without it every call is denied.",
)
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME",
    help="Another host name by which HTTP clients may address this server.",
)
@click.option(
    "--approve",
    type=click.Choice(["queue", "terminal", "deny"]),
    help="How asks are answered: with `placet approvals`, on this terminal (only with --http), or "
    "by denying them.  [default: queue if the policy has `[approvals]`, else deny]",
)
@click.option(
    "--approve-script",
    "script",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="For demos and tests: a file of answers to asks, one a line, `yes` or `no`.",
)
@click.option(
    "--audit",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Append a record of every call to this file, as JSON lines.",
)
@click.option(
    "--policy-in-workspace",
    is_flag=True,
    help="Serve even if the policy, or a module of --tools, is in the workspace.",
)
@click.option("--agent", metavar="NAME", help="The agent that calls.  [default: as in `[serve]`]")
@cache_option
def command(
    path: Path,
    *,
    workspace: Path | None,
    targets: tuple[str, ...],
    address: str | None,
    token_file: Path | None,
    names: tuple[str, ...],
    approve: Asked | None,
    script: Path | None,
    audit: Path | None,
    policy_in_workspace: bool,
    agent: str | None,
) -> None:
    """Serve the tools to MCP clients, governed by the policy at PATH, until the client disconnects.

    The files are watched: an edit takes effect with the next call; an invalid one changes nothing.
    Changes of the policy are reported on standard error, one a line.

    \b
    Examples:
      placet serve rules/ --workspace ~/project
      placet serve rules/ --workspace ~/project --tools shop:tools
      placet serve rules/ --workspace ~/project --http 127.0.0.1:8642 --token-file token
    """
    if find_spec("mcp") is None:
        exit_with("serving needs the extra `mcp`: install placet[mcp]")
    if address is None and (approve == "terminal" or token_file is not None or names):
        exit_with("--approve terminal, --token-file and --allow-host need --http")
    where = None if address is None else _address(address, names)
    token = None if token_file is None else _token(token_file)
    answers = None if script is None else scripted_answers(script)
    program = python_tools(targets, beside_builtin=True)
    serving = ServeOptions(
        workspace=workspace,
        tools=program.handlers,
        audit=None if audit is None else Path(os.path.abspath(audit)),
        agent=agent,
        approving=lambda settings: approval_mode(
            approve, answers, policy=path, settings=settings, heard=_tell_question
        ),
        authenticated=where is None or token is not None,
        policy_in_workspace=policy_in_workspace,
    )
    _log_to_stderr()
    from policy.proxy import keep

    ways = fast_paths()
    store = PolicyStore(
        path,
        tools=map(running_tool, (*builtin_handlers(), *program.handlers)),
        on_change=(_tell,),
        # These files decide who calls, what is answered, or what runs, from the next start on.
        guarded=[*(file for file in (token_file, script) if file is not None), *program.files],
        audit=audit,
        remembering=ways.remembering,
        engine=ways.engine,
        shortcuts=ways.shortcuts,
    )
    try:
        governed = GovernedServices(store, serving, listener=keep)
    except (AuditFileUnfit, StoreUnusable) as error:
        exit_with(str(error))
    except PolicyInReach as error:
        exit_with(f"{error}: keep them apart, or insist with --policy-in-workspace")
    if not os.path.isdir(governed.workspace):
        exit_with(f"the workspace {governed.workspace} is not a folder: name one with --workspace")
    if not policy_in_workspace:
        _require_outside(program.files, governed.workspace)
    for file in (audit, governed.approving.store):
        if file is not None:
            _require_apart(file, governed.workspace)
    _warn_of_policy_in_reach(store.path, governed.workspace)
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(store, governed, where, token=token))


async def _serve(
    store: PolicyStore, governed: GovernedServices, where: Address | None, *, token: str | None
) -> None:
    from policy.proxy import ListChanges, serve_http, serve_stdio, tool_server

    try:
        await governed.approving.begin(governed.caller.session)
    except StoreUnusable as error:
        exit_with(str(error))
    changes = ListChanges()
    server = tool_server(governed, changes)

    async def serve() -> None:
        if where is None:
            _print(_welcome("stdio", governed))
            await serve_stdio(server)
            return
        await serve_http(
            server,
            where,
            token=token,
            listening=lambda url: _print(_welcome(url, governed)),
            health=lambda: health_record(store.status, store.freezer.current()),
        )

    async with store.watch(), changes.notifying():
        ended = store.subscribe(lambda outcome: changes.changed() if outcome.changed else None)
        try:
            await _until_signalled(serve, before_end=lambda: governed.approving.leave())
        except OSError as error:
            if where is None:
                raise
            exit_with(f"{where.shown}:{where.port} cannot be bound: {error.strerror or error}")
        finally:
            ended()


async def _until_signalled(
    serve: Callable[[], Coroutine[Any, Any, None]], *, before_end: Callable[[], None]
) -> None:
    """Serve until that ends by itself or a signal asks for the end.

    A second signal hastens it: open connections get no more time. Running calls are still ended
    and recorded, so the handlers stay.
    """
    loop = asyncio.get_running_loop()
    serving = asyncio.create_task(serve())
    asked = False

    def end() -> None:
        nonlocal asked
        if not asked:
            asked = True
            before_end()
        serving.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    await asyncio.wait({serving})
    error = None if serving.cancelled() else serving.exception()
    # Errors of connections that are ended, or whose client is gone, do not matter.
    if error is not None and not asked and not _is_client_gone(error):
        raise error


def _is_client_gone(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_client_gone(inner) for inner in error.exceptions)
    return isinstance(error, BrokenPipeError | ConnectionResetError)


def _welcome(how: str, governed: GovernedServices) -> str:
    serving = governed.serving
    caller = governed.caller
    who = visible(f"{caller.role} as agent {caller.agent}", 200)
    asks = visible(governed.approving.description, 300)
    if not serving.authenticated:
        who, asks = "anonymous callers", "every call is denied without --token-file"
    return f"serving on {how} for {who}; workspace {governed.workspace}; {asks}"


def _tell(outcome: Reloaded) -> None:
    status, milliseconds = outcome.status, f"{outcome.milliseconds:.0f} ms"
    because = visible(status.because or "", 500)
    force = status.generation
    if force is None:
        _print(f"no policy in force, everything is denied: {because} ({milliseconds})")
        return
    named = f"generation {force.number} {force.digest[:19]}"
    if status.stale:
        _print(f"stale: {named} stays in force: {because} ({milliseconds})")
        return
    _print(f"{named} in force ({milliseconds})")


def _tell_question(filed: Filed) -> None:
    request = filed.request
    if filed.state != "pending" or filed.people:
        return
    what = visible(f"agent {request.caller.agent} asks to run {request.tool}", 300)
    _print(f"{what}: placet approvals show {visible(request.id[:8])}")


def _print(line: str) -> None:
    with suppress(OSError):  # standard error may be closed
        click.echo(f"placet: {line}", err=True)


def _require_apart(audit: Path, workspace: str) -> None:
    """End the command if records could not be written, or if tools could change them."""
    folder = os.path.realpath(audit.parent)
    if not os.access(folder, os.W_OK):
        exit_with(f"{audit} cannot be written: the folder {folder} does not exist")
    if os.path.commonpath((folder, workspace)) == workspace:
        exit_with(f"{audit} is in the workspace, where tools could change it")


def _require_outside(files: Iterable[str], workspace: str) -> None:
    """End the command if a tool could change the code of tools, which no rule would judge."""
    inside = [file for file in files if os.path.commonpath((file, workspace)) == workspace]
    if inside:
        exit_with(
            f"{inside[0]} is in the workspace, where tools could change it: keep them apart, or "
            "insist with --policy-in-workspace"
        )


def _warn_of_policy_in_reach(policy: str, workspace: str) -> None:
    """Warn if a program that a tool runs could write the policy: the floor cannot see all of it."""
    found = policy_in_reach(policy, workspace)
    if found is not None:
        _print(f"warning: {found}: programs that tools run could change it")


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


class _OneLine(logging.Formatter):
    """Log records as single lines, with the kind of an exception instead of its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        kind = record.exc_info[0] if record.exc_info else None
        why = "" if kind is None else f" ({kind.__name__})"
        return f"placet: {visible(record.getMessage(), 500)}{why}"


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)

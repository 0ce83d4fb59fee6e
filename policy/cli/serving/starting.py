"""Puts together the policy store and the governed service of a server; checks where they are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from policy.approvals import StoreUnusable
from policy.audit import AuditFileUnfit
from policy.cli.approvers import approval_mode
from policy.cli.fast_paths import fast_paths
from policy.cli.loading import exit_with
from policy.cli.python_tools import ProgramTools
from policy.cli.serving.governed_service import GovernedServices, ServeOptions
from policy.cli.serving.messages import ReloadReporter, log_to_stderr, say, say_question
from policy.cli.serving.options import ServingOptions
from policy.cli.serving.sandbox_line import sandbox_line
from policy.diagnostics import visible
from policy.environment import WorkspaceUnusable, policy_in_reach
from policy.service import PolicyInReach, SessionLogUnusable
from policy.store import PolicyStore
from policy.tools import builtin_handlers, running_tool


def start(
    options: ServingOptions,
    program: ProgramTools,
    *,
    builtin_tools: bool = True,
) -> tuple[PolicyStore, GovernedServices]:
    """Return the store and the service of a server; end the command if it cannot be served."""
    serving = ServeOptions(
        workspace=options.workspace,
        tools=program.handlers,
        audit=options.audit,
        agent=options.agent,
        approving=lambda settings: approval_mode(
            options.approve,
            options.answers,
            policy=options.path,
            settings=settings,
            heard=say_question,
        ),
        token=options.token,
        over_http=options.address is not None,
        policy_in_workspace=options.policy_in_workspace,
        builtin_tools=builtin_tools,
    )
    log_to_stderr()
    from policy.proxy import keep

    ways = fast_paths()
    builtin = builtin_handlers() if builtin_tools else ()
    store = PolicyStore(
        options.path,
        tools=map(running_tool, (*builtin, *program.handlers)),
        on_change=(ReloadReporter(),),
        # These files decide who calls, what is answered, or what runs, from the next start on.
        guarded=[*options.files, *program.files],
        audit=options.audit,
        remembering=ways.remembering,
        engine=ways.engine,
        shortcuts=ways.shortcuts,
    )
    try:
        governed = GovernedServices(store, serving, listener=keep)
    except (AuditFileUnfit, SessionLogUnusable, StoreUnusable, WorkspaceUnusable) as error:
        exit_with(str(error))
    except PolicyInReach as error:
        exit_with(f"{error}: keep them apart, or insist with --policy-in-workspace")
    _check_folders(options, program, store, governed)
    generation = store.current
    if builtin_tools and generation is not None:
        line = sandbox_line(generation.settings.sandbox)
        if line is not None:
            say(line)
    return store, governed


def _check_folders(
    options: ServingOptions, program: ProgramTools, store: PolicyStore, governed: GovernedServices
) -> None:
    if not os.path.isdir(governed.workspace):
        exit_with(f"the workspace {governed.workspace} is not a folder: name one with --workspace")
    if not options.policy_in_workspace:
        _require_outside(program.files, governed.workspace)
    if options.token is not None:
        _require_other_token(options.token, governed)
    for file in (options.audit, governed.approving.store):
        if file is not None:
            _require_apart(file, governed.workspace)
    _warn_of_policy_in_reach(store.path, governed.workspace)


def _require_other_token(token: str, governed: GovernedServices) -> None:
    """End the command if nobody could tell whose token this is."""
    digest = hashlib.sha256(token.encode()).hexdigest()
    same = [one.name for one in governed.clients.clients if one.token_digest == digest]
    if same:
        exit_with(f"the token of --token-file is that of the client {visible(same[0], 100)} too")


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
        say(f"warning: {found}: programs that tools run could change it")

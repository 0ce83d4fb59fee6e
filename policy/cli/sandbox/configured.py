"""The sandbox that a policy configures, for a command that was given that policy's path."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from policy.cli.loading import exit_with, generation_at
from policy.cli.options import policy_path
from policy.generation import SandboxSettings, Settings
from policy.sandbox import (
    CannotConfine,
    SandboxPlan,
    led_elsewhere,
    plan_of,
    protected_paths,
    writable_folders,
)

_DEFAULT = "rules"


def _policy_if_any(
    context: click.Context, parameter: click.Parameter, given: str | None
) -> Path | None:
    """Return the policy that was named, or the one at the usual place; None if nothing is there."""
    if given is None and not os.path.lexists(_DEFAULT):
        return None
    return policy_path(context, parameter, _DEFAULT if given is None else given)


rules_option = click.option(
    "--rules",
    "path",
    type=click.Path(),
    callback=_policy_if_any,
    help="The policy whose placet.toml configures the sandbox; `rules` unless it is named. Where "
    "there is none, the command is confined as without configuration.",
)
workspace_option = click.option(
    "--workspace",
    type=click.Path(exists=True, file_okay=False),
    help="The folder to work in; the default is that of placet.toml, or the current one.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredSandbox:
    """What is configured, and what a command that starts now may touch by it.

    `links` are the configured paths that lead over a symbolic link, and where each leads.
    """

    settings: SandboxSettings
    plan: SandboxPlan
    links: Mapping[str, str]


def configured_sandbox(path: Path | None, workspace: str | None) -> ConfiguredSandbox:
    """Return the sandbox of the policy at `path`, or end the command and say what is wrong.

    Without a path, it is the one that nothing configures, and people are told. `workspace` is where
    its commands work, None: as configured.
    """
    if path is None:
        click.echo(f"note: no policy is at `{_DEFAULT}`, so nothing is configured", err=True)
        settings, kept = Settings(), frozenset[str]()
    else:
        generation = generation_at(path, None)
        settings, kept = generation.settings, protected_paths(generation.floor)
    workspace = os.path.realpath(workspace or settings.service.workspace or os.getcwd())
    home = settings.service.home or os.path.expanduser("~")
    try:
        plan = plan_of(
            settings.sandbox.reach,
            folder=workspace,
            home=home,
            workspace=workspace,
            kept=kept,
            writable=writable_folders(settings),
        )
    except CannotConfine as error:
        exit_with(f"no command can be confined as configured: {error}", code=1)
    reach = settings.sandbox.reach
    links = led_elsewhere((*reach.reads, *reach.writes), home)
    return ConfiguredSandbox(settings=settings.sandbox, plan=plan, links=links)

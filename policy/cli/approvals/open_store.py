"""Opens the store of a policy's approvals, for the person who runs the command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click

from policy.approvals import Filed, Person, SqliteApprovals, StoreUnusable
from policy.cli.loading import WRONG_POLICY, exit_with, prefix
from policy.cli.person import person_of
from policy.diagnostics import Diagnostic, has_errors, render
from policy.generation import (
    SETTINGS_FILE,
    ApprovalSettings,
    Settings,
    approvals_path,
    decode,
    read_folder,
    read_settings,
)
from policy.model import Source

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyApprovals:
    """The configuration and the store for answering requests about one policy."""

    policy: Path
    settings: ApprovalSettings
    store: Path

    @property
    def person(self) -> Person:
        """The user of the operating system who runs this; an identity is never just claimed."""
        return person_of(self.settings)

    def run(self, work: Callable[[SqliteApprovals, datetime], Awaitable[_Result]]) -> _Result:
        """Open the store, do `work` with it now, and close it; end the command if that fails.

        A store that does not exist yet is empty, and reading does not create it.
        """
        if not self.store.exists():
            exit_with(f"there have been no requests yet: there is no {self.store}")
        return asyncio.run(self._run(work))

    async def _run(
        self, work: Callable[[SqliteApprovals, datetime], Awaitable[_Result]]
    ) -> _Result:
        try:
            async with SqliteApprovals(self.store) as store:
                return await work(store, datetime.now(UTC))
        except StoreUnusable as error:
            exit_with(str(error))


def approvals_at(policy: Path) -> PolicyApprovals:
    """Return the configuration and the store for requests about a policy.

    Only its configuration is read, so that answers can be given while its rules are invalid.
    """
    settings = _settings(policy).approvals
    return PolicyApprovals(
        policy=policy,
        settings=settings or ApprovalSettings(),
        store=approvals_path(policy, settings),
    )


async def all_requests(store: SqliteApprovals, now: datetime) -> tuple[Filed, ...]:
    """Return every request that is kept, with its state now, in the order of the last change."""
    found = [await store.get(filed.request.id, now=now) for filed in await store.since(0)]
    return tuple(filed for filed in found if filed is not None)


def request_by_prefix(found: tuple[Filed, ...], wanted: str) -> Filed:
    """Return the request whose id has this prefix; end the command if there is not exactly one."""
    matching = [filed for filed in found if wanted and filed.request.id.startswith(wanted)]
    exact = [filed for filed in matching if filed.request.id == wanted]
    if not matching:
        exit_with(f"no request is called {wanted}: `placet approvals list` lists the pending ones")
    if len(exact or matching) > 1:
        exit_with(f"{len(matching)} requests begin with {wanted}: give more of the id")
    return (exact or matching)[0]


def _settings(policy: Path) -> Settings:
    snapshot = read_folder(policy)
    problem = snapshot.unread.get(SETTINGS_FILE)
    if problem is not None:
        _wrong(policy, (problem,), None)
    file = snapshot.files.get(SETTINGS_FILE)
    if file is None:
        return Settings()
    source, problems = decode(SETTINGS_FILE, file.content, drop_mark=True)
    if source is None:
        _wrong(policy, tuple(problems), None)
        return Settings()
    settings, problems = read_settings(source, root=snapshot.root)
    if has_errors(problems):
        _wrong(policy, tuple(problems), source)
    return settings


def _wrong(policy: Path, problems: tuple[Diagnostic, ...], source: Source | None) -> None:
    sources = {} if source is None else {source.name: source}
    click.echo(render(problems, sources=sources, root=prefix(policy)), err=True, nl=False)
    raise SystemExit(WRONG_POLICY)

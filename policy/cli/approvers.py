"""Who answers asks, by `--approve` and `--approve-script`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import click

from policy.approvals import (
    ApprovalGate,
    ApprovalOutcome,
    ApprovalRequest,
    Approved,
    Approver,
    Denied,
    Filed,
    Ledger,
    Person,
    ScriptedApprover,
    SqliteApprovals,
    TerminalApprover,
)
from policy.cli.loading import exit_with
from policy.cli.person import person_of
from policy.generation import ApprovalSettings, approvals_path

Asked: TypeAlias = Literal["queue", "terminal", "deny"]

# Returns the configuration now: who belongs to which group follows every edit.
SettingsNow: TypeAlias = Callable[[], ApprovalSettings | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalMode:
    """How asks are answered: by which approver, with which ledger, and how that is displayed.

    `ask` None: they are denied. `ledger` None: nothing outlives the process. `store` is the file
    of pending requests.
    """

    ask: Approver | None = None
    gate: ApprovalGate | None = None
    ledger: Ledger | None = None
    store: Path | None = None
    description: str = "asks are denied"

    async def begin(self, session: str) -> None:
        """Reset the number of requests of a session; what was refused in it stays refused.

        One that the configuration names is the same after a restart, and would reach its limit for
        good.
        """
        if isinstance(self.ledger, SqliteApprovals):
            await self.ledger.recount(session)

    def leave(self) -> None:
        """Leave requests pending as the process ends: a call that asks again resumes them."""
        if self.gate is not None:
            self.gate.leave()


def approval_mode(
    asked: Asked | None,
    script: tuple[ApprovalOutcome, ...] | None,
    *,
    policy: Path,
    settings: SettingsNow,
    heard: Callable[[Filed], None] = lambda filed: None,
) -> ApprovalMode:
    """Return how asks are answered; without an option, the policy's configuration decides.

    Raises StoreUnusable if the file for pending requests cannot be used.
    """
    if script is not None:
        return ApprovalMode(
            ask=ScriptedApprover(*script), description="asks are put to the approver"
        )
    match asked or ("deny" if settings() is None else "queue"):
        case "terminal":
            return ApprovalMode(ask=_Terminal(settings), description="asks are put to the approver")
        case "queue":
            path = approvals_path(policy, settings())
            store = SqliteApprovals(path)
            gate = ApprovalGate(store)
            gate.subscribe(heard)
            description = f"asks wait for `placet approvals {policy}`"
            return ApprovalMode(
                ask=_of_clients(gate, settings),
                gate=gate,
                ledger=store,
                store=path,
                description=description,
            )
        case _:
            return ApprovalMode()


def _of_clients(gate: ApprovalGate, settings: SettingsNow) -> Approver:
    """Return an approver that asks the users of clients too, where they may answer."""
    # Only commands that serve clients come here, and they need the extra `mcp` anyway.
    from policy.proxy import ClientApprover

    return ClientApprover(gate, settings)


def scripted_answers(script: Path) -> tuple[ApprovalOutcome, ...]:
    """Return the answers of a script: `yes`, `no` or `no: a reason` a line, `#` comments."""
    try:
        lines = script.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        exit_with(f"{script} cannot be read: {error}")
    found: list[ApprovalOutcome] = []
    for number, line in enumerate(lines, 1):
        word, _, reason = line.partition("#")[0].strip().partition(":")
        match word.strip().lower():
            case "":
                continue
            case "yes" if not reason:
                found.append(Approved(by="script"))
            case "no":
                found.append(Denied(by="script", reason=reason.strip() or None))
            case _:
                exit_with(f"{script}:{number}: an answer is `yes`, `no` or `no: a reason`")
    return tuple(found)


class _Terminal:
    """Asks at this terminal; the person who answers is the user who started the server."""

    def __init__(self, settings: SettingsNow) -> None:
        self._settings = settings
        self._inner = TerminalApprover(
            read=sys.stdin.readline, write=lambda text: click.echo(text, err=True, nl=False)
        )

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Return the answer, on behalf of the user of the operating system."""
        outcome = await self._inner.ask(request)
        person = self._person()
        match outcome:
            case Approved():
                return replace(outcome, by=person.id, groups=person.groups, listed=person.listed)
            case Denied():
                return replace(outcome, by=person.id)
            case _:
                return outcome

    def _person(self) -> Person:
        return person_of(self._settings())

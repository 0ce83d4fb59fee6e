"""Edits of the configuration through a service: owners only, always recorded.

No tool leads here: the host application calls it, on behalf of an owner at the root of all calls.
Agents, guests, and tools in the middle of a call cannot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from policy.config_edit import Configured, Witness, read_value, write_value
from policy.model import (
    Caller,
    ConfigurationRefused,
    NotFound,
    PermissionDenied,
    Reason,
    ToolError,
    Verdict,
)
from policy.runtime import Threads
from policy.service.facade_operations import (
    FacadeOperation,
    Recorded,
    is_owner_at_root,
    is_within_call,
    judged_by,
)
from policy.service.in_flight import ArrivedCall, InFlight, carrying, current_call
from policy.service.judging.adjudicator import Judgement
from policy.service.judging.guards import GuardCell
from policy.tools import ToolOutput
from policy.values import Unreadable

# The name in records: no tool can have such a name.
CONFIGURE = "placet:configure"
# Edits run one after another, as they share the files; calls of tools do not use this thread.
_EDITS = Threads("edits of the configuration", most=1)

_ALLOWED = Reason(rule="configuration", verdict=Verdict.ALLOW, message="the owner may configure")
_REFUSED = Reason(
    rule="configuration",
    verdict=Verdict.DENY,
    message="only the owner may change the configuration",
)


@runtime_checkable
class Configurable(Protocol):
    """A store whose files can be edited key by key."""

    def configure(
        self, key: str, value: Any, *, witness: Witness | None = None, dry_run: bool = False
    ) -> Configured:
        """Set one key, None removing it; blocks while it builds and writes."""
        ...


@dataclass(slots=True, kw_only=True)
class _RequestedEdit:
    """One requested edit, whether a running call requested it, and its outcome."""

    key: str
    value: Any
    dry_run: bool
    inside: bool
    made: Configured | None = None


class Configurations:
    """Makes edits. `recorded` wraps a service in the audit layer."""

    def __init__(self, store: object, guards: GuardCell, *, recorded: Recorded) -> None:
        self._store = store if isinstance(store, Configurable) else None
        self._recorded = recorded(FacadeOperation(_Editing(self._store, guards).execute))

    async def edit(
        self, caller: Caller, key: str, value: Any, *, dry_run: bool = False
    ) -> Configured:
        """Set one key, None removing it; raises what `PolicyStore.configure` raises.

        Raises PermissionDenied unless the caller is an owner at the root of all calls.
        """
        wanted = _RequestedEdit(key=key, value=value, dry_run=dry_run, inside=is_within_call())
        written = write_value(value)
        shown = None if isinstance(written, Unreadable) else written
        input = {"key": str(key), "value": shown, "dry_run": dry_run}
        call = InFlight(caller, ArrivedCall(tool=CONFIGURE, input=wanted))
        try:
            with carrying(call):
                output = await self._recorded.execute(CONFIGURE, input)
        except ToolError:
            await self._undo(wanted.made)
            raise
        made: Configured = output.value
        return made

    async def _undo(self, made: Configured | None) -> None:
        """Undo an edit that could not be recorded."""
        store = self._store
        if store is None or made is None or not made.changed:
            return
        before = None if made.before is None else read_value(made.before)
        await _to_its_end(lambda: store.configure(made.key, before))


class _Editing:
    """Runs inside the audit layer, and makes the edit."""

    def __init__(self, store: Configurable | None, guards: GuardCell) -> None:
        self._store = store
        self._guards = guards

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Make the edit of the current call, if its caller may."""
        call = current_call()
        wanted = None if call is None or call.raw is None else call.raw.input
        if call is None or not isinstance(wanted, _RequestedEdit):
            raise NotFound(name, f"no tool is called `{name}` here")
        if wanted.inside or not is_owner_at_root(call.caller):
            call.judgement = refused = self._judged(input, _REFUSED)
            raise PermissionDenied(name, str(_REFUSED.message), decision=refused.decision)
        call.judgement = self._judged(input, _ALLOWED)
        store = self._store
        if store is None:
            raise ConfigurationRefused("the service has no policy folder to configure")

        if not wanted.dry_run:
            call.begins()

        def witness(planned: Configured) -> None:
            call.judgement = self._judged(_recorded_edit(input, planned), _ALLOWED)

        made = wanted.made = await _to_its_end(
            lambda: store.configure(
                wanted.key, wanted.value, witness=witness, dry_run=wanted.dry_run
            )
        )
        call.judgement = self._judged(_recorded_edit(input, made), _ALLOWED, made=made)
        return ToolOutput(value=made)

    def _judged(self, input: Any, reason: Reason, *, made: Configured | None = None) -> Judgement:
        generation = None if made is None else made.generation.id
        return judged_by(reason, CONFIGURE, input, guards=self._guards, generation=generation)


def _recorded_edit(input: Any, edit: Configured) -> dict[str, Any]:
    """Return the record of an edit: the value before and after, and the digests of the file."""
    return {
        **input,
        "key": edit.key,
        "before": edit.before,
        "after": edit.after,
        "old_digest": edit.old_digest,
        "new_digest": edit.new_digest,
        "looser": edit.looser,
        "changed": edit.changed,
    }


async def _to_its_end(work: Callable[[], Configured]) -> Configured:
    """Run in a thread; if cancelled, wait for the end, so that the record is accurate."""
    running = asyncio.ensure_future(_EDITS.run(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait((running,))
        running.exception()  # the caller is gone, and the files show the outcome
        raise

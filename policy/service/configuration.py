"""Edits of the configuration through a service: owners only, always recorded.

No tool leads here: the host application calls it, on behalf of an owner at the root of all calls.
Agents, guests, and tools in the middle of a call cannot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from policy.config_edit import Configured, Witness, read_value, write_value
from policy.model import Caller, ConfigurationRefused, Reason, ToolError, Verdict
from policy.runtime import Threads
from policy.service.facade_operations import OwnerOperations, Recorded
from policy.service.in_flight import InFlight
from policy.service.judging.guards import GuardCell
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


class Configurations:
    """Makes edits. `recorded` wraps a service in the audit layer."""

    def __init__(self, store: object, guards: GuardCell, *, recorded: Recorded) -> None:
        self._store = store if isinstance(store, Configurable) else None
        self._operations = OwnerOperations(
            guards, allowed=_ALLOWED, refused=_REFUSED, recorded=recorded
        )

    async def edit(
        self, caller: Caller, key: str, value: Any, *, dry_run: bool = False
    ) -> Configured:
        """Set one key, None removing it; raises what `PolicyStore.configure` raises.

        Raises PermissionDenied unless the caller is an owner at the root of all calls.
        """
        written = write_value(value)
        shown = None if isinstance(written, Unreadable) else written
        input = {"key": str(key), "value": shown, "dry_run": dry_run}
        made: Configured | None = None

        async def edit(call: InFlight) -> Configured:
            nonlocal made
            made = await self._made(call, input, key=key, value=value, dry_run=dry_run)
            return made

        try:
            done: Configured = await self._operations.run(caller, CONFIGURE, input, edit)
        except ToolError:
            await self._undo(made)
            raise
        return done

    async def _made(
        self, call: InFlight, input: dict[str, Any], *, key: str, value: Any, dry_run: bool
    ) -> Configured:
        """Make the edit of a call, and add to its record what it was."""
        store = self._store
        if store is None:
            raise ConfigurationRefused("the service has no policy folder to configure")
        if not dry_run:
            call.begins()

        def witness(planned: Configured) -> None:
            call.judgement = self._operations.allowed(CONFIGURE, _recorded_edit(input, planned))

        made = await _to_its_end(
            lambda: store.configure(key, value, witness=witness, dry_run=dry_run)
        )
        call.judgement = self._operations.allowed(
            CONFIGURE, _recorded_edit(input, made), generation=made.generation.id
        )
        return made

    async def _undo(self, made: Configured | None) -> None:
        """Undo an edit that could not be recorded."""
        store = self._store
        if store is None or made is None or not made.changed:
            return
        before = None if made.before is None else read_value(made.before)
        await _to_its_end(lambda: store.configure(made.key, before))


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

"""`PolicyStore`: the one mutable reference to the generation in force.

Readers take the reference and need no lock. Builds run one after another, and a build is published
only if the folder has not changed since it was read, so an older build never replaces a newer one.
After an error the last good generation stays in force, and the status says since when and why.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from policy.catalog import Catalog, RunningTool, ToolSpec, builtin_catalog
from policy.config_edit import Configured, Witness, configure
from policy.decision import Answer, Decision, GenerationId
from policy.diagnostics import Diagnostic, Severity
from policy.generation import (
    Builder,
    Built,
    Generation,
    ProtectedFiles,
    Signature,
    Snapshot,
    absolute_path,
    accept_cache,
    approvals_protected,
    audit_protected,
    chosen_engine,
    is_cut,
    no_collecting,
    read_folder,
    signature,
    state_protected,
    unexpected,
)
from policy.model import EMPTY, Caller, Facts, PolicyInvalid, Source, ToolCall
from policy.program import ALL_SHORTCUTS, Shortcuts
from policy.runtime import Threads
from policy.store.freezer import Freezer
from policy.store.no_generation import refuse_without_generation
from policy.store.running_tools import Registrar, RunningTools
from policy.store.status import Reloaded, Status, first_error
from policy.store.watcher import watch_path
from policy.syntax import Engine

# How often a folder that changes during a build is built again before the last result is published
# anyway; the watcher will look again.
_ROUNDS = 10
# The generation in force counts as stale if the files were not read for this many polls, or for
# this many seconds if that is longer.
_POLLS_MISSED = 5
_OVERDUE = 5.0
_NOT_READ = "the files could not be looked at since"

Subscriber: TypeAlias = Callable[[Reloaded], None]

_ANY_CALLER = Caller()
_NO_FACTS = Facts()


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """What readers see: a generation and its status, swapped as one."""

    generation: Generation | None
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class _BuildInput:
    """What a build depends on: the files, the catalogue's revision, and the protected files."""

    digest: str
    tools: int
    guarded: ProtectedFiles


class PolicyStore:
    """The generation in force for one policy folder or file.

    The first load happens at once; if it fails, `current` is None and everything is denied.
    `poll` and `settle` are in seconds: how often the folder is compared without an event, and how
    long the store waits before it reads an invalid or shortened file again (a save may be half
    done).
    `tools` are those that services will run, known from the first load on.
    `guarded` are files besides those of the policy that no tool may write, and folders in which
    it may write nothing; `audit` is the file of records, with all files kept beside it.
    Without `remembering`, every build checks everything again; `engine` parses the statements
    (`plain=True` is the former name of Lark's); `shortcuts` are those that decisions use. None of
    them changes a result.
    `clock` returns the time, and `ticks` a monotonic time. `freezer` is the emergency stop.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        catalog: Catalog | None = None,
        tools: Iterable[RunningTool] = (),
        poll: float = 1.0,
        settle: float = 0.1,
        on_change: Iterable[Subscriber] = (),
        guarded: Iterable[str | os.PathLike[str]] = (),
        audit: str | os.PathLike[str] | None = None,
        cache: object = None,
        remembering: bool = True,
        engine: Engine = "tables",
        plain: bool = False,
        shortcuts: Shortcuts = ALL_SHORTCUTS,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = absolute_path(path)
        given = builtin_catalog() if catalog is None else catalog
        running = {tool.spec.name: tool for tool in tools}
        self._catalog = given.with_tools(tool.spec for tool in running.values())
        # The revision of the catalogue, and the last one that was tried.
        self._tools = self._tried = 0
        self._running = RunningTools(given)
        self._poll = poll
        self._settle = settle
        self._clock = clock
        self._ticks = ticks
        # When the last completed read of the files began, by `ticks` and by `clock`.
        self._last_read = (ticks(), clock())
        self._watching = 0
        # Reloading has its own thread, so that calls of tools cannot delay it.
        self._thread = Threads("reloading", most=1)
        self._subscribers: tuple[Subscriber, ...] = tuple(on_change)
        self._building = threading.RLock()
        files = frozenset(os.path.abspath(os.fspath(file)) for file in guarded)
        folders = frozenset(file for file in files if os.path.isdir(file))
        protected = ProtectedFiles(files=files - folders, folders=folders)
        protected |= state_protected() if self._path else ProtectedFiles()
        if audit is not None:
            protected |= audit_protected(audit)
        accept_cache(cache)
        self._builder, self._drafts = (
            Builder(
                guarded=protected,
                remembering=remembering,
                engine=chosen_engine(engine, plain=plain),
                shortcuts=shortcuts,
            )
            # The second one builds edits, which do not wait for a reload.
            for _ in range(2)
        )
        places = {name: tool.defined_at for name, tool in running.items()}
        self._builder.running = self._drafts.running = places
        self._editing = threading.Lock()
        self.freezer = Freezer.of(self._path) if self._path else Freezer()
        self._done: _BuildInput | None = None
        self._good: _BuildInput | None = None
        # The signature of the files of the generation in force.
        self._good_signature: Signature = ()
        # The texts of the last build, for showing its diagnostics.
        self._sources: Mapping[str, Source] = EMPTY
        self._state = _State(
            generation=None,
            status=Status(
                generation=None,
                stale_since=None,
                because=None,
                diagnostics=(),
                checked_at=clock(),
            ),
        )
        self.reload()

    @property
    def path(self) -> str:
        """The absolute path of the folder or file, empty where an empty one was given."""
        return self._path

    @property
    def current(self) -> Generation | None:
        """The generation in force; None if none could be loaded yet."""
        return self._state.generation

    @property
    def status(self) -> Status:
        """Which generation is in force, and whether the files differ from it.

        While the files are watched, it is also stale if they were not read for too long.
        """
        status = self._state.status
        if status.stale or not self._is_overdue():
            return status
        return replace(status, stale_since=self._last_read[1], because=_NOT_READ)

    @property
    def catalog(self) -> Catalog:
        """The tools that policies are checked against, besides those that their settings add."""
        return self._catalog

    def decide(
        self, call: ToolCall, caller: Caller = _ANY_CALLER, *, facts: Facts = _NO_FACTS
    ) -> Decision:
        """Return the decision of the generation in force; deny if there is none."""
        return self.answer(call.tool, call.input, caller=caller, facts=facts).decision

    def answer(
        self,
        tool: str,
        input: object,
        *,
        caller: Caller = _ANY_CALLER,
        facts: Facts = _NO_FACTS,
    ) -> Answer:
        """Return the answer of the generation in force to a raw call; deny if there is none."""
        generation = self._state.generation
        if generation is None:
            return refuse_without_generation(tool)
        return generation.answer(tool, input, caller=caller, facts=facts)

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Call `callback` after every change of generation or status; return a function to stop.

        It is called in the thread that reloads, in the order of the changes; if the files were not
        read in time, the event loop that watches them calls it.
        """
        with self._building:
            self._subscribers = (*self._subscribers, callback)

        def stop() -> None:
            with self._building:
                kept = list(self._subscribers)
                with suppress(ValueError):
                    kept.remove(callback)
                self._subscribers = tuple(kept)

        return stop

    def extend_catalog(self, specs: Iterable[ToolSpec]) -> Reloaded:
        """Add tools to the catalogue and check the policy against it again.

        Raises CatalogError if the tools cannot be in one catalogue, and PolicyInvalid if the policy
        has errors with these tools that it does not have without them. Then nothing changes.
        """
        with self._building:
            return self._extend(specs, running=self._builder.running, others_follow=True)

    def register_tools(
        self, tools: Iterable[RunningTool], *, by: Registrar, others_follow: bool = False
    ) -> Reloaded:
        """Add tools that a program runs, by their own definitions; raises like `extend_catalog`.

        With `others_follow`, that the policy names a tool which is not there yet is no reason to
        raise: the policy takes effect once that is added too.
        A list of tools in the policy may add to such a definition. One that contradicts it is an
        error of the policy; a catalogue that the store was given, or another service on this store
        that does, is a CatalogError. Servers' tools run only as they were reviewed, in any case.
        """
        with self._building:
            tools = tuple(tools)
            specs = self._running.definitions(tools, by=by)
            places = {tool.spec.name: tool.defined_at for tool in tools}
            running = {**self._builder.running, **places}
            outcome = self._extend(specs, running=running, others_follow=others_follow)
            self._running.add(by)
            return outcome

    def _extend(
        self, specs: Iterable[ToolSpec], *, running: Mapping[str, str], others_follow: bool
    ) -> Reloaded:
        running_before = self._builder.running
        extended = self._catalog.with_tools(specs, converting=True)
        changed = extended != self._catalog or _differs_in_coercion(extended, self._catalog)
        if not changed and not (running.keys() - running_before.keys() and self._may_list_tools()):
            self._builder.running = self._drafts.running = running
            return self.reload()
        without = self.reload()
        before = self._state
        kept = (self._catalog, self._tools, self._done, self._good, self._good_signature)
        self._tried += 1
        self._catalog, self._tools = extended, self._tried
        self._builder.running = self._drafts.running = running
        with no_collecting():
            outcome = self._look()
        caused = _new_errors(outcome, without)
        if any(found.code != "unknown-tool" or not others_follow for found in caused):
            self._state = before
            self._catalog, self._tools, self._done, self._good, self._good_signature = kept
            self._builder.running = self._drafts.running = running_before
            others = (found for found in outcome.diagnostics if found not in caused)
            raise PolicyInvalid((*caused, *others), sources=self._sources)
        self._notify_if_changed(outcome, before=before)
        return outcome

    def _may_list_tools(self) -> bool:
        """Return whether the policy may list tools of its own."""
        generation = self.current
        if generation is None:
            return True
        catalogue = generation.settings.catalogue
        return bool(catalogue.files or catalogue.servers)

    def guard(
        self,
        *,
        audit: str | os.PathLike[str] | None = None,
        approvals: str | os.PathLike[str] | None = None,
    ) -> None:
        """Protect a file of records or a store of approvals from every tool, despite later edits.

        Code that uses the file named in the configuration calls this too: if another name is
        configured later, the file in use stays protected.
        """
        more = ProtectedFiles() if audit is None else audit_protected(audit)
        more |= ProtectedFiles() if approvals is None else approvals_protected(approvals)
        with self._building:
            for builder in (self._builder, self._drafts):
                builder.guarded |= more
            generation, good = self._state.generation, self._good
            if generation is None or good is None:
                return
            if more.is_in(generation.program.floor):
                # The generation in force protects them already, so it stays.
                self._good = replace(good, guarded=self._builder.guarded)
                if self._done == good:
                    self._done = self._good
                return
            self.reload()

    def configure(
        self,
        key: str,
        value: Any,
        *,
        witness: Witness | None = None,
        dry_run: bool = False,
    ) -> Configured:
        """Set one key of `placet.toml`, None removing it, and put the result in force at once.

        Raises PolicyInvalid and ConfigurationRefused, and then changes nothing. The `generation` of
        the result is the one in force. Blocks while it builds and writes.
        """
        with self._editing:
            current = self.current
            configured = configure(
                self._path,
                key,
                value,
                catalog=self._catalog,
                builder=self._drafts,
                number=1 if current is None else current.id.number + 1,
                witness=witness,
                dry_run=dry_run,
            )
        if dry_run:
            return configured
        reloaded = self.reload()
        if reloaded.generation is None:
            return configured
        return replace(configured, generation=reloaded.generation, diagnostics=reloaded.diagnostics)

    def reload(self) -> Reloaded:
        """Read the files now and, if they are changed and valid, put them in force.

        The watcher does exactly this. Blocks while it reads and builds.
        """
        with self._building, no_collecting():
            before = self._state
            outcome = self._look()
            self._notify_if_changed(outcome, before=before)
        return outcome

    def _look(self) -> Reloaded:
        """Read the files and publish the result, without notifying subscribers."""
        started = time.perf_counter()
        before, began = self._state, (self._ticks(), self._clock())
        try:
            self._bring_up_to_date()
        except Exception as error:  # noqa: BLE001 — watching must survive an error in Placet
            self._done = None
            self._keep_stale((unexpected(error),), self._clock())
        self._last_read = began
        after = self._state
        return Reloaded(
            changed=after.generation is not before.generation,
            generation=after.generation,
            diagnostics=after.status.diagnostics,
            status=after.status,
            milliseconds=(time.perf_counter() - started) * 1000,
        )

    def _notify_if_changed(self, outcome: Reloaded, *, before: _State) -> None:
        """Notify subscribers if the generation or the status has changed."""
        if outcome.changed or _published(before.status) != _published(outcome.status):
            self._notify(outcome)

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[PolicyStore]:
        """Reload in the background whenever the files change, until the block ends."""
        ready = asyncio.Event()
        watching = asyncio.create_task(
            watch_path(
                self._path,
                self._reload_in_thread,
                poll=self._poll,
                ready=ready,
                unchanged=self._found_unchanged,
                ticks=self._ticks,
            )
        )
        listening = asyncio.create_task(ready.wait())
        timing = asyncio.create_task(self._notify_when_overdue())
        try:
            await asyncio.wait((watching, listening), return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                await watching
            # For changes between the last load and the start of listening.
            await self._reload_in_thread()
            self._watching += 1
            try:
                yield self
            finally:
                self._watching -= 1
        finally:
            for task in (listening, watching, timing):
                task.cancel()
            await asyncio.gather(listening, watching, timing, return_exceptions=True)

    async def _reload_in_thread(self) -> None:
        """Reload in a thread, so that calls are still served; cancelling waits for its end."""
        work = asyncio.ensure_future(self._thread.run(self.reload))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await work
            raise

    def _found_unchanged(self, began: float) -> None:
        """Record a look at the files, begun at this time, that found no change."""
        if began > self._last_read[0]:
            self._last_read = (began, self._clock())

    @property
    def _patience(self) -> float:
        return max(_OVERDUE, _POLLS_MISSED * self._poll)

    def _is_overdue(self) -> bool:
        return self._watching > 0 and self._ticks() - self._last_read[0] > self._patience

    async def _notify_when_overdue(self) -> None:
        """Notify subscribers when the files were not read in time, and when they are again."""
        was_overdue, before = False, _published(self._state.status)
        while True:
            await asyncio.sleep(self._patience / 4)
            generation, status, read = self.current, self.status, _published(self._state.status)
            is_overdue = status.because == _NOT_READ
            # A reload in between has notified subscribers itself.
            if is_overdue != was_overdue and (is_overdue or read == before):
                self._notify(
                    Reloaded(
                        changed=False,
                        generation=generation,
                        diagnostics=status.diagnostics,
                        status=status,
                        milliseconds=0.0,
                    )
                )
            was_overdue, before = is_overdue, read

    def _bring_up_to_date(self) -> None:
        """Build until the result matches the files on disk, and publish it."""
        waited: tuple[_BuildInput, Built] | None = None
        for last in (*(False,) * _ROUNDS, True):
            seen = signature(self._path)
            snapshot = read_folder(self._path)
            work = _BuildInput(
                digest=snapshot.digest, tools=self._tools, guarded=self._builder.guarded
            )
            if work == self._done:
                self._set_checked()
                return
            if work == self._good:
                self._restore(work)
                return
            if waited is not None and waited[0] == work:
                built = waited[1]
            else:
                built = self._build(snapshot, work)
                if (built.generation is None or is_cut(self._good_signature, seen)) and not last:
                    # This may be half a save: it is published if it is still there later.
                    waited = (work, built)
                    time.sleep(self._settle)
                    continue
            if last or signature(self._path) == seen:
                self._publish(built, work, seen)
                return

    def _set_checked(self) -> None:
        before = self._state
        self._state = replace(before, status=replace(before.status, checked_at=self._clock()))

    def _build(self, snapshot: Snapshot, work: _BuildInput) -> Built:
        current, good = self._state.generation, self._good
        number = 1 if current is None else current.id.number + 1
        if current is not None and good is not None and replace(good, guarded=work.guarded) == work:
            number = current.id.number  # the same policy, with more protected files
        return self._builder.build(
            snapshot, catalog=self._catalog, number=number, now=self._clock()
        )

    def _publish(self, built: Built, work: _BuildInput, seen: Signature) -> None:
        self._done, self._sources = work, built.sources
        now = self._clock()
        if built.generation is not None:
            self._good, self._good_signature = work, seen
            self._state = _State(
                generation=built.generation,
                status=_fresh(built.generation, built.diagnostics, now),
            )
            return
        self._keep_stale(built.diagnostics, now)

    def _keep_stale(self, diagnostics: tuple[Diagnostic, ...], now: datetime) -> None:
        """Keep the generation in force, and record since when and why it differs from the files."""
        before = self._state
        self._state = _State(
            generation=before.generation,
            status=Status(
                generation=None if before.generation is None else before.generation.id,
                stale_since=before.status.stale_since or now,
                because=first_error(diagnostics),
                diagnostics=diagnostics,
                checked_at=now,
            ),
        )

    def _restore(self, work: _BuildInput) -> None:
        """Reset the status: the files are again those of the generation in force."""
        generation = self._state.generation
        assert generation is not None
        self._done = work
        status = _fresh(generation, generation.warnings, self._clock())
        self._state = _State(generation=generation, status=status)

    def _notify(self, outcome: Reloaded) -> None:
        for subscriber in self._subscribers:
            # An error in a subscriber must not stop the policy or the other subscribers.
            with suppress(Exception):
                subscriber(outcome)


def _differs_in_coercion(tools: Catalog, before: Catalog) -> bool:
    """Return whether a tool, otherwise equal, converts its input in a different way."""
    pairs = zip(tools.specs, before.specs, strict=True)
    return any(one.coerce is not other.coerce for one, other in pairs)


def _new_errors(after: Reloaded, before: Reloaded) -> tuple[Diagnostic, ...]:
    """Return the errors that the files did not have before."""
    had = set(map(_said, before.diagnostics))
    errors = (found for found in after.diagnostics if found.severity is Severity.ERROR)
    return tuple(found for found in errors if _said(found) not in had)


def _said(found: Diagnostic) -> tuple[object, ...]:
    """Return what is wrong, without the advice: that changes with the tools there are."""
    return found.severity, found.code, found.span, found.file, found.message, found.label


def _fresh(generation: Generation, diagnostics: tuple[Diagnostic, ...], now: datetime) -> Status:
    return Status(
        generation=generation.id,
        stale_since=None,
        because=None,
        diagnostics=diagnostics,
        checked_at=now,
    )


def _published(status: Status) -> tuple[GenerationId | None, datetime | None, str | None]:
    return (status.generation, status.stale_since, status.because)

"""`PolicyStore`: the one mutable reference to the generation in force.

Readers take the reference and need no lock. How files get into force is in `publisher.py`, how
they are followed in `following.py`, and how tools are added in `catalog_extension.py`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from policy.catalog import Catalog, RunningTool, ToolSpec, builtin_catalog
from policy.config_edit import Configured, Witness, configure
from policy.decision import Answer, Decision
from policy.generation import (
    Builder,
    Built,
    Generation,
    ProtectedFiles,
    Snapshot,
    absolute_path,
    accept_cache,
    audit_protected,
    chosen_engine,
    database_protected,
    state_protected,
)
from policy.model import Caller, Facts, ToolCall
from policy.program import ALL_SHORTCUTS, Shortcuts
from policy.store.acknowledgements import Acknowledgements
from policy.store.catalog_extension import CatalogExtension
from policy.store.following import Follower
from policy.store.freezer import Freezer
from policy.store.loosening_gate import LooseningGate
from policy.store.no_generation import refuse_without_generation
from policy.store.proving.claim_prover import ClaimProver
from policy.store.proving.edit_comparer import EditComparer
from policy.store.proving.process import ProofProcess
from policy.store.publisher import Publisher
from policy.store.running_tools import Registrar
from policy.store.status import Reloaded, Status
from policy.store.subscribers import Subscriber
from policy.syntax import Engine

_ANY_CALLER = Caller()
_NO_FACTS = Facts()


class PolicyStore:
    """The generation in force for one policy folder or file.

    The first load happens at once; if it fails, `current` is None and everything is denied.
    `poll` and `settle` are in seconds: how often the folder is compared without an event, and how
    long the store waits before it reads an invalid or shortened file again (a save may be half
    done).
    `tools` are those that services will run, known from the first load on.
    `guarded` are files besides those of the policy that no tool may write, and folders in which
    it may write nothing; `audit` is the file of records, with all files kept beside it.
    `agent_settings` are guarded files in the middle of a project: what may write them among others
    asks.
    Without `remembering`, every build checks everything again; `engine` parses the statements
    (`plain=True` is the former name of Lark's); `shortcuts` are those that decisions use. None of
    them changes a result.
    `clock` returns the time, and `ticks` a monotonic time. `freezer` is the emergency stop,
    `acknowledgements` what people
    let take effect although calls may do more under it.
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
        agent_settings: Iterable[str] = (),
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
        listed = builtin_catalog() if catalog is None else catalog
        running = {tool.spec.name: tool for tool in tools}
        accept_cache(cache)
        protected = self._protected(guarded, audit)
        protected |= ProtectedFiles(settings=frozenset(agent_settings))
        process = ProofProcess()
        self._claims = ClaimProver(process)
        # The second one builds edits, which do not wait for a reload.
        builder, self._drafts = (
            Builder(
                guarded=protected,
                remembering=remembering,
                engine=chosen_engine(engine, plain=plain),
                shortcuts=shortcuts,
                proving=self._proved_draft,
            )
            for _ in range(2)
        )
        self.acknowledgements = (
            Acknowledgements.of(self._path) if self._path else Acknowledgements()
        )
        self._publisher = Publisher(
            self._path,
            builder,
            catalog=listed.with_tools(tool.spec for tool in running.values()),
            settle=settle,
            on_change=on_change,
            clock=clock,
            ticks=ticks,
            gate=LooseningGate(self.acknowledgements, EditComparer(process)),
            claims=self._claims,
        )
        self._follower = Follower(self._path, self._publisher, poll=poll, ticks=ticks)
        self._tools = CatalogExtension(
            self._publisher,
            (builder, self._drafts),
            given=listed,
            running={name: tool.defined_at for name, tool in running.items()},
            is_followed=lambda: self._follower.is_following,
        )
        self._editing = threading.Lock()
        self.freezer = Freezer.of(self._path) if self._path else Freezer()
        self.reload()

    def _protected(
        self,
        guarded: Iterable[str | os.PathLike[str]],
        audit: str | os.PathLike[str] | None,
    ) -> ProtectedFiles:
        files = frozenset(os.path.abspath(os.fspath(file)) for file in guarded)
        folders = frozenset(file for file in files if os.path.isdir(file))
        protected = ProtectedFiles(files=files - folders, folders=folders)
        protected |= state_protected() if self._path else ProtectedFiles()
        return protected if audit is None else protected | audit_protected(audit)

    def _proved_draft(self, built: Built, snapshot: Snapshot) -> Built:
        request = self._publisher.request(snapshot)
        return self._claims.proved(built, request, before=self.current, is_wanted=lambda: True)

    @property
    def path(self) -> str:
        """The absolute path of the folder or file, empty where an empty one was given."""
        return self._path

    @property
    def current(self) -> Generation | None:
        """The generation in force; None if none could be loaded yet."""
        return self._publisher.in_force.generation

    @property
    def status(self) -> Status:
        """Which generation is in force, and whether the files differ from it.

        While the files are watched, it is also stale if they were not read for too long.
        """
        return self._follower.status()

    @property
    def catalog(self) -> Catalog:
        """The tools that policies are checked against, besides those that their settings add."""
        return self._publisher.in_force.catalog

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
        generation = self._publisher.in_force.generation
        if generation is None:
            return refuse_without_generation(tool)
        return generation.answer(tool, input, caller=caller, facts=facts)

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Call `callback` after every change of generation or status; return a function to stop.

        It is called in the thread that reloads, in the order of the changes; if the files were not
        read in time, the event loop that watches them calls it.
        """
        return self._publisher.subscribers.add(callback)

    def extend_catalog(self, specs: Iterable[ToolSpec]) -> Reloaded:
        """Add tools to the catalogue and check the policy against it again.

        Raises CatalogError if the tools cannot be in one catalogue, and PolicyInvalid if the policy
        has errors with these tools that it does not have without them. Then nothing changes.
        """
        return self._tools.extend(specs)

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
        return self._tools.register(tools, by=by, others_follow=others_follow)

    def guard(
        self,
        *,
        audit: str | os.PathLike[str] | None = None,
        approvals: str | os.PathLike[str] | None = None,
        history: str | os.PathLike[str] | None = None,
    ) -> None:
        """Protect a file that a service keeps from every tool, despite later edits.

        Code that uses the file named in the configuration calls this too: if another name is
        configured later, the file in use stays protected.
        """
        more = ProtectedFiles() if audit is None else audit_protected(audit)
        for database in (approvals, history):
            more |= ProtectedFiles() if database is None else database_protected(database)
        with self._publisher.lock:
            self._drafts.guarded |= more
            self._publisher.protect(more)

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
        the result is the one in force: where an edit waits that lets calls do more, the one before
        it, and `waiting` is what people acknowledge. Blocks while it builds and writes.
        """
        with self._editing:
            configured = configure(
                self._path,
                key,
                value,
                catalog=self.catalog,
                builder=self._drafts,
                number=self._publisher.next_number,
                witness=witness,
                dry_run=dry_run,
            )
        if dry_run:
            return configured
        reloaded = self.reload()
        if reloaded.generation is None:
            return configured
        found = reloaded.status.loosening
        return replace(
            configured,
            generation=reloaded.generation,
            diagnostics=reloaded.diagnostics,
            waiting=found.digest if found is not None and found.refused else "",
        )

    def acknowledge(self, digest: str, *, by: str = "") -> Reloaded:
        """Let an edit take effect that waits because calls may do more under it.

        `digest` is that of `status.loosening`, and counts for this very difference. `by` is who
        decided it: people only. Raises NotWaiting if nothing waits under this digest.
        """
        self.acknowledgements.acknowledge(digest, by=by)
        return self.reload()

    def reload(self) -> Reloaded:
        """Read the files now and, if they are changed and valid, put them in force.

        The watcher does exactly this. Blocks while it reads and builds.
        """
        return self._publisher.reload()

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[PolicyStore]:
        """Reload in the background whenever the files change, until the block ends."""
        async with self._follower.follow():
            yield self

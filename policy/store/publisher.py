"""Reads and builds the files of a policy, and puts a valid build in force.

Builds run one after another, and a build is published only if the files have not changed since
they were read, so an older build never replaces a newer one. After an error the last good
generation stays in force, and the status says since when and why.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from policy.catalog import Catalog
from policy.diagnostics import Diagnostic, Severity, in_order, visible
from policy.generation import (
    Builder,
    Built,
    Generation,
    ProtectedFiles,
    Signature,
    Snapshot,
    may_be_unfinished,
    no_collecting,
    read_folder,
    signature,
    unexpected,
)
from policy.layers import limits_counting_anew
from policy.model import EMPTY, Source
from policy.store.acknowledgements import Loosening
from policy.store.loosening_gate import LooseningGate, problem_of, warns
from policy.store.proving.claim_prover import ClaimProver
from policy.store.proving.process import ProofsUnwanted
from policy.store.proving.request import BuildRequest, Version
from policy.store.status import Reloaded, Status, first_error
from policy.store.subscribers import Subscriber, Subscribers
from policy.verify import Proof
from policy.verify import problem_of as claim_problem

_LOG = logging.getLogger(__name__)
# How often a folder that changes during a build is built again before the last result is published
# anyway; the watcher will look again.
_ROUNDS = 10
# A comparison that takes no longer is not ended by the next edit, after which the process would
# have to start again.
_PATIENCE = 1.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildInput:
    """What a build depends on: the files, the catalogue's revision, and the protected files."""

    digest: str
    revision: int
    guarded: ProtectedFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """A generation, its status, and what it was built from: replaced as one.

    `built` is the input of the last build, `good` that of the generation in force, `request` what
    another process builds it from, and `files` the signature of its files. `revision` is the
    catalogue's.
    """

    generation: Generation | None
    status: Status
    catalog: Catalog
    revision: int = 0
    built: BuildInput | None = None
    good: BuildInput | None = None
    request: BuildRequest | None = None
    files: Signature = ()

    @property
    def version(self) -> Version | None:
        """The generation as another process can build it, None if nothing is in force."""
        if self.generation is None or self.request is None:
            return None
        return Version(generation=self.generation, request=self.request)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """A valid build that waits until this difference is acknowledged."""

    digest: str
    built: Built
    request: BuildRequest


class Publisher:
    """The owner of what is in force for one path. Readers of `in_force` need no lock.

    `lock` is held while files are read, built and published. `settle` is how many seconds an
    invalid or shortened file is left alone before it is read again. `last_read` is when the last
    completed read of the files began, by `ticks` and by `clock`.
    """

    def __init__(
        self,
        path: str,
        builder: Builder,
        *,
        catalog: Catalog,
        settle: float,
        on_change: Iterable[Subscriber],
        clock: Callable[[], datetime],
        ticks: Callable[[], float],
        gate: LooseningGate,
        claims: ClaimProver,
    ) -> None:
        self._path = path
        self._gate = gate
        self._claims = claims
        # Whether an edit waits until its claims are proved, or until it is compared.
        self.is_proving = self.is_comparing = False
        # An edit that waits to be acknowledged.
        self._waiting: _Waiting | None = None
        # What was in force before edits that took effect and are still to be compared with it.
        self._not_compared: Version | None = None
        self._comparing = threading.Lock()
        self._builder = builder
        self._settle = settle
        self._clock = clock
        self._ticks = ticks
        self.lock = threading.RLock()
        self.subscribers = Subscribers(on_change, changing=self.lock)
        self.last_read = (ticks(), clock())
        # The texts of the last build, for showing its diagnostics.
        self.sources: Mapping[str, Source] = EMPTY
        status = Status(
            generation=None, stale_since=None, because=None, diagnostics=(), checked_at=clock()
        )
        self.in_force = InForce(generation=None, status=status, catalog=catalog)

    @property
    def next_number(self) -> int:
        """The number of the generation that is built next."""
        current = self.in_force.generation
        return 1 if current is None else current.id.number + 1

    def reload(self) -> Reloaded:
        """Read the files, put them in force if they are changed and valid, notify subscribers."""
        return self.compared(self.read_and_notify())

    def read_and_notify(self) -> Reloaded:
        """Do the same without comparing what took effect, for whoever does that later."""
        with self.lock:
            before = self.in_force.status
            outcome = self.read_files()
            self.subscribers.notify_if_changed(outcome, before=before)
        return outcome

    @property
    def has_to_compare(self) -> bool:
        """Whether an edit took effect that is still to be compared with what was in force."""
        return self._not_compared is not None

    def compared(
        self, outcome: Reloaded, *, is_wanted: Callable[[], bool] = lambda: True
    ) -> Reloaded:
        """Compare what took effect with what was in force before; warn if calls may do more.

        Call it without the lock: neither the edit nor the next one waits for this. What is not
        wanted any more, or takes long while another edit takes effect, is ended. Then the next
        edit is compared with what was in force before both.
        """
        with self._comparing:
            with self.lock:
                before, now = self._not_compared, self.in_force
            after = now.version
            if before is None or after is None or not is_wanted():
                return outcome
            found: Loosening | None = None
            gives_way = self._giving_way(now)
            try:
                found = self._gate.warning(
                    before, after, is_wanted=lambda: is_wanted() and not gives_way()
                )
            except ProofsUnwanted:
                return outcome
            except Exception:  # noqa: BLE001 — what is in force is valid without the comparison
                _LOG.exception("the policy could not be compared with the one before")
            with self.lock:
                return self._with_warning(outcome, after, found)

    def _with_warning(
        self, outcome: Reloaded, compared: Version, found: Loosening | None
    ) -> Reloaded:
        latest = self.in_force
        if latest.generation is not compared.generation:
            # The edits since then are still to be compared with this one.
            self._not_compared = compared if warns(compared.generation) else None
            return outcome
        if found is None or not found.is_interrupted:
            self._not_compared = None
        if latest.status.stale:
            return outcome
        status = replace(latest.status, loosening=found)
        self.in_force = replace(latest, status=status)
        return replace(outcome, status=status)

    def _giving_way(self, compared: InForce) -> Callable[[], bool]:
        """Return the test of whether a comparison gives way to an edit since then."""
        until = time.monotonic() + _PATIENCE

        def gives_way() -> bool:
            if self.is_proving or self.is_comparing:
                return True  # an edit waits for the process
            return self.in_force.generation is not compared.generation and time.monotonic() > until

        return gives_way

    def read_files(self) -> Reloaded:
        """Read the files and publish the result, without notifying subscribers."""
        started = time.perf_counter()
        before, began = self.in_force, (self._ticks(), self._clock())
        try:
            self._bring_up_to_date()
        except Exception as error:  # noqa: BLE001 — watching must survive an error in Placet
            self.in_force = replace(self.in_force, built=None)
            self._keep_stale((unexpected(error),), self._clock())
        self.last_read = began
        after = self.in_force
        return Reloaded(
            changed=after.generation is not before.generation,
            generation=after.generation,
            diagnostics=after.status.diagnostics,
            status=after.status,
            milliseconds=(time.perf_counter() - started) * 1000,
        )

    def found_unchanged(self, began: float) -> None:
        """Record a look at the files, begun at this time, that found no change."""
        if began > self.last_read[0]:
            self.last_read = (began, self._clock())

    def protect(self, more: ProtectedFiles) -> None:
        """Build with more protected files from now on, and reload if none protects them yet."""
        with self.lock:
            self._builder.guarded |= more
            now = self.in_force
            if now.generation is None or now.good is None:
                return
            if not more.is_in(now.generation.program.floor):
                self.read_and_notify()
                return
            good = replace(now.good, guarded=self._builder.guarded)
            built = good if now.built == now.good else now.built
            self.in_force = replace(now, good=good, built=built)

    def _bring_up_to_date(self) -> None:
        """Build until the result matches the files on disk, and publish it."""
        waited: tuple[BuildInput, Built] | None = None
        for last in (*(False,) * _ROUNDS, True):
            seen = signature(self._path)
            snapshot = read_folder(self._path)
            work = BuildInput(
                digest=snapshot.digest,
                revision=self.in_force.revision,
                guarded=self._builder.guarded,
            )
            if work == self.in_force.built:
                if self.is_due() and self._waiting is not None:
                    waiting = self._waiting
                    if not self._publish(waiting.built, waiting.request, work, seen, last=last):
                        continue
                else:
                    self._set_checked()
                return
            if work == self.in_force.good:
                self._restore(work)
                return
            if waited is not None and waited[0] == work:
                built = waited[1]
            else:
                try:
                    built = self._build(snapshot, work, None if last else seen)
                except ProofsUnwanted:
                    continue  # the files were edited: the newer edit counts
                unfinished = may_be_unfinished(self.in_force.files, seen)
                if (built.generation is None or unfinished) and not last:
                    # This may be half a save: it is published if it is still there later.
                    waited = (work, built)
                    time.sleep(self._settle)
                    continue
            is_still_so = last or signature(self._path) == seen
            if is_still_so and self._publish(built, self.request(snapshot), work, seen, last=last):
                return

    def is_due(self) -> bool:
        """Return whether an edit that waited has been acknowledged."""
        waiting = self._waiting
        return waiting is not None and self._gate.acknowledgements.is_acknowledged(waiting.digest)

    def _set_checked(self) -> None:
        status = replace(self.in_force.status, checked_at=self._clock())
        self.in_force = replace(self.in_force, status=status)

    def _build(self, snapshot: Snapshot, work: BuildInput, seen: Signature | None) -> Built:
        """Return a build with proofs, which end as soon as the files are not as they were `seen`.

        Raises ProofsUnwanted then.
        """
        current, good = self.in_force.generation, self.in_force.good
        number = self.next_number
        if current is not None and good is not None and replace(good, guarded=work.guarded) == work:
            number = current.id.number  # the same policy, with more protected files
        with no_collecting():
            built = self._builder.build_unproved(
                snapshot, catalog=self.in_force.catalog, number=number, now=self._clock()
            )
        if current is not None:
            built = replace(built, demanded=current.settings.reload.proofs)
        if not built.has_claims:
            return built
        self.is_proving = True
        try:
            return self._claims.proved(
                built,
                self.request(snapshot),
                before=current,
                is_wanted=lambda: seen is None or signature(self._path) == seen,
            )
        finally:
            self.is_proving = False

    def request(self, snapshot: Snapshot) -> BuildRequest:
        """Return what another process builds the policy of these files from."""
        builder = self._builder
        return BuildRequest(
            snapshot=snapshot,
            catalog=self.in_force.catalog,
            running=dict(builder.running),
            guarded=builder.guarded,
        )

    def _publish(
        self, built: Built, request: BuildRequest, work: BuildInput, seen: Signature, *, last: bool
    ) -> bool:
        """Publish a build; return False if the files were edited before it was known to be safe.

        The `last` one is published even so.
        """
        before, refused = self._edited(work), None
        if built.generation is not None:
            after = Version(generation=built.generation, request=request)
            try:
                refused = self._refusal(before, after, None if last else seen)
            except ProofsUnwanted:
                return False
        self.sources = built.sources
        now = self._clock()
        # What was interrupted is tried again by the next reload, whether or not files change.
        again = built.is_interrupted or (refused is not None and refused.is_interrupted)
        self.in_force = replace(self.in_force, built=None if again else work)
        if built.generation is None:
            self._wait_no_longer()
            self._keep_stale(built.diagnostics, now)
            return True
        if refused is not None:
            self._wait_no_longer(but=refused)
            self._waiting = _Waiting(digest=refused.digest, built=built, request=request)
            problems = (problem_of(refused), *built.diagnostics)
            self._keep_stale(problems, now, loosening=refused)
            return True
        self._wait_no_longer()
        _tell_of_new_budgets(self.in_force.generation, built.generation)
        status = _fresh(built.generation, built.diagnostics, now)
        self.in_force = replace(
            self.in_force,
            generation=built.generation,
            status=status,
            good=work,
            request=request,
            files=seen,
        )
        if built.has_unproved_claims:
            self._prove_later(built.generation, request)
        if before is not None and warns(before.generation) and self._not_compared is None:
            # Only later: an edit does not wait for a comparison that only warns.
            self._not_compared = before
        return True

    def _refusal(
        self, before: Version | None, after: Version, seen: Signature | None
    ) -> Loosening | None:
        """Return why an edit must wait.

        Raises ProofsUnwanted if the files are not as they were `seen` any more.
        """
        self.is_comparing = True
        try:
            return self._gate.refusal(
                before,
                after,
                is_wanted=lambda: seen is None or signature(self._path) == seen,
            )
        finally:
            self.is_comparing = False

    def _prove_later(self, generation: Generation, request: BuildRequest) -> None:
        """Prove what took effect without: it only tightens, but the next start needs a proof."""
        self._claims.prove_later(
            generation,
            request,
            is_wanted=lambda: self.in_force.generation is generation,
            tell=lambda proofs: self._tell_of_claims(generation, proofs),
        )

    def _tell_of_claims(self, generation: Generation, proofs: tuple[Proof, ...]) -> None:
        """Add to the status what is wrong with claims that were proved after they took effect."""
        found = tuple(
            replace(problem, severity=Severity.WARNING)
            for problem in map(claim_problem, proofs)
            if problem is not None
        )
        with self.lock:
            now = self.in_force
            if now.generation is not generation or now.status.stale or not found:
                return
            diagnostics = in_order((*now.status.diagnostics, *found))
            self.in_force = replace(now, status=replace(now.status, diagnostics=diagnostics))
        for problem in found:
            _LOG.warning("with generation %s, %s", generation.id.number, problem.message)

    def _edited(self, work: BuildInput) -> Version | None:
        """Return what was in force when files were edited; None for a first one, and new tools.

        A tool that a program adds is no edit of the policy.
        """
        good = self.in_force.good
        same = good is not None and good.digest == work.digest
        return None if same else self.in_force.version

    def _wait_no_longer(self, *, but: Loosening | None = None) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and (but is None or waiting.digest != but.digest):
            self._gate.acknowledgements.forget(waiting.digest)

    def _keep_stale(
        self,
        diagnostics: tuple[Diagnostic, ...],
        now: datetime,
        *,
        loosening: Loosening | None = None,
    ) -> None:
        """Keep the generation in force, and record since when and why it differs from the files."""
        before = self.in_force
        status = Status(
            generation=None if before.generation is None else before.generation.id,
            stale_since=before.status.stale_since or now,
            because=first_error(diagnostics),
            diagnostics=diagnostics,
            checked_at=now,
            loosening=loosening,
        )
        self.in_force = replace(before, status=status)

    def _restore(self, work: BuildInput) -> None:
        """Reset the status: the files are again those of the generation in force."""
        generation = self.in_force.generation
        assert generation is not None
        self._wait_no_longer()
        status = _fresh(generation, generation.warnings, self._clock())
        self.in_force = replace(self.in_force, status=status, built=work)


def _tell_of_new_budgets(before: Generation | None, after: Generation) -> None:
    """Log which limits count something else after an edit: nothing is freed without a word.

    Such a limit may have counted the same before the policy in force, or in another process. So
    what is said is only that what was used under the policy in force does not count for it.
    """
    if before is None or not before.program.has_limits:
        return
    for limit in limits_counting_anew(before.program.policy, after.program.policy):
        _LOG.warning(
            "the limit %s (%s) counts something else than in the policy before: what calls used of "
            "it under that policy does not count any more; `placet limits` shows what does",
            visible(limit.id, 100),
            limit.span,
        )


def _fresh(generation: Generation, diagnostics: tuple[Diagnostic, ...], now: datetime) -> Status:
    return Status(
        generation=generation.id,
        stale_since=None,
        because=None,
        diagnostics=diagnostics,
        checked_at=now,
    )

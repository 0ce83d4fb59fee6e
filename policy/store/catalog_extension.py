"""Adds tools to the catalogue of a store, if its policy stays valid with them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from policy.catalog import Catalog, RunningTool, ToolSpec
from policy.diagnostics import Diagnostic, Severity, visible
from policy.generation import Builder
from policy.model import PolicyInvalid
from policy.store.publisher import Publisher
from policy.store.running_tools import Registrar, RunningTools
from policy.store.status import Reloaded

_LOG = logging.getLogger(__name__)
_MOST_NAMED = 5  # tools


class CatalogExtension:
    """The tools of one store. `builders` are those whose builds must know where tools run.

    `given` is the catalogue that the store was made with, and `running` where each tool is
    defined that runs from the beginning. `is_followed` is whether somebody else compares edits that
    take effect: then no tool waits for that.
    """

    def __init__(
        self,
        publisher: Publisher,
        builders: tuple[Builder, ...],
        *,
        given: Catalog,
        running: Mapping[str, str],
        is_followed: Callable[[], bool],
    ) -> None:
        self._is_followed = is_followed
        self._publisher = publisher
        self._builders = builders
        self._tools = RunningTools(given)
        # A revision that was tried and failed is not used again.
        self._revision = 0
        self._set_running(running)

    def extend(self, specs: Iterable[ToolSpec]) -> Reloaded:
        """Add tools to the catalogue, and check the policy against it again."""
        with self._publisher.lock:
            outcome = self._extend(specs, running=self._running, others_follow=True)
        return self._compared(outcome)

    def register(
        self, tools: Iterable[RunningTool], *, by: Registrar, others_follow: bool
    ) -> Reloaded:
        """Add tools that a program runs, by their own definitions."""
        with self._publisher.lock:
            tools = tuple(tools)
            specs = self._tools.definitions(tools, by=by)
            places = {tool.spec.name: tool.defined_at for tool in tools}
            running = {**self._running, **places}
            outcome = self._extend(specs, running=running, others_follow=others_follow)
            self._tools.add(by)
        return self._compared(outcome)

    def _compared(self, outcome: Reloaded) -> Reloaded:
        return outcome if self._is_followed() else self._publisher.compared(outcome)

    def _set_running(self, running: Mapping[str, str]) -> None:
        self._running = running
        for builder in self._builders:
            builder.running = running

    def _extend(
        self, specs: Iterable[ToolSpec], *, running: Mapping[str, str], others_follow: bool
    ) -> Reloaded:
        publisher, running_before = self._publisher, self._running
        known = publisher.in_force.catalog
        extended = known.with_tools(specs, converting=True)
        changed = _differs(extended, known)
        if not changed and not (running.keys() - running_before.keys() and self._may_list_tools()):
            self._set_running(running)
            return publisher.read_and_notify()
        without = publisher.read_and_notify()
        before = publisher.in_force
        self._revision += 1
        publisher.in_force = replace(before, catalog=extended, revision=self._revision)
        self._set_running(running)
        outcome = publisher.read_files()
        caused = _new_errors(outcome, without)
        if any(found.code != "unknown-tool" or not others_follow for found in caused):
            publisher.in_force = before
            self._set_running(running_before)
            others = (found for found in outcome.diagnostics if found not in caused)
            raise PolicyInvalid((*caused, *others), sources=publisher.sources)
        publisher.subscribers.notify_if_changed(outcome, before=before.status)
        _tell_of_unknown(extended, outcome)
        return outcome

    def _may_list_tools(self) -> bool:
        """Return whether the policy may list tools of its own."""
        generation = self._publisher.in_force.generation
        if generation is None:
            return True
        catalogue = generation.settings.catalogue
        return bool(catalogue.files or catalogue.servers)


def _tell_of_unknown(tools: Catalog, outcome: Reloaded) -> None:
    """Log which tools cannot be called, because an edit has not taken effect.

    The policy in force was built without them, and is not built again from files that were edited.
    """
    generation = outcome.generation
    if generation is None or not outcome.status.stale:
        return
    known = generation.program.catalog
    unknown = [visible(spec.name, 60) for spec in tools.specs if known.get(spec.name) is None]
    if unknown:
        _LOG.warning(
            "not called until an edit takes effect, or is put back: %s; the policy in force does "
            "not know it, and the edit does not take effect: %s",
            ", ".join(unknown[:_MOST_NAMED]),
            visible(outcome.status.because or "", 200),
        )


def _differs(tools: Catalog, before: Catalog) -> bool:
    """Return whether a tool is another one, or converts its input in a different way.

    Their order does not matter.
    """
    now, known = ({spec.name: spec for spec in each.specs} for each in (tools, before))
    return now != known or any(spec.coerce is not known[name].coerce for name, spec in now.items())


def _new_errors(after: Reloaded, before: Reloaded) -> tuple[Diagnostic, ...]:
    """Return the errors that the files did not have before."""
    had = set(map(_without_advice, before.diagnostics))
    errors = (found for found in after.diagnostics if found.severity is Severity.ERROR)
    # An edit that waits for people does so whatever tools there are.
    return tuple(
        found
        for found in errors
        if found.code != "loosening-refused" and _without_advice(found) not in had
    )


def _without_advice(found: Diagnostic) -> tuple[object, ...]:
    """Return what is wrong, without the advice: that changes with the tools there are."""
    return found.severity, found.code, found.span, found.file, found.message, found.label

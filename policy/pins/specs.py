"""Tools of servers as policies know them, by the state of their pins.

A policy's catalogue holds each tool as it was accepted. What a server declares now runs only if it
has the digest of that definition; annotations count, and so do resources, only as accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policy.catalog import Origin, ToolSpec, read_listing
from policy.model import thaw
from policy.pins.comparison import PinComparison, PinState
from policy.pins.definitions import About, Definition, definition_digest
from policy.pins.lock import Lock, Pin

# What a definition says to policies and models. Other keys, such as resources that a server
# declares complete, must not count as if a reviewer had written them.
_READ = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


def pinned_specs(lock: Lock) -> tuple[ToolSpec, ...]:
    """Return every tool of a lock as it was accepted."""
    return tuple(
        spec
        for server, pins in lock.servers.items()
        for pin in pins.tools.values()
        for spec in (_accepted(server, pins.about, pin),)
        if not isinstance(spec, str)
    )


def spec_problem(server: str, pin: Pin) -> str | None:
    """Return why a pinned tool cannot be known to a policy; None if it can."""
    spec = _accepted(server, About(), pin)
    return spec if isinstance(spec, str) else None


def live_specs(compared: PinComparison) -> Iterator[ToolSpec]:
    """Yield the tools that a server has now, as they are registered.

    One that is not as accepted carries nothing of its new text: every call of it is denied, since
    the policy knows another definition.
    """
    for name, tool in compared.tools.items():
        state = compared.state_of(name)
        if tool.now is None:
            continue
        found = definition_digest(compared.now, tool.now)
        if state is PinState.UNCHANGED and tool.pin is not None:
            spec = _accepted(compared.server, compared.now, tool.pin)
        elif state is PinState.NEW:
            spec = _listed(compared.server, tool.now)
        else:
            origin = Origin(kind="mcp", server=compared.server, tool=name)
            spec = ToolSpec(name=origin.flat_name(), origin=origin, fault="it was not reviewed")
        if not isinstance(spec, str):
            yield replace(spec, definition_digest=found)


def _accepted(server: str, about: About, pin: Pin) -> ToolSpec | str:
    entry = {key: pin.definition[key] for key in _READ if key in pin.definition}
    if pin.resources:
        entry["resources"] = thaw(pin.resources)
    listing = read_listing([entry], server=server, reviewed=True)
    if not listing.specs:
        return listing.problems[0].partition(": ")[2]
    found = definition_digest(about, pin.definition)
    return replace(listing.specs[0], definition_digest=found)


def _listed(server: str, definition: Definition) -> ToolSpec | str:
    entry = {key: definition[key] for key in _READ if key in definition}
    listing = read_listing([entry], server=server)
    return listing.specs[0] if listing.specs else listing.problems[0].partition(": ")[2]

"""Whether a registered tool is the one that the policy knows by its name."""

from __future__ import annotations

from dataclasses import replace

from policy.audit import digest_of
from policy.catalog import ToolSpec, schema_differences
from policy.generation import Generation
from policy.model import ToolCall, thaw
from policy.service.judging.judge import Judge
from policy.tools import Registration

# Tools come and go, so the number of cached comparisons is bounded.
_MOST_COMPARED = 4_096


class KnownTools:
    """Compares definitions, and caches the last comparison of each tool."""

    def __init__(self) -> None:
        # A tool's own definition, the one it was last judged by, and whether they agree.
        self._compared: dict[str, tuple[ToolSpec, ToolSpec, bool]] = {}

    def is_ready(
        self, entry: Registration | None, spec: ToolSpec | None, *, judge: Judge, call: ToolCall
    ) -> bool:
        """Return whether a handler is registered for the judged tool, and for this call."""
        if entry is None:
            return False
        own = entry.handler.spec
        if own is spec or spec is None:
            return True
        if not self.is_same(entry, spec, judge=judge):
            return False
        return own.coerce is spec.coerce or _is_read_as_judged(own, call)

    def is_same(self, entry: Registration, spec: ToolSpec, *, judge: Judge) -> bool:
        """Return whether a handler's tool is the one that a policy knows; caches the result."""
        own = entry.handler.spec
        if own is spec:
            return True
        known = self._compared.get(entry.name)
        if known is None or known[0] is not own or known[1] is not spec:
            if len(self._compared) >= _MOST_COMPARED:
                self._compared.clear()
            alike = _is_same_tool(own, spec) and _is_as_announced(own, judge)
            known = self._compared[entry.name] = (own, spec, alike)
        return known[2]


def _is_same_tool(own: ToolSpec, spec: ToolSpec) -> bool:
    """Return whether a policy's definition agrees with everything the tool declares.

    The policy may add to it: its configuration adds facts and resources. For a tool from outside
    the host application, its description for models is part of what was reviewed; if it is pinned,
    so is everything else that its server sent.
    """
    of_host = spec.origin.kind == "host"
    description = "" if of_host else spec.description
    return (
        (own.origin, own.version) == (spec.origin, spec.version)
        and (own.schema == spec.schema or (of_host and _takes_the_same(own, spec)))
        and description in ("", own.description)
        and spec.definition_digest in ("", own.definition_digest)
        and set(own.resources) <= set(spec.resources)
        and own.unseen <= spec.unseen
        and own.requires_confirmation <= spec.requires_confirmation
    )


def _takes_the_same(own: ToolSpec, spec: ToolSpec) -> bool:
    return not schema_differences(spec.schema, own.schema)


def _is_as_announced(own: ToolSpec, judge: Judge) -> bool:
    """Return whether a tool declares what it did when the policy in force was built.

    While the files are invalid, another tool may have taken its place: that it only reads, or that
    its arguments are all it accesses, was declared by the one before.
    """
    tools = judge.announced if isinstance(judge, Generation) else None
    known = None if tools is None else tools.get(own.name)
    return known is None or known is own or replace(known, description=own.description) == own


def _is_read_as_judged(own: ToolSpec, call: ToolCall) -> bool:
    """Return whether a tool's own model reads an input exactly as it was judged."""
    if own.coerce is None:
        return True
    try:
        read = own.coerce(thaw(call.input))
    except Exception:  # noqa: BLE001 - what the application's model refuses does not run
        return False
    digest = digest_of(read)
    return digest is not None and digest == digest_of(call.input)

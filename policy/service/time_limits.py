"""A judged call in, the seconds that its tool may take out: the host's limit, or the policy's."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from policy.catalog import ToolSpec
from policy.reload import Generation, Settings
from policy.service.composition import ChainHandler
from policy.service.in_flight import InFlight
from policy.service.registry import ToolRegistry
from policy.service.registry_snapshot import RegistrySnapshot

_DEFAULT_SECONDS = 30.0
# Tools come and go; what is known of those that went is worth nothing.
_MOST_KNOWN = 4_096


class TimeLimits:
    """The limits given here, else those of the generation that judges the call.

    A chain has one only if it is named: its steps have theirs, and may wait for people.
    """

    def __init__(
        self, default: float | None, per_tool: Mapping[str, float], registry: ToolRegistry
    ) -> None:
        self._default = default
        self._per_tool = per_tool
        self._registry = registry
        # The limit of each tool, with all that it follows from; none of that ever changes.
        self._known: dict[
            str, tuple[Settings | None, ToolSpec | None, RegistrySnapshot, float]
        ] = {}

    def __call__(self, tool: str, call: InFlight | None) -> float:
        """Return the seconds that a tool may take."""
        judgement = None if call is None else call.judgement
        judge = None if judgement is None else judgement.judge
        spec = None if judgement is None else judgement.spec
        if self._per_tool:
            given = next(
                (self._per_tool[n] for n in _names(tool, spec) if n in self._per_tool), None
            )
            if given is not None:
                return given
        settings = judge.settings if isinstance(judge, Generation) else None
        tools, known = self._registry.snapshot(), self._known.get(tool)
        if known is not None and known[0] is settings and known[1] is spec and known[2] is tools:
            return known[3]
        entry = tools.find(tool)
        is_chain = entry is not None and isinstance(entry.handler, ChainHandler)
        seconds = self._seconds(_names(tool, spec), settings, is_chain=is_chain)
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[tool] = (settings, spec, tools, seconds)
        return seconds

    def _seconds(
        self, names: tuple[str, ...], settings: Settings | None, *, is_chain: bool
    ) -> float:
        if is_chain:
            return (settings and _named_seconds(settings, names)) or inf
        if self._default is not None or settings is None:
            return self._default or _DEFAULT_SECONDS
        return _named_seconds(settings, names) or settings.timeout


def _names(tool: str, spec: ToolSpec | None) -> tuple[str, ...]:
    return (tool,) if spec is None else spec.names


def _named_seconds(settings: Settings, names: tuple[str, ...]) -> float | None:
    """Return the limit configured for one tool: for its version before all of its versions."""
    own = {
        "bash_exec": settings.service.bash.timeout,
        "web_fetch": settings.service.web.timeout,
    }
    for name in names:
        tool = settings.tools.get(name)
        if name in settings.timeouts or (tool is not None and tool.timeout is not None):
            return settings.timeout_of(name)
    return own.get(names[0])

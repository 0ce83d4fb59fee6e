"""How long a tool may take: the host's limit, or the policy's."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from policy.catalog import ELICIT, SAMPLE
from policy.generation import Generation, Settings
from policy.service.composition.chain import ChainHandler
from policy.service.in_flight import InFlight
from policy.tools import ToolRegistry

_DEFAULT_SECONDS = 30.0
# For what the user of a client fills in, or has a model write.
_SECONDS_OF_PEOPLE = 300.0


class TimeLimits:
    """The limits given here, else those of the generation that judges the call.

    A chain has a limit only if it is named: its steps have theirs, and may wait for people.
    """

    def __init__(
        self, default: float | None, per_tool: Mapping[str, float], registry: ToolRegistry
    ) -> None:
        self._default = default
        self._per_tool = per_tool
        self._registry = registry

    def __call__(self, tool: str, call: InFlight | None) -> float:
        """Return the seconds that a tool may take."""
        judgement = None if call is None else call.judgement
        judge = None if judgement is None else judgement.judge
        spec = None if judgement is None else judgement.spec
        names = (tool,) if spec is None else spec.names
        for name in names:
            if name in self._per_tool:
                return self._per_tool[name]
        settings = judge.settings if isinstance(judge, Generation) else None
        entry = self._registry.snapshot().find(tool)
        if entry is not None and isinstance(entry.handler, ChainHandler):
            return (settings and _named_seconds(settings, names)) or inf
        if self._default is not None or settings is None:
            return self._default or _DEFAULT_SECONDS
        return _named_seconds(settings, names) or settings.timeout


def _named_seconds(settings: Settings, names: tuple[str, ...]) -> float | None:
    """Return the limit configured for one tool: of its version, else of all versions."""
    for name in names:
        tool = settings.tools.get(name)
        if name in settings.timeouts or (tool is not None and tool.timeout is not None):
            return settings.timeout_of(name)
    match names[0]:
        case "bash_exec" | "code_exec":
            return settings.service.bash.timeout
        case "python_exec":
            return settings.service.bash.timeout + settings.service.python.timeout
        case "web_fetch":
            return settings.service.web.timeout
        case name if name in (ELICIT, SAMPLE):
            return _SECONDS_OF_PEOPLE
        case _:
            return None

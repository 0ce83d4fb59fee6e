"""Notes what an agent tells of a session: its start, what its user wrote, what came of a call."""

from __future__ import annotations

import logging

from policy.daemon.agents import Agent, AgentEvent
from policy.daemon.hook_history import HookHistory
from policy.model import Caller
from policy.service import Hearing, SessionLogUnusable

_LOG = logging.getLogger(__name__)


class SessionEvents:
    """Notes the events of sessions in their history; nothing that fails here stops an agent."""

    def __init__(self, history: HookHistory) -> None:
        self._history = history
        self.hearing = Hearing(history)

    def note(self, agent: Agent, event: AgentEvent, caller: Caller) -> None:
        """Note an event; what cannot be noted is not known to later calls."""
        try:
            match event.kind:
                case "start":
                    self._start(event, caller)
                case "prompt":
                    self._prompt(agent, event, caller)
                case _:
                    self._history.end(caller, event)
        except SessionLogUnusable as error:
            _LOG.warning("an event of a session is not noted: %s", error)

    def _start(self, event: AgentEvent, caller: Caller) -> None:
        if caller.parent is not None:
            return
        # A session that goes on under its name is known already, unless it began without a hook.
        if not event.resumed or isinstance(self._history.said(caller), str):
            self.hearing.hear(caller, (), resumed=event.resumed, inside=False)

    def _prompt(self, agent: Agent, event: AgentEvent, caller: Caller) -> None:
        if caller.parent is not None:
            return
        if event.unreadable:
            self.hearing.lose(caller)
        elif event.prompt is not None:
            in_doubt = self._history.is_in_doubt(caller, agent)
            self.hearing.hear(caller, (event.prompt,), resumed=in_doubt, inside=False)

"""How a server and its prompts stand to what people have reviewed, for what is no call of a tool.

A pin says of each tool what it is; resources and prompts are asked for by one tool for all servers.
So a filter asks about servers and prompts that nobody has reviewed, and denies changed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from policy.catalog import GET_PROMPT, SERVER_REQUESTS
from policy.mcp.offered import Entries
from policy.model import EMPTY, SENTENCES, Verdict, thaw
from policy.pins import About, Definition, Pin, PinState, definition_digest, definitions_of
from policy.service import Allow, Classification, Confirm, Deny


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One server beside what was reviewed of it.

    `prompts` are the accepted ones, by name; None for a server whose tools stand in a list, of
    which nothing is pinned.
    """

    state: PinState
    prompts: Mapping[str, Pin] | None = field(default_factory=lambda: EMPTY)

    @property
    def is_pinned(self) -> bool:
        """Whether the server must say of itself what was reviewed."""
        return self.state is PinState.UNCHANGED and self.prompts is not None

    def pin_of(self, prompt: str) -> Pin | None:
        """Return how a prompt was accepted, None if it was not."""
        return None if self.prompts is None else self.prompts.get(prompt)


# Returns how a server stands; None for one that is not configured.
StandingOf = Callable[[str], Standing | None]


def is_as_accepted(server: str, entries: Entries, pin: Pin) -> bool:
    """Return whether a server describes a prompt as it was accepted, by one entry of its list."""
    described = definitions_of(server, tools=(), prompts=map(thaw, entries)).prompts.values()
    return [_digest(each) for each in described] == [_digest(pin.definition)]


def _digest(definition: Definition) -> str:
    return definition_digest(About(), definition)


class ReviewFilter:
    """Tightens the verdict on what clients ask of servers that were not reviewed as they are.

    `new` returns the verdict on servers and prompts that nobody has reviewed.
    """

    knows_versions = True

    def __init__(self, standing_of: StandingOf, new: Callable[[], Verdict]) -> None:
        self._standing_of = standing_of
        self._new = new

    def classify(self, name: str, input: Mapping[str, Any]) -> Classification:
        """Classify one call."""
        server = input.get("server")
        if name not in SERVER_REQUESTS or not isinstance(server, str):
            return Allow()
        standing = self._standing_of(server)
        if standing is None:
            return Allow()  # there is nobody to ask
        if standing.state is PinState.CHANGED:
            return Deny(SENTENCES["not-reviewed"], rule="pin")
        if standing.state is PinState.NEW:
            return self._unreviewed("the server")
        prompt = input.get("name") if name == GET_PROMPT else None
        if isinstance(prompt, str) and standing.is_pinned and standing.pin_of(prompt) is None:
            return self._unreviewed("the prompt")
        return Allow()

    def _unreviewed(self, what: str) -> Classification:
        said = f"{what} has not been reviewed"
        deny = self._new() is Verdict.DENY
        return Deny(said, rule="pin") if deny else Confirm(said, rule="pin")

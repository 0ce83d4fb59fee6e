"""Tool definitions in, those a caller may use out: what is denied for every input is hidden.

Hidden tools are still enforced; this only keeps models from trying what cannot succeed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from policy.call import Caller
from policy.decision import Outlook
from policy.service.service import ToolDefinition

# What a caller can expect of a tool; takes one look at the policy in force for a whole list.
OutlookOf: TypeAlias = Callable[[Caller], Callable[[str], Outlook]]


class Visibility:
    """What each caller sees of the tools there are."""

    def __init__(self, outlook_of: OutlookOf) -> None:
        self._outlook_of = outlook_of

    def shown(self, definitions: Iterable[ToolDefinition], caller: Caller) -> list[ToolDefinition]:
        """Return the definitions that `caller` may use, those that may ask marked so."""
        outlook = self._outlook_of(caller)
        shown = []
        for definition in definitions:
            expected = outlook(definition.name)
            if expected is not Outlook.HIDDEN:
                asks = expected is Outlook.ASKS or definition.requires_confirmation
                shown.append(replace(definition, may_ask=asks))
        return shown

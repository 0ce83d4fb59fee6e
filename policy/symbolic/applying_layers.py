"""`ApplyingLayers`: which layers apply to the caller of a call, and what his role lets him do."""

from __future__ import annotations

from collections.abc import Iterator

from policy.catalog import ToolSpec
from policy.checks import LayerKey
from policy.decision import identity_reasons
from policy.layers import applies_to
from policy.model import Caller, GuestScope
from policy.solving import Clauses
from policy.symbolic.call_values import CallValues
from policy.symbolic.patterns.texts import language_of_names
from policy.symbolic.subjects import NAME, ROLE


class ApplyingLayers:
    """The layers of a policy, for the caller whose name and role are among `values`."""

    def __init__(self, clauses: Clauses, values: CallValues) -> None:
        self._clauses = clauses
        self._values = values
        self._known: dict[LayerKey, int] = {}

    def applies(self, layer: LayerKey) -> int:
        """Return the literal that a layer applies to the caller."""
        found = self._known.get(layer)
        if found is None:
            found = self._known[layer] = self._applies(layer)
        return found

    def admitted(self, spec: ToolSpec) -> int:
        """Return the literal that the caller's role does not deny the call of a tool."""
        scope = GuestScope(allowed_tools=("*",))
        return self._clauses.any_of(
            choice.literal
            for choice in self._values.choices_of(ROLE)
            if not any(identity_reasons(Caller(role=choice.value, scope=scope), spec, None))
        )

    def _applies(self, layer: LayerKey) -> int:
        match layer.kind:
            case "every":
                return self._clauses.true
            case "role":
                return self._clauses.any_of(
                    choice.literal
                    for choice in self._values.choices_of(ROLE)
                    if applies_to(layer, agent="", role=choice.value)
                )
            case _:
                return self._clauses.any_of(self._names_in(layer))

    def _names_in(self, layer: LayerKey) -> Iterator[int]:
        """Yield literals of which one holds if a layer applies to the agent of the call.

        Where a name is not modelled as a string, one that nothing spells out stands for all others,
        which patterns may match or not.
        """
        text = self._values.any_text_of(NAME)
        if text is not None:
            language = language_of_names(layer.names, patterns=layer.kind == "agents")
            # Too many names at once may be matched or not.
            if language is None:
                yield self._clauses.variable()
            else:
                yield text.is_spelled_in(language)
            return
        spelled = set(self._values.constants_with(NAME))
        for choice in self._values.choices_of(NAME):
            if choice.value in spelled or layer.kind == "agent":
                if applies_to(layer, agent=choice.value, role=""):
                    yield choice.literal
            else:
                yield self._clauses.all_of([choice.literal, self._clauses.variable()])

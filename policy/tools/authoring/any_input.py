"""Tools without an argument model, which take any JSON object their schema allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from policy.admission import RawCall, Refused, admit
from policy.catalog import Catalog, ToolSpec
from policy.model import thaw


@dataclass(frozen=True, slots=True)
class AsGiven:
    """The arguments of a tool without a model: the JSON object as it was judged."""

    spec: ToolSpec

    def read(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the input, which was validated against the schema before."""
        return given

    def coerce(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the input as a call of the tool would receive it; ValueError if it is invalid."""
        name = self.spec.name
        read = admit(RawCall(tool=name, input=given), Catalog(specs=(self.spec,)))
        if isinstance(read, Refused):
            raise ValueError(read.message)
        coerced: dict[str, Any] = thaw(read.call.input)
        return coerced

"""Raw calls of the workload on their way to becoming calls: admission alone."""

from __future__ import annotations

import json

from bench import peers_adapter as placet
from bench import workload
from bench.timing import Round, going_round, per_call
from policy.admission import Admitted, RawCall, Refused, admit


class Admitting:
    """The workload's requests and catalogue for n rules."""

    def __init__(self, n: int) -> None:
        self.catalog = placet.catalog_of([tool for tool, _ in workload.universe(n)])
        requests = workload.make_requests(n)
        raw = [RawCall(tool=req["tool"], input=req["args"]) for req in requests]
        known = [call for call in raw if isinstance(admit(call, self.catalog), Admitted)]
        unknown = [call for call in raw if isinstance(admit(call, self.catalog), Refused)]
        texts = [RawCall(tool=call.tool, input=json.dumps(call.input)) for call in known]
        self.ways = {
            "a JSON object": going_round(known),
            "JSON text": going_round(texts),
            "an unknown tool": going_round(unknown),
        }

    def round(self, seconds: float) -> Round:
        """Return how long admission takes."""
        share = seconds / len(self.ways)
        return {
            what: per_call(lambda call: admit(call, self.catalog), items, seconds=share)
            for what, items in self.ways.items()
        }

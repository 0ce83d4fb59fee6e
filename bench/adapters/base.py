"""What an engine offers to be measured: neutral rules in, verdicts out."""

from __future__ import annotations

from typing import Any


class Adapter:
    """One engine. `tools` is set before `translate`: the names of all tools there are.

    All that a caller of the engine must do per call (build a request, turn the answer into one
    of three verdicts) belongs in `decide`. `profiles` and `max_n` say which workloads it can take.
    """

    name = "?"
    package = "?"
    note = ""
    profiles = ("full", "basic", "skew")
    max_n = 10_000
    tools: list[str]

    def translate(self, rules: list[dict[str, Any]]) -> Any:
        """Return the rules in the engine's own language; not timed."""
        raise NotImplementedError

    def load(self, src: Any) -> None:
        """Read and compile what `translate` returned; timed."""
        raise NotImplementedError

    def decide(self, req: dict[str, Any]) -> str:
        """Return `allow`, `ask` or `deny` for a request `{tool, args, ctx}`; timed."""
        raise NotImplementedError

"""One opinion on a call, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from policy.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One opinion on the call.

    `rule` is the rule's name, `file:line` of a rule without one, `table:KEY`, or one of
    `default none schema scope identity floor confirmation pin`. `clause` is the deciding clause in
    canonical text, None where there was none to decide. `undecided` says why, where the opinion
    stands because something could not be decided. `message` is for the agent and its user (the
    rule's `because`), `audit` for the log only.
    """

    rule: str
    verdict: Verdict
    layer: str | None = None
    file: str | None = None
    line: int | None = None
    clause: str | None = None
    message: str | None = None
    audit: str | None = None
    undecided: str | None = None
    shadow: bool = False

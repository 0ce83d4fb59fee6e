"""One opinion on a call, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from policy.model.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembering:
    """How long one approval serves: `remember SPAN|session [for FIELDS] [up to N times]`.

    `seconds` is None for the rest of the session. `fields` lead from the input to what must be
    equal; empty, the whole call must be. `times` is None where no number was set.
    """

    seconds: float | None
    fields: tuple[tuple[str | int, ...], ...] = ()
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What an opinion that asks wants of the answer.

    `groups` (`by`) may approve, anybody may where it is empty. `two_people` wants two identities:
    one of each group, or two of the only one. `digest` names the asking rule by its meaning: it is
    None where the opinion is no rule's.
    """

    groups: tuple[str, ...] = ()
    two_people: bool = False
    remember: Remembering | None = None
    digest: str | None = None

    @property
    def plain(self) -> bool:
        """Whether any one person's answer will do."""
        return not self.groups and not self.two_people


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One opinion on the call.

    `rule` is the rule's name, `file:line` of a rule without one, `table:KEY`, or one of
    `default none schema scope identity floor freeze confirmation pin`. `clause` is the deciding
    clause in canonical text, None where there was none to decide. `undecided` says why, where the
    opinion stands because something could not be decided. `message` is for the agent and its user
    (the rule's `because`), `audit` for the log only. `terms` (on an ask) say who may approve, and
    for how long that serves; None is an answer of anybody, once.
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
    terms: Terms | None = None

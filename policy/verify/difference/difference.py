"""`Difference`: what two policies decide differently, and what else changed between them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from policy.checks import LayerKey
from policy.verify.difference.changes import Change, Direction
from policy.verify.difference.witness import Witness, approval_direction

Found: TypeAlias = Literal["yes", "no", "undecided"]
Status: TypeAlias = Literal["same", "tighter", "not-looser", "looser", "both", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDifference:
    """Whether some call differs in one way, and such a call if there is one.

    `because` is why it is undecided, and `help` what may decide it; empty where that is not known.
    """

    found: Found
    witness: Witness | None = None
    because: str = ""
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDifference:
    """One tool, for the callers to whom one layer applies, where statements of it changed.

    `looser` and `tighter` are about the verdict. The others are about calls that both policies ask
    about: `approval`, whether what had to be approved need not be, or by other people, or for a
    longer time; `more_approval`, the opposite.
    """

    tool: str
    layer: LayerKey
    looser: CallDifference
    tighter: CallDifference
    approval: CallDifference
    more_approval: CallDifference

    @property
    def status(self) -> Status:
        """What is known of the verdicts.

        `undecided` means whether one is looser, `not-looser` that only whether one is tighter is
        not known.
        """
        match self.looser.found, self.tighter.found:
            case "yes", "yes":
                return "both"
            case "yes", _:
                return "looser"
            case "undecided", _:
                return "undecided"
            case _, "yes":
                return "tighter"
            case _, "undecided":
                return "not-looser"
            case _:
                return "not-looser" if self.more_approval.found == "undecided" else "same"

    @property
    def approvals(self) -> Direction:
        """How the approval that calls need changed."""
        if self.approval.found == "undecided":
            return "unclear"
        shown = self.approval.witness or self.more_approval.witness
        return "none" if shown is None else approval_direction(shown.before, shown.after)

    @property
    def may_loosen(self) -> bool:
        """Whether a call is decided less strictly, or that is not known."""
        return self.looser.found != "no" or self.approvals in ("looser", "unclear")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The outcome of a comparison. `tools` are only those that a changed statement concerns.

    `same` is how many tools of either policy none concerns. `digest` identifies the two policies
    and what is known of their difference.
    """

    tools: tuple[ToolDifference, ...]
    changes: tuple[Change, ...]
    same: int
    digest: str

    @property
    def may_loosen(self) -> bool:
        """Whether something is looser, or it is undecided whether it is."""
        return any(one.may_loosen for one in self.tools) or any(
            one.direction in ("looser", "unclear") for one in self.changes
        )

    @property
    def is_empty(self) -> bool:
        """Whether the policies decide every call alike, and nothing else changed."""
        return not self.changes and all(
            one.status == "same" and one.approvals == "none" for one in self.tools
        )


def digest_of(*parts: Any) -> str:
    """Return the digest by which people acknowledge a difference."""
    text = json.dumps(parts, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

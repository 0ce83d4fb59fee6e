"""Which rules of an author restrict code on the command line because nobody can see what it does.

`no-env: deny * when reads "**/.env"` denies every `python -c …`, also where a pack lets such code
run. That may be meant; who does not expect it is to learn of it before an agent does.
"""

from __future__ import annotations

from policy.decision import answer
from policy.diagnostics import is_shipped
from policy.model import Caller, Facts, Reason, Resolvers, Verdict, nothing_used
from policy.program import Program

EXAMPLE = "python -c 'pass'"
_FOLDER = "/workspace"


def restricts_unseen_code(program: Program) -> tuple[Reason, ...]:
    """Return the rules that alone restrict code which an `allow` covers, each as its reason.

    They are indeterminate for the code, and no other rule says what is to happen to it: first those
    that deny it, then those that ask. Rules of packs that come with Placet are left out.
    """
    # What is used of limits does not matter here.
    unused = Resolvers(balance=nothing_used)
    facts = Facts(cwd=_FOLDER, workspace=_FOLDER, home="/home/user", resolvers=unused)
    input = {"command": EXAMPLE}
    decision = answer(program, "bash_exec", input, caller=Caller(), facts=facts).decision
    if not any(reason.verdict is Verdict.ALLOW for reason in decision.reasons):
        return ()
    found: list[Reason] = []
    for verdict in (Verdict.DENY, Verdict.ASK):
        restricting = [reason for reason in decision.reasons if reason.verdict is verdict]
        if any(_is_meant(reason) for reason in restricting):
            break
        found += restricting
    return tuple(found)


def _is_meant(reason: Reason) -> bool:
    """Return whether a rule is certainly about such code, or comes with Placet."""
    return reason.undecided is None or not reason.file or is_shipped(reason.file)

"""The diagnostics of claims that are broken or undecided."""

from __future__ import annotations

from policy.diagnostics import Diagnostic, diagnose, visible
from policy.model import Verdict
from policy.verify.proof.counterexample import Counterexample, given_text
from policy.verify.proof.open_reasons import ARITHMETIC, NO_INPUT, line_of
from policy.verify.proof.proof import Proof

_LONGEST_CALL = 300  # characters
_LONGEST_CLAIM = 200
_TOOLS_NAMED = 3
_WANTED = {Verdict.ASK: "asked about or denied", Verdict.DENY: "denied"}


def problem_of(proof: Proof) -> Diagnostic | None:
    """Return what is wrong with a claim; None if it holds."""
    claim = proof.invariant
    said = f"`{visible(claim.text, _LONGEST_CLAIM)}`"
    if proof.counterexample is not None:
        return diagnose(
            "invariant-broken",
            f"a call breaks {said}: {_described(proof.counterexample)}",
            span=claim.span,
            label=f"such a call must be {_WANTED[proof.counterexample.wanted]}",
            help="`placet prove` shows the call as a test; add a rule that restricts it, or say in "
            "the claim what it leaves out",
        )
    if proof.about_nothing:
        return diagnose(
            "invariant-about-nothing",
            f"no call meets the conditions of {said}",
            span=claim.span,
            label="it holds whatever the rules are",
            help="conditions that exclude each other, or a value that the schema never accepts",
        )
    if not proof.undecided:
        return None
    code = "invariant-undecided" if claim.kind == "prove" else "assumption-undecided"
    return diagnose(
        code,
        f"whether {said} holds is undecided for {_named(proof.undecided)}"
        + (f": {why}" if (why := why_undecided(proof) or _first_open(proof)) else ""),
        span=claim.span,
        label="no call that breaks it was found, and no proof that there is none",
        help=_help(proof),
    )


def why_undecided(proof: Proof) -> str:
    """Return why a claim is undecided, empty if the search found nothing."""
    if proof.because:
        return visible(proof.because, 200)
    return ARITHMETIC[proof.left_open][0] if proof.left_open else ""


def deciding_rule(proof: Proof) -> str:
    """Return a rule that keeps a claim: it has the very condition of the claim."""
    claim = proof.invariant
    return f"deny {claim.text.removeprefix(f'{claim.kind} {claim.claim} ')}"


def deciding_words(proof: Proof, longest: int) -> str:
    """Return the rule that keeps a claim, and what does so as well, in words."""
    rule = f"`{visible(deciding_rule(proof), longest)}`"
    return rule if proof.invariant.claim == "always deny" else f"{rule}, or `ask` in its place,"


def open_lines(proof: Proof) -> tuple[str, ...]:
    """Return which conditions leave a claim undecided, and why, a line for each."""
    return tuple(map(line_of, proof.open_conditions))


def _first_open(proof: Proof) -> str:
    lines = open_lines(proof)
    more = f", and {len(lines) - 1} more" if len(lines) > 1 else ""
    return f"{lines[0]}{more}" if lines else ""


def _help(proof: Proof) -> str:
    if proof.because and proof.because != NO_INPUT:
        return "each check, start and edit of the policy proves it again; until then, test it"
    first = f"the rule {deciding_words(proof, _LONGEST_CLAIM)} decides it"
    if proof.left_open:
        return f"{ARITHMETIC[proof.left_open][1]}; {first}, too"
    more = "" if proof.invariant.kind == "assume" else ", or write `assume`, which only warns"
    return f"{first}; otherwise claim it of fewer tools, and test it for these{more}"


def _described(shown: Counterexample) -> str:
    """Return a call with its verdict, in one line."""
    call = shown.as_test("").splitlines()[-1].strip().removesuffix(" -> deny")
    given = given_text(shown.situation)
    rules = ", ".join(f"`{visible(reason.rule, 60)}`" for reason in shown.decision.deciding)
    verdict = {"allow": "is allowed", "ask": "is asked about"}[str(shown.decision.verdict)]
    where = f" where {visible(given, 100)}" if given else ""
    unclear = "; the claim's condition is indeterminate for it" if shown.unclear else ""
    return f"`{visible(call, _LONGEST_CALL)}`{where} {verdict} by {rules}{unclear}"


def _named(tools: tuple[str, ...]) -> str:
    first = ", ".join(f"`{visible(name, 60)}`" for name in tools[:_TOOLS_NAMED])
    more = len(tools) - _TOOLS_NAMED
    return first if more <= 0 else f"{first} and {more} more tools"

"""What other sandboxes cannot express of a plan, and so refuse: a program never gets more."""

from __future__ import annotations

from collections.abc import Collection

from policy.sandbox.plan import CannotConfine, SandboxPlan


def require_expressible(plan: SandboxPlan, kind: str, *, without: Collection[str]) -> None:
    """Raise CannotConfine for single hosts, hidden files, and limits that there are not."""
    if plan.network not in ("none", "all"):
        raise CannotConfine(f"{kind} knows no hosts: the network is `none` or `all`")
    if plan.masked:
        raise CannotConfine(f"{kind} hides nothing in a folder: {plan.masked[0]}")
    for name in without:
        if getattr(plan.limits, name) is not None:
            raise CannotConfine(f"{kind} has no limit for `{name}`")

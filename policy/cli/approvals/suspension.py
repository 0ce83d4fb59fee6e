"""Whether a standing approval is suspended by an edit of its rule, or of its people's groups.

Such an approval serves no call until the edit is undone, and stays in the store until it expires.
"""

from __future__ import annotations

from pathlib import Path

from policy.approvals import ApprovalRequest, Grant, GroupsOf, as_of_now, unanswered
from policy.cli.loading import build_at
from policy.generation import Generation


def suspensions(
    path: Path,
    grants: tuple[Grant, ...],
    requests: dict[str, ApprovalRequest],
    *,
    groups_of: GroupsOf,
) -> dict[str, bool | None]:
    """Return by the id of each grant whether it is suspended; None where that is not known.

    It is not known if the policy does not load, so that other rules than those of the files are
    in force, or if only the program that serves the policy knows the tool.
    """
    generation = build_at(path, None).generation if grants else None
    return {
        grant.id: _suspended(
            grant, requests.get(grant.request or ""), generation, groups_of=groups_of
        )
        for grant in grants
    }


def _suspended(
    grant: Grant,
    request: ApprovalRequest | None,
    generation: Generation | None,
    *,
    groups_of: GroupsOf,
) -> bool | None:
    if grant.kind == "elevation":
        return False  # it is bound to tools, not to rules
    spec = None if request is None or generation is None else generation.catalog.get(request.tool)
    if request is None or generation is None or spec is None:
        return None
    people = as_of_now(grant.people, groups_of)
    remembered = [
        reason
        for reason in request.reasons
        if reason.terms is not None and reason.terms.remember is not None
    ]
    if remembered and len(unanswered(remembered, people, request.caller)) == len(remembered):
        return True
    asked = {reason.terms.digest for reason in remembered if reason.terms is not None}
    asking = {
        rule.reason.terms.digest
        for caller in request.caller.chain()
        for layer in generation.program.plan(spec, agent=caller.agent, role=caller.role).layers
        for rule in layer.restricting
        if rule.reason.terms is not None
    }
    if asked <= asking:
        return False
    # Several rules may have asked; the grant does not say which of them it answers.
    return None if asked & asking else True

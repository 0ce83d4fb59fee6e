"""`after`: whether the session tree holds an earlier call of certain tools."""

from __future__ import annotations

from collections.abc import Callable

from policy.checks import checked
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.past_tools import tool_matcher
from policy.evaluation.truth import Indeterminate, Truth
from policy.model import RESULT_NOT_KNOWN

_UNKNOWN = "the earlier calls of this session are not known"


def compile_after(test: checked.EarlierCall) -> Callable[[Evaluation], Truth]:
    """Return the test of the earlier calls.

    It is true if such a call succeeded. A call that is running, or did not succeed, may have had
    its effect; then the test is indeterminate.
    """
    matches = tool_matcher(test.tools)
    within, text = test.within, test.text

    def decide(call: Evaluation) -> Truth:
        history = call.history
        if history is None:
            return Indeterminate(_UNKNOWN, text)
        now = call.facts.now or history.as_of
        unsure: str | None = None
        for tool, calls in history.tools.items():
            if not matches(tool):
                continue
            succeeded = calls.succeeded.any_within(within, now)
            if succeeded:
                return True
            if succeeded is None:
                unsure = f"it is not known how long ago `{tool.name}` was called"
            elif calls.unsure.any_within(within, now) is not False:
                unsure = unsure or f"{RESULT_NOT_KNOWN} `{tool.name}` is not known"
        why = unsure or history.unknown
        return False if why is None else Indeterminate(why, text)

    return decide

"""Makes the calls that a tool returns in place of an output, each through all the layers."""

from __future__ import annotations

from typing import Any

from policy.model import Execution, PermissionDenied
from policy.service.in_flight import InFlight, carrying, current_call
from policy.tools import FollowUp, PassThrough, ToolOutput, ToolService

_MOST = 10


class FollowLayer(PassThrough):
    """Outermost: a followed call is a new call of the same caller.

    It has its own id, judgement, approval, time limit and record, and is counted like any call. If
    it is refused, the first call fails as well, with its reason.
    """

    def __init__(self, inner: ToolService, *, most: int = _MOST) -> None:
        super().__init__(inner)
        self._most = most

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Forward the call, and those that follow from it; return the output of the last."""
        output = await self.inner.execute(name, input)
        return output if output.then is None else await self._answered(name, output)

    async def _answered(self, name: str, output: ToolOutput) -> ToolOutput:
        first = current_call()
        for _ in range(self._most):
            if output.then is None:
                return output
            output = await self._followed(output.metadata.tool or name, output.then, first)
        if output.then is None:
            return output
        raise Execution(name, f"gave up after {self._most}: {output.then.because}")

    async def _followed(self, name: str, then: FollowUp, first: InFlight | None) -> ToolOutput:
        input = dict(then.input)
        call = InFlight()
        if first is not None:
            call.follows(first)
        try:
            with carrying(call):
                return await self.inner.execute(name, input)
        except PermissionDenied as error:
            refused = PermissionDenied(
                name, f"{then.because}: {error.message}", decision=error.decision, code=error.code
            )
            refused.call_id = error.call_id
            raise refused from error

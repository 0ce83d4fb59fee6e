"""The exceptions Placet raises, as one tree.

PolicyInvalid              a policy that cannot be used; carries the diagnostics
ConfigurationRefused       an edit of the configuration that was not made
ToolError                  a call that did not end in an output; carries the tool's name
├── PermissionDenied       refused by the policy; carries the decision
├── NotFound               no such tool
├── ValidationFailed       the input does not fit the tool's schema
├── Timeout                the tool took longer than its limit
├── Execution              the tool ran and failed; carries the cause
└── Transport              the tool's server could not be reached; carries the cause
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from policy.model.codes import Code
from policy.model.decision import Decision
from policy.model.source import Source, Span


class Problem(Protocol):
    """One problem in a policy; `policy.Diagnostic` has more of it."""

    @property
    def code(self) -> str:
        """The stable name of this kind of problem."""
        ...

    @property
    def message(self) -> str:
        """One sentence."""
        ...

    @property
    def severity(self) -> str:
        """`error`, `warning` or `note`."""
        ...

    @property
    def span(self) -> Span | None:
        """The text it is about."""
        ...

    @property
    def file(self) -> str | None:
        """The file, where no text is concerned."""
        ...

    @property
    def help(self) -> str:
        """What to do about it."""
        ...


def _text(problem: Problem) -> str:
    return problem.message if problem.span is None else f"{problem.span}: {problem.message}"


class PolicyInvalid(Exception):
    """A policy with errors; `diagnostics` holds all of them, warnings included.

    `sources` maps names of sources to their text, where the text is available.
    """

    def __init__(
        self, diagnostics: Sequence[Problem], *, sources: Mapping[str, Source] | None = None
    ) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources = sources or {}
        first = _text(self.diagnostics[0]) if self.diagnostics else "no diagnostics"
        more = f" (and {len(self.diagnostics) - 1} more)" if len(self.diagnostics) > 1 else ""
        super().__init__(f"the policy cannot be used: {first}{more}")


class ConfigurationRefused(Exception):
    """An edit of the configuration that was rejected; `again`: repeating it may succeed."""

    def __init__(self, message: str, *, again: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.again = again


class ToolError(Exception):
    """A call that did not end in an output.

    `kind` is the stable name of this class of errors, `code` that of the reason; for most classes
    they are equal. `message` is one sentence for the model. `call_id` identifies the audit record
    with the details; None for an error without a recorded call.
    """

    kind: ClassVar[str] = "tool-error"
    usual: ClassVar[Code] = "tool-error"

    def __init__(self, tool: str, message: str, *, code: Code | None = None) -> None:
        super().__init__(message)
        self.tool = tool
        self.message = message
        self.code: Code = code or self.usual
        self.call_id: str | None = None


class PermissionDenied(ToolError):
    """The policy refused the call, or nobody approved it; `decision` holds every reason."""

    kind = "permission-denied"
    usual = "denied-by-policy"

    def __init__(
        self,
        tool: str,
        message: str,
        *,
        decision: Decision | None = None,
        code: Code | None = None,
    ) -> None:
        super().__init__(tool, message, code=code)
        self.decision = decision

    @property
    def wait(self) -> float | None:
        """The seconds until the limits that deny the call have room; None for any other denial."""
        if self.code != "limit-reached" or self.decision is None:
            return None
        return self.decision.wait


class NotFound(ToolError):
    """No tool has this name."""

    kind = "not-found"
    usual = "not-found"

    @property
    def name(self) -> str:
        """The name that was called, the same as `tool`."""
        return self.tool


class ValidationFailed(ToolError):
    """The call's input is not a JSON object that matches the tool's schema."""

    kind = "validation-failed"
    usual = "validation-failed"


class Timeout(ToolError):
    """The tool took longer than its limit; `seconds` is that limit."""

    kind = "timeout"
    usual = "timeout"

    def __init__(self, tool: str, message: str, *, seconds: float) -> None:
        super().__init__(tool, message)
        self.seconds = seconds


class Execution(ToolError):
    """The tool ran and failed; the cause is `__cause__`."""

    kind = "execution"
    usual = "execution"


class Transport(ToolError):
    """The server behind the tool could not be reached; the cause is `__cause__`."""

    kind = "transport"
    usual = "transport"

"""The reasons why a call did not end in an output: a closed list of codes, each with its sentence.

Programs branch on a code and models read the sentence, so a code is never reused, and a sentence
mentions nothing of one particular call.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

Code: TypeAlias = Literal[
    "denied-by-policy",
    "not-allowed",
    "not-understood",
    "outside-scope",
    "unknown-caller",
    "out-of-bounds",
    "frozen",
    "limit-reached",
    "not-reviewed",
    "no-approver",
    "approval-refused",
    "approval-timeout",
    "approval-failed",
    "too-many-questions",
    "changed-meanwhile",
    "history-unavailable",
    "workspace-unavailable",
    "policy-unavailable",
    "cannot-record",
    "not-found",
    "validation-failed",
    "timeout",
    "execution",
    "output-withheld",
    "output-invalid",
    "sandbox-missing",
    "sandbox-too-wide",
    "denied-by-sandbox",
    "ended-by-sandbox",
    "workspace-full",
    "install-failed",
    "result-withheld",
    "cannot-redact",
    "transport",
    "cancelled",
    "interrupted",
    "tool-error",
]

# What is not known for certain where a condition is indeterminate.
Doubt: TypeAlias = Literal["resources", "history", "calls", "said", "facts", "values"]

SENTENCES: Mapping[Code, str] = MappingProxyType(
    {
        "denied-by-policy": "a rule denies this",
        "not-allowed": "no rule allows this",
        "not-understood": "whether a rule matches this call cannot be decided, so it counts"
        " as a match",
        "outside-scope": "this is outside the scope of this guest",
        "unknown-caller": "this caller may not call tools",
        "out-of-bounds": "no tool may change the policy's own files",
        "frozen": "people have stopped this tool for now",
        "limit-reached": "a limit is used up",
        "not-reviewed": "the tool is new or has changed, and has not been reviewed",
        "no-approver": "it needs an approval, and there is nobody to give it",
        "approval-refused": "the approval was refused",
        "approval-timeout": "nobody approved it in time",
        "approval-failed": "no valid approval was given",
        "too-many-questions": "this session has made too many approval requests",
        "changed-meanwhile": "the policy or the call changed while it was being approved",
        "history-unavailable": "the call cannot be noted in the history of its session",
        "workspace-unavailable": "the workspace of this session cannot be used",
        "policy-unavailable": "there is no policy that could decide this now",
        "cannot-record": "calls cannot be recorded, and no call may run unrecorded",
        "not-found": "no tool has this name",
        "validation-failed": "the input does not match the tool's schema",
        "timeout": "the tool took too long",
        "execution": "the tool failed",
        "output-withheld": "the tool has run, but its record could not be written",
        "output-invalid": "the tool has run, and its result is not what it declares",
        "sandbox-missing": "this runs only in a sandbox, and none can be set up for it here",
        "sandbox-too-wide": "rules allow this only in a sandbox that is narrower than that of the"
        " tool's server",
        "denied-by-sandbox": "the tool failed, and its sandbox seems to be why",
        "ended-by-sandbox": "the sandbox has ended the tool, since somebody else has replaced or"
        " renamed a file that it protects; it can be called again",
        "workspace-full": "the workspace is full; delete files that are not needed, then go on",
        "install-failed": "the packages that the code needs could not be installed",
        "result-withheld": "the tool has run, but its result is withheld: a rule that redacts it"
        " cannot be applied",
        "cannot-redact": "a rule redacts what this returns, and nothing here can do that",
        "transport": "the tool's server could not be reached",
        "cancelled": "the call was cancelled",
        "interrupted": "the service ended while the tool ran; its effect is not known",
        "tool-error": "the call failed",
    }
)

# What the sentence of `not-understood` goes on with: what is not known, and what can be done.
DOUBTS: Mapping[Doubt, str] = MappingProxyType(
    {
        "resources": "spell out files, options and hosts",
        "history": "it turns on what earlier calls of this session did or returned, which is not"
        " known",
        "calls": "it turns on an earlier call of this session, and there is no such call",
        "said": "it turns on what the user wrote, which is not known, or where the value cannot be"
        " looked for",
        "facts": "it turns on a fact that is not known here",
        "values": "it turns on a value that the call leaves out, or that cannot be compared",
    }
)

"""Decision -> enforcement: the one way to every tool, and the stack of middlewares it is."""

from policy.service.adjudicator import Adjudicator, Judgement
from policy.service.approvals import (
    ApprovalOutcome,
    ApprovalRequest,
    Approved,
    Approver,
    Denied,
    Person,
    ScriptedApprover,
    TerminalApprover,
    TimedOut,
)
from policy.service.asking import Asking
from policy.service.authoring import BuiltinHandler, Tool, Traits, handler_of, tool
from policy.service.build import build_tool_service
from policy.service.classification import (
    Allow,
    Classification,
    Confirm,
    Deny,
    LayeredPermissionResolver,
    SmartFilter,
)
from policy.service.context_rule import ContextRule, Rewrite, RuleContext, RuleOutcome
from policy.service.dispatch import CoreDispatch
from policy.service.events import ToolEnded, ToolEvent, ToolStarted
from policy.service.facade import GovernedService
from policy.service.guards import GuardCell, Guards
from policy.service.handler import ExecutionContext, ToolHandler
from policy.service.handlers import CALL_VARIABLE, Limits, builtin_handlers
from policy.service.middleware import (
    ContextRuleLayer,
    ExecAuditLayer,
    FollowLayer,
    PermissionLayer,
    PinLayer,
    TimeoutLayer,
    fixed_limits,
)
from policy.service.registry import (
    Registered,
    Registration,
    RegistryChange,
    Replaced,
    ToolRegistry,
    Unregistered,
)
from policy.service.service import (
    FollowUp,
    ToolDefinition,
    ToolOutput,
    ToolOutputMetadata,
    ToolService,
    ToolSource,
)
from policy.service.trace import (
    SessionEvent,
    ToolCallDenied,
    ToolCallFailed,
    ToolCallRequested,
    ToolResult,
    invoke_with_session_trace,
)
from policy.service.words import Words, because, fit, words

__all__ = [
    "CALL_VARIABLE",
    "Adjudicator",
    "Allow",
    "ApprovalOutcome",
    "ApprovalRequest",
    "Approved",
    "Approver",
    "Asking",
    "BuiltinHandler",
    "Classification",
    "Confirm",
    "ContextRule",
    "ContextRuleLayer",
    "CoreDispatch",
    "Denied",
    "Deny",
    "ExecAuditLayer",
    "ExecutionContext",
    "FollowLayer",
    "FollowUp",
    "GovernedService",
    "GuardCell",
    "Guards",
    "Judgement",
    "LayeredPermissionResolver",
    "Limits",
    "PermissionLayer",
    "Person",
    "PinLayer",
    "Registered",
    "Registration",
    "RegistryChange",
    "Replaced",
    "Rewrite",
    "RuleContext",
    "RuleOutcome",
    "ScriptedApprover",
    "SessionEvent",
    "SmartFilter",
    "TerminalApprover",
    "TimedOut",
    "TimeoutLayer",
    "Tool",
    "ToolCallDenied",
    "ToolCallFailed",
    "ToolCallRequested",
    "ToolDefinition",
    "ToolEnded",
    "ToolEvent",
    "ToolHandler",
    "ToolOutput",
    "ToolOutputMetadata",
    "ToolRegistry",
    "ToolResult",
    "ToolService",
    "ToolSource",
    "ToolStarted",
    "Traits",
    "Unregistered",
    "Words",
    "because",
    "build_tool_service",
    "builtin_handlers",
    "fit",
    "fixed_limits",
    "handler_of",
    "invoke_with_session_trace",
    "tool",
    "words",
]

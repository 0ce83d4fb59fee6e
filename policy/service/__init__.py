"""Decision -> enforcement: the one way to every tool, and the stack of middlewares it is."""

from __future__ import annotations

from policy.approvals import (
    AnswerRefused,
    ApprovalGate,
    ApprovalOutcome,
    ApprovalRequest,
    Approved,
    Approver,
    Denied,
    Desk,
    Filed,
    Grant,
    Ledger,
    MemoryApprovals,
    Person,
    ScriptedApprover,
    SqliteApprovals,
    StoreUnusable,
    TerminalApprover,
    TimedOut,
    answerable_by,
    serving_for,
    unanswered,
)
from policy.service.adjudicator import Adjudicator, Judgement
from policy.service.asking import Asking
from policy.service.authoring import (
    AiTool,
    BuiltinHandler,
    ContextTool,
    DynamicTool,
    Tool,
    Traits,
    call_json,
    dynamic_of,
    handler_for,
    handler_of,
    tool,
)
from policy.service.build import build_tool_service
from policy.service.bundled import BuiltinTools, register_builtins
from policy.service.classification import (
    Allow,
    Classification,
    Confirm,
    Deny,
    LayeredPermissionResolver,
    SmartFilter,
)
from policy.service.composition import Argument, ChainHandler, Progress, Result, Step
from policy.service.composition.chain import chain
from policy.service.configuring import Configurable, Configurations
from policy.service.context_rule import ContextRule, Rewrite, RuleContext, RuleOutcome
from policy.service.dispatch import CoreDispatch
from policy.service.events import ToolEnded, ToolEvent, ToolStarted
from policy.service.events import as_json as event_json
from policy.service.facade import GovernedService
from policy.service.freezing import Freezes
from policy.service.given import PolicyInReach, policy_in_reach
from policy.service.guards import GuardCell, Guards
from policy.service.handler import ExecutionContext, ToolHandler
from policy.service.handlers import CALL_VARIABLE, Limits, builtin_handlers
from policy.service.identity import IdentityContext, PolicyEngine
from policy.service.middleware import (
    ContextRuleLayer,
    ExecAuditLayer,
    FollowLayer,
    PermissionLayer,
    PinLayer,
    TimeoutLayer,
    fixed_limits,
)
from policy.service.registry import ToolRegistry
from policy.service.registry_feed import Missed, RegistryFeed, RegistryNews
from policy.service.registry_snapshot import (
    Registered,
    Registration,
    RegistryChange,
    RegistrySnapshot,
    Replaced,
    Unregistered,
)
from policy.service.sandbox import Sandbox
from policy.service.service import (
    FollowUp,
    ToolDefinition,
    ToolOutput,
    ToolOutputMetadata,
    ToolService,
    ToolSource,
)
from policy.service.tool_filter import ToolFilter
from policy.service.trace import (
    SessionEvent,
    SessionService,
    ToolCallDenied,
    ToolCallFailed,
    ToolCallRequested,
    ToolResult,
    current_session,
    invoke_with_session_trace,
)
from policy.service.usage_rules import usage_rules
from policy.service.words import because, fit
from policy.service.world import World
from policy.service.yaml_form import yaml_of

__all__ = [
    "CALL_VARIABLE",
    "Adjudicator",
    "AiTool",
    "Allow",
    "AnswerRefused",
    "ApprovalGate",
    "ApprovalOutcome",
    "ApprovalRequest",
    "Approved",
    "Approver",
    "Argument",
    "Asking",
    "BuiltinHandler",
    "BuiltinTools",
    "ChainHandler",
    "Classification",
    "Configurable",
    "Configurations",
    "Confirm",
    "ContextRule",
    "ContextRuleLayer",
    "ContextTool",
    "CoreDispatch",
    "Denied",
    "Deny",
    "Desk",
    "DynamicTool",
    "ExecAuditLayer",
    "ExecutionContext",
    "Filed",
    "FollowLayer",
    "FollowUp",
    "Freezes",
    "GovernedService",
    "Grant",
    "GuardCell",
    "Guards",
    "IdentityContext",
    "Judgement",
    "LayeredPermissionResolver",
    "Ledger",
    "Limits",
    "MemoryApprovals",
    "Missed",
    "PermissionLayer",
    "Person",
    "PinLayer",
    "PolicyEngine",
    "PolicyInReach",
    "Progress",
    "Registered",
    "Registration",
    "RegistryChange",
    "RegistryFeed",
    "RegistryNews",
    "RegistrySnapshot",
    "Replaced",
    "Result",
    "Rewrite",
    "RuleContext",
    "RuleOutcome",
    "Sandbox",
    "ScriptedApprover",
    "SessionEvent",
    "SessionService",
    "SmartFilter",
    "SqliteApprovals",
    "Step",
    "StoreUnusable",
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
    "ToolFilter",
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
    "World",
    "answerable_by",
    "because",
    "build_tool_service",
    "builtin_handlers",
    "call_json",
    "chain",
    "current_session",
    "dynamic_of",
    "event_json",
    "fit",
    "fixed_limits",
    "handler_for",
    "handler_of",
    "invoke_with_session_trace",
    "policy_in_reach",
    "register_builtins",
    "serving_for",
    "tool",
    "unanswered",
    "usage_rules",
    "yaml_of",
]

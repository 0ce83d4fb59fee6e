"""Decision -> enforcement: the one way to every tool, and the stack of middlewares it is."""

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
from policy.service.asking.asking import (
    Asking,
)
from policy.service.asking.sandbox import (
    Sandbox,
)
from policy.service.builder import (
    build_tool_service,
)
from policy.service.builtin_tools import (
    BuiltinTools,
    register_builtins,
)
from policy.service.composition.chain import (
    ChainHandler,
    chain,
)
from policy.service.composition.references import (
    Argument,
    Progress,
    Result,
    Step,
)
from policy.service.configuration import (
    Configurable,
    Configurations,
)
from policy.service.facade import (
    GovernedService,
)
from policy.service.freezes import (
    Freezes,
)
from policy.service.host_arguments import (
    PolicyInReach,
    policy_in_reach,
)
from policy.service.judging.adjudicator import (
    Adjudicator,
    Judgement,
)
from policy.service.judging.classification import (
    Allow,
    Classification,
    Confirm,
    Deny,
    LayeredPermissionResolver,
    SmartFilter,
)
from policy.service.judging.context_rule import (
    ContextRule,
    Rewrite,
    RuleContext,
    RuleOutcome,
)
from policy.service.judging.guards import (
    GuardCell,
    Guards,
)
from policy.service.judging.identity import (
    IdentityContext,
    PolicyEngine,
)
from policy.service.judging.tool_filter import (
    ToolFilter,
)
from policy.service.layers.audit import (
    ExecAuditLayer,
)
from policy.service.layers.context_rules import (
    ContextRuleLayer,
)
from policy.service.layers.dispatch import (
    CoreDispatch,
)
from policy.service.layers.follow import (
    FollowLayer,
)
from policy.service.layers.permission import (
    PermissionLayer,
)
from policy.service.layers.pin import (
    PinLayer,
)
from policy.service.layers.timeout import (
    TimeoutLayer,
    fixed_limits,
)
from policy.service.prompt_sections import (
    usage_rules,
)
from policy.service.recording.events import (
    ToolEnded,
    ToolEvent,
    ToolStarted,
)
from policy.service.recording.events import (
    as_json as event_json,
)
from policy.service.recording.session_trace import (
    SessionEvent,
    SessionService,
    ToolCallDenied,
    ToolCallFailed,
    ToolCallRequested,
    ToolResult,
    current_session,
    invoke_with_session_trace,
)
from policy.service.refusal_messages import (
    because,
    one_line,
)
from policy.service.yaml import (
    yaml_of,
)
from policy.tools import (
    CALL_VARIABLE,
    AiTool,
    BuiltinHandler,
    ContextTool,
    DynamicTool,
    ExecutionContext,
    FollowUp,
    Limits,
    Missed,
    Registered,
    Registration,
    RegistryChange,
    RegistryFeed,
    RegistryNews,
    RegistrySnapshot,
    Replaced,
    Tool,
    ToolDefinition,
    ToolHandler,
    ToolOutput,
    ToolOutputMetadata,
    ToolRegistry,
    ToolService,
    ToolSource,
    Traits,
    Unregistered,
    builtin_handlers,
    call_json,
    dynamic_of,
    handler_for,
    handler_of,
    tool,
)

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
    "answerable_by",
    "because",
    "build_tool_service",
    "builtin_handlers",
    "call_json",
    "chain",
    "current_session",
    "dynamic_of",
    "event_json",
    "fixed_limits",
    "handler_for",
    "handler_of",
    "invoke_with_session_trace",
    "one_line",
    "policy_in_reach",
    "register_builtins",
    "serving_for",
    "tool",
    "unanswered",
    "usage_rules",
    "yaml_of",
]

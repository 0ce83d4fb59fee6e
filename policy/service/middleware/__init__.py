"""The middlewares of the tool service, one module each; `service/build.py` puts them in order."""

from policy.service.middleware.audit import ExecAuditLayer
from policy.service.middleware.context_rules import ContextRuleLayer
from policy.service.middleware.follow import FollowLayer
from policy.service.middleware.permission import PermissionLayer
from policy.service.middleware.pin import PinLayer
from policy.service.middleware.stop import StopLayer
from policy.service.middleware.timeout import TimeoutLayer, fixed_limits

__all__ = [
    "ContextRuleLayer",
    "ExecAuditLayer",
    "FollowLayer",
    "PermissionLayer",
    "PinLayer",
    "StopLayer",
    "TimeoutLayer",
    "fixed_limits",
]

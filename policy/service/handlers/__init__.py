"""The tools that come with Placet, and what runs them."""

from policy.service.handlers.builtin import builtin_handlers
from policy.service.handlers.limits import Limits
from policy.service.handlers.native import NativeHandler
from policy.service.handlers.shell import CALL_VARIABLE

__all__ = ["CALL_VARIABLE", "Limits", "NativeHandler", "builtin_handlers"]

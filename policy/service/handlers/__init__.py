"""The tools that come with Placet, and what runs them."""

from policy.service.handlers.builtin import builtin_handlers
from policy.service.handlers.limits import Limits
from policy.service.handlers.native import NativeHandler

__all__ = ["Limits", "NativeHandler", "builtin_handlers"]

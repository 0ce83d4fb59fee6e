"""What running services share: threads for blocking work, the clock, and event listeners."""

from policy.runtime.clock import Clock, is_past, seconds_until, utc_now
from policy.runtime.listeners import Listeners
from policy.runtime.threads import NoThreadFree, Threads

__all__ = [
    "Clock",
    "Listeners",
    "NoThreadFree",
    "Threads",
    "is_past",
    "seconds_until",
    "utc_now",
]

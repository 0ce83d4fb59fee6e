"""What running services share: threads, the clock, event listeners, and files of their own."""

from policy.runtime.clock import Clock, is_past, seconds_until, utc_now
from policy.runtime.listeners import Listeners
from policy.runtime.private_file import identity_of, make_file
from policy.runtime.shares import Shares, acting_for, owner_here
from policy.runtime.sqlite_file import (
    DatabaseMissing,
    DatabaseUnusable,
    FileFormat,
    open_database,
    require_version,
)
from policy.runtime.threads import NoThreadFree, Threads
from policy.runtime.turns import TurnRefused, after_waiting, looked_at_again

__all__ = [
    "Clock",
    "DatabaseMissing",
    "DatabaseUnusable",
    "FileFormat",
    "Listeners",
    "NoThreadFree",
    "Shares",
    "Threads",
    "TurnRefused",
    "acting_for",
    "after_waiting",
    "identity_of",
    "is_past",
    "looked_at_again",
    "make_file",
    "open_database",
    "owner_here",
    "require_version",
    "seconds_until",
    "utc_now",
]

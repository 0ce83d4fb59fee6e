"""Where records go: `AuditSink`, and `StartSink` for those that outlive the process."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from policy.audit.record import AuditRecord

# The folder beside an audit file, named after it, where processes that write to it have markers.
RUNS = ".runs"


class AuditSink(Protocol):
    """Takes records, one at a time, in the order in which calls end.

    `write` returns once the record is kept and raises if it could not be kept whole. It must not
    wait on anything but its own storage: it also runs while a call is being cancelled.
    """

    def write(self, record: AuditRecord) -> None:
        """Keep one record."""
        ...


@runtime_checkable
class StartSink(Protocol):
    """A sink that is also told of each call that is about to run.

    A sink without these two methods gets records of ends alone, and a call whose process is killed
    has none there.
    """

    def write_start(self, record: AuditRecord, *, durable: bool) -> None:
        """Keep that a call is about to run; `durable`: it outlives a loss of power too.

        `record` is what is to be said of the call, an `interrupted` one, if no record of its end
        ever comes. Raises if that could not be kept; the call does not run then.
        """
        ...

    def close_interrupted(self) -> int:
        """Write the end of each call whose process is gone; return how many there were."""
        ...

"""The protocols of audit sinks: `AuditSink`, and `StartSink` for those that outlive the process."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from policy.audit.record import AuditRecord

# The folder beside an audit file, named after it, with a marker for each process writing to it.
RUNS = ".runs"


class AuditSink(Protocol):
    """Takes records, one at a time, in the order in which calls end.

    `write` returns once the record is stored and raises if it could not be stored whole. It must
    not wait on anything but its own storage: it also runs while a call is being cancelled.
    """

    def write(self, record: AuditRecord) -> None:
        """Store one record."""
        ...


@runtime_checkable
class StartSink(Protocol):
    """A sink that also records the start of each call.

    A sink without these two methods gets only records of ends, and has no record of a call whose
    process is killed.
    """

    def write_start(self, record: AuditRecord, *, durable: bool) -> None:
        """Store that a call is about to run; `durable`: it also survives a power failure.

        `record` is the record of the call, an `interrupted` one, to be used if its end is never
        written. Raises if it could not be stored; the call does not run then.
        """
        ...

    def close_interrupted(self) -> int:
        """Write the end of each call whose process has ended; return how many there were."""
        ...

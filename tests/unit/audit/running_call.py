"""A process that has one running call in an audit file, does what it is told, and waits.

    python -m tests.unit.audit.running_call FILE CODE CALL

It prints its number once it waits. The code finds `path`, the file, `sink`, and our imports.
"""

from __future__ import annotations

import os
import signal
import sys

from policy.audit import JsonlSink
from tests.unit.audit.records import record


def main(path: str, code: str, call: str) -> None:
    sink = JsonlSink(path)
    sink.write_start(record(id="done"), durable=False)
    sink.write(record(id="done"))
    sink.write_start(record(id=call, asked_tool="Echo"), durable=True)
    sink.write(record(id="refused", outcome="denied"))
    exec(code, {"path": path, "sink": sink, "record": record, "os": os, "signal": signal})
    print(os.getpid(), flush=True)
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A process that writes calls of growing inputs to an audit file, and prints how many it could not.

    python -m tests.unit.audit.one_of_several FILE NAME ROOM

With a `ROOM` other than 0 the file may not grow beyond so many bytes, and takes a part of a line,
as a full disk does.
"""

from __future__ import annotations

import resource
import signal
import sys

from policy.audit import JsonlSink, bounded
from tests.unit.audit.records import record


def main(path: str, name: str, room: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if room:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    sink, failed = JsonlSink(path), 0
    for number in range(200):
        long = bounded("x" * (number * 37 % 4000))[0]
        try:
            sink.write_start(record(id=f"{name}-{number}", input=long), durable=False)
            sink.write(record(id=f"{name}-{number}", input=long))
        except OSError:
            failed += 1
    print(failed)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

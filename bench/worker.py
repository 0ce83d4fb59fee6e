"""One subject in its own process: JSON lines in, what its methods return out."""

from __future__ import annotations

import json
import os
import sys

from bench.subjects import subject


def main() -> None:
    """Serve the subject that the command line names until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    # What libraries print is not an answer.
    os.dup2(2, 1)
    measured = subject(sys.argv[1], json.loads(sys.argv[2]))
    for line in sys.stdin:
        asked = json.loads(line)
        answer = getattr(measured, asked["do"])(**asked["with"])
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()

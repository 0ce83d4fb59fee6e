"""A file, a mark in it and a rate in; the file with other marks, until the input ends, out."""

from __future__ import annotations

import os
import select
import sys
from itertools import count
from pathlib import Path


def main() -> None:
    """Replace the file again and again, as an editor does: written aside, then moved."""
    file, mark, rate = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    text = file.read_text()
    assert mark in text
    aside = file.with_suffix(".new")
    for number in count(1):
        # Another one than any process before it wrote.
        aside.write_text(text.replace(mark, f"{mark}-{os.getpid()}-{number}"))
        os.replace(aside, file)
        if select.select([sys.stdin], [], [], 1 / rate)[0]:
            break
    aside.write_text(text)
    os.replace(aside, file)


if __name__ == "__main__":
    main()

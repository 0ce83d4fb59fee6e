"""The cache of scripts is bounded, even for very long words."""

from __future__ import annotations

import tracemalloc

from policy.shell import read_script
from tests.collecting import collecting

_LONG = 100_000


def test_long_words_take_no_memory_for_good() -> None:
    read_script("echo")  # imports the parser
    tracemalloc.start()
    try:
        with collecting():  # the parser's objects refer to each other
            for number in range(40):
                read_script(f"echo {number}".ljust(_LONG, "x"))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 10 * _LONG

"""Show that reading grows no faster than what is read: `python -m bench.linear`, about a minute.

Globs, paths, URLs and commands are read from texts of 1 kB to 1 MB, plain ones and ones that were
made to be slow. The growth is the exponent k of size^k, from 10 kB to 1 MB or to the last size that
is still read; 1 is linear, and `bounded` says that a bound ends the work. The exit status is 1
where one is over 1.25, or where a text makes a reader fail. What is measured is processor time, so
that a busy machine shows the same growth.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path as FilePath
from time import perf_counter, process_time_ns
from typing import Any, TypeAlias

from bench.effort import tell
from bench.page import GROWTH_MARKS, write
from bench.report import machine
from policy.values import (
    Path,
    PathContext,
    PathPattern,
    compile_path_glob,
    compile_text_glob,
    links_in,
    path_overlaps,
    read_endpoint,
    read_path,
    read_path_pattern,
)

SIZES = (1_000, 10_000, 100_000, 1_000_000)
MOST_GROWTH = 1.25
# What takes less than this is noise; half a microsecond to call a function and to look at a clock.
_LEAST_NANOSECONDS = 20_000
_SECONDS = 0.3
_MOST_TIMES = 7
_RESULTS = FilePath(__file__).parent / "results" / "linear.json"

Read: TypeAlias = Callable[[str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Something that reads text, and texts for it of about any size."""

    what: str
    text: str
    read: Read
    make: Callable[[int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Nanoseconds by size, and the exponent from 10 kB to 1 MB; or what went wrong instead."""

    what: str
    text: str
    taken: tuple[int, ...]
    exponent: float
    failed: str | None = None


def main() -> int:
    """Measure all cases; return the exit status."""
    cases, missing = _cases()
    found = [_measured(case) for case in cases]
    print(table(found))
    for what in missing:
        print(f"\n{what}: not there")
    slow = [growth for growth in found if growth.exponent > MOST_GROWTH]
    for growth in slow:
        print(f"\n{growth.what}, {growth.text}: {_fault(growth)}")
    about = machine(f"{datetime.now(UTC):%Y-%m-%d}")
    rows = [asdict(growth) for growth in found]
    values = {"about": about, "sizes": SIZES, "growth": rows, "missing": missing}
    _RESULTS.parent.mkdir(exist_ok=True)
    _RESULTS.write_text(json.dumps(values, indent=1) + "\n")
    write(table(found) + "\n", GROWTH_MARKS)
    return 1 if slow or missing else 0


def table(found: list[Growth]) -> str:
    """Return the measurements as Markdown, in milliseconds."""
    sizes = " | ".join(f"{size // 1000:,} kB" for size in SIZES)
    lines = [
        f"| what | text | {sizes} | growth |",
        "| --- | --- |" + " --: |" * (len(SIZES) + 1),
    ]
    for row in found:
        times = " | ".join([f"{taken / 1e6:.3g}" for taken in row.taken] or ["–"] * len(SIZES))
        growth = "bounded" if row.exponent < 0.05 else f"{row.exponent:.2f}"
        lines.append(f"| {row.what} | {row.text} | {times} | {growth} |")
    return "\n".join(lines)


def _fault(growth: Growth) -> str:
    return growth.failed or f"grows with size^{growth.exponent:.2f}"


def _measured(case: Case) -> Growth:
    tell(f"{case.what}: {case.text}")
    try:
        taken = _times(case)
        if _exponent(taken) > MOST_GROWTH:
            # Perhaps something else ran meanwhile: what grows too fast does so again.
            taken = tuple(map(min, taken, _times(case)))
    except Exception as error:  # noqa: BLE001 (nothing may be raised by any text)
        failed = f"{type(error).__name__}: {error}"[:200]
        return Growth(what=case.what, text=case.text, taken=(), exponent=99.0, failed=failed)
    return Growth(what=case.what, text=case.text, taken=taken, exponent=_exponent(taken))


def _times(case: Case) -> tuple[int, ...]:
    return tuple(_quickest(case.read, case.make(size)) for size in SIZES)


def _exponent(taken: tuple[int, ...]) -> float:
    # Beyond a bound nothing is read, so that the growth ends where most is done.
    end = max(range(2, len(SIZES)), key=lambda at: taken[at])
    first, last = (max(taken[at], _LEAST_NANOSECONDS) for at in (1, end))
    return math.log(last / first) / math.log(SIZES[end] / SIZES[1])


def _quickest(read: Read, text: str) -> int:
    """Return the shortest of some times, in nanoseconds; what else the machine does only adds."""
    best: int | None = None
    end = perf_counter() + _SECONDS
    for _ in range(_MOST_TIMES):
        # Only short texts are remembered, of which the growth says nothing.
        before = process_time_ns()
        read(text)
        now = process_time_ns() - before
        best = now if best is None else min(best, now)
        if perf_counter() > end:
            break
    assert best is not None
    return best


# ------------------------------------------------------------------ what is read


def _cases() -> tuple[list[Case], list[str]]:
    commands = _commands()
    cases = [*_globs(), *_paths(), *_urls(), *commands]
    return cases, [] if commands else ["commands"]


def _repeated(part: str, end: str = "") -> Callable[[int], str]:
    return lambda size: part * ((size - len(end)) // len(part)) + end


def _behind(start: str, sign: str) -> Callable[[int], str]:
    """Return texts with a sign before each of their long names, so that no bound ends the work."""
    part = sign + "x" * 150
    return lambda size: start + part * (size // len(part))


def _numbered(part: str) -> Callable[[int], str]:
    return lambda size: "".join(part.format(count) for count in range(size // len(part)))


def _globs() -> list[Case]:
    many = compile_text_glob("*a*a*a*a*a*a*b")
    single = compile_text_glob("*a?a?a?a*c?d")
    deep = compile_path_glob("/w/**/a/*/a/**/b*c/**/d")
    return [
        Case(what="glob `*a*a*…b`", text="only `a`", read=many, make=_repeated("a")),
        Case(what="glob `*a?a?…`", text="only `a`", read=single, make=_repeated("a")),
        Case(what="glob `*a?a?…`", text="words", read=single, make=_repeated("any word ")),
        Case(what="glob `**/a/*/…`", text="only `/a`", read=deep, make=_repeated("/a", "/b")),
        Case(what="glob `**/a/*/…`", text="one name", read=deep, make=_repeated("bc")),
    ]


def _paths() -> list[Case]:
    context = PathContext(cwd="/w", workspace="/w", home="/h", resolve=lambda path: path)
    texts = [read_path_pattern(text) for text in ("/w/**/a/*/b", "**/.env")]
    items = tuple(item for item in texts if isinstance(item, PathPattern))

    def judge(text: str) -> Any:
        path = read_path(text, context)
        return path_overlaps(path, items, (), context=context) if isinstance(path, Path) else path

    return [
        Case(what="path", text="folders", read=judge, make=_repeated("folder/", "x")),
        Case(what="path", text="`../`", read=judge, make=_repeated("../", "x")),
        Case(what="path", text="`%25`", read=judge, make=_repeated("%25")),
        Case(what="path item", text="folders", read=read_path_pattern, make=_repeated("folder/")),
        Case(what="path item", text="`**/`", read=read_path_pattern, make=_repeated("**/", "x")),
        Case(what="path item", text="`{a[`", read=read_path_pattern, make=_repeated("{a[")),
        Case(what="path item", text="`?(`", read=read_path_pattern, make=_repeated("?(")),
        Case(what="path item", text="backslashes", read=read_path_pattern, make=_repeated("\\")),
        Case(what="path item", text="`x/../`", read=read_path_pattern, make=_repeated("x/../")),
    ]


def _urls() -> list[Case]:
    url = "https://host.example/"
    return [
        Case(what="URL", text="a path", read=read_endpoint, make=lambda n: url + "a/" * (n // 2)),
        Case(what="URL", text="`../`", read=read_endpoint, make=lambda n: url + "../" * (n // 3)),
        Case(what="URL", text="`%2e/`", read=read_endpoint, make=lambda n: url + "%2e/" * (n // 4)),
        Case(what="URL", text="a host", read=read_endpoint, make=_repeated("a.", "example")),
        Case(what="URL", text="`@`", read=read_endpoint, make=lambda n: "https://" + "@" * n),
        Case(
            what="URL", text="`[:`", read=read_endpoint, make=lambda n: "http://" + "[:" * (n // 2)
        ),
        Case(what="URL", text="digits", read=read_endpoint, make=lambda n: "http://" + "9" * n),
        Case(what="URL", text="`xn--`", read=read_endpoint, make=_repeated("xn--a.", "x")),
        Case(what="links in text", text="words", read=links_in, make=_repeated("some words ")),
        Case(what="links in text", text="URLs", read=links_in, make=_repeated(f"{url} ")),
        Case(what="links in text", text="`http:`", read=links_in, make=_repeated("http:")),
        Case(what="links in text", text="`](`", read=links_in, make=_repeated("](")),
        Case(what="links in text", text="dots", read=links_in, make=_repeated("a.")),
    ]


def _commands() -> list[Case]:
    try:
        from policy.generation.shipped import shipped_profiles
        from policy.programs import analyse_script
    except ImportError:
        return []
    profiles = shipped_profiles()

    def read(text: str) -> Any:
        return analyse_script(text, profiles)

    texts: dict[str, Callable[[int], str]] = {
        "lines": _repeated("cat -n some/file.txt | grep -i word\n"),
        "one word": lambda size: "echo " + "a" * size,
        "words": lambda size: "rm " + "some/file " * (size // 10),
        "options": lambda size: "git log " + "--all " * (size // 6),
        "quotes": lambda size: "echo " + "'a'\"b\"" * (size // 6),
        "open quotes": _repeated("'\""),
        "`$(`": _repeated("$("),
        "nested `$(`": lambda size: "echo " + "$(" * (size // 3) + ")" * (size // 3),
        "parentheses": _repeated("("),
        "braces": lambda size: "echo " + "{a," * (size // 3),
        "`{a,b}*…`": _behind("echo {a,b}", "*"),
        "`{a,b}{…`": _behind("echo {a,b}", "{"),
        "`{a,b}}…`": _behind("echo {a,b}", "}"),
        "backslashes": _repeated("\\"),
        "`;`": _repeated(";"),
        "`<<`": _repeated("<<a "),
        "a here-document": lambda size: "cat <<E\n" + "text $x\n" * (size // 8) + "E\n",
        "`bash -c`": lambda size: "bash -c '" + "echo a; " * (size // 8) + "'",
        "`&&`": lambda size: "a" + " && a" * (size // 5),
        "`cd`": _repeated("cd a\n"),
        "functions": _repeated("f() { g; }\n"),
        "names": _numbered("f{0}() {{ V{0}=a; v{0}=a; g; }}\n"),
        "assignments": _repeated("a=b "),
    }
    return [Case(what="command", text=name, read=read, make=make) for name, make in texts.items()]


if __name__ == "__main__":
    raise SystemExit(main())

"""Examples in a profile file: a script, and what the analysis must find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policy.programs.profiles.faults import Faults
from policy.values import quote

_LISTS = ("reads", "writes", "connects", "sends", "runs", "covered_by", "not_covered_by")
_FLAGS = ("hides", "unseen", "free")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One example; a field that is None is not checked. `line` counts from 1, 0 is unknown."""

    run: str
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None
    connects: tuple[str, ...] | None = None
    sends: tuple[str, ...] | None = None
    runs: tuple[str, ...] | None = None
    covered_by: tuple[str, ...] | None = None
    not_covered_by: tuple[str, ...] | None = None
    hides: bool | None = None
    unseen: bool | None = None
    free: bool | None = None
    line: int = 0


def read_examples(listed: object, faults: Faults) -> tuple[Example, ...]:
    """Return the examples of a file, recording every mistake."""
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        faults.add(("examples",), "examples must be tables", help="write `[[examples]]`")
        return ()
    lines = [
        number
        for number, line in enumerate(faults.text.split("\n"), start=1)
        if line.strip().startswith("[[examples]]")
    ]
    lines.extend([0] * len(listed))
    return tuple(
        _example(one, line, faults=faults) for one, line in zip(listed, lines, strict=False)
    )


def _example(one: Mapping[str, Any], line: int, *, faults: Faults) -> Example:
    for key in one:
        if key not in ("run", *_LISTS, *_FLAGS):
            faults.add(
                ("examples",),
                f"{quote(key)} is not a key of an example",
                help=f"keys are run, {', '.join((*_LISTS, *_FLAGS))}",
            )
    run = one.get("run")
    if not isinstance(run, str):
        faults.add(("examples",), "an example needs a script", help='run = "sort -o out in"')
        run = ""
    return Example(
        run=run,
        line=line,
        reads=_list(one, "reads", faults),
        writes=_list(one, "writes", faults),
        connects=_list(one, "connects", faults),
        sends=_list(one, "sends", faults),
        runs=_list(one, "runs", faults),
        covered_by=_list(one, "covered_by", faults),
        not_covered_by=_list(one, "not_covered_by", faults),
        hides=_flag(one, "hides", faults),
        unseen=_flag(one, "unseen", faults),
        free=_flag(one, "free", faults),
    )


def _list(one: Mapping[str, Any], key: str, faults: Faults) -> tuple[str, ...] | None:
    value = one.get(key)
    if value is None:
        return None
    listed = [value] if isinstance(value, str) else value
    if isinstance(listed, list) and all(isinstance(item, str) for item in listed):
        return tuple(listed)
    faults.add(("examples",), f"`{key}` of an example must be a list of strings")
    return None


def _flag(one: Mapping[str, Any], key: str, faults: Faults) -> bool | None:
    value = one.get(key)
    if value is None or isinstance(value, bool):
        return value
    faults.add(("examples",), f"`{key}` of an example must be true or false")
    return None

"""Phrases for people: who may answer a request, and which calls the answer serves."""

from __future__ import annotations

from policy.diagnostics import visible
from policy.model import Remembering, Terms

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))


def answerable_by(terms: Terms | None) -> str:
    """Return who may answer: `anybody`, `somebody of a or b`, `two people of a`."""
    groups = [] if terms is None else [visible(group, 80) for group in terms.groups]
    if terms is None or not terms.two_people:
        return f"somebody of {_listed(groups, 'or')}" if groups else "anybody"
    if len(groups) < 2:
        return "two people" + "".join(f" of {group}" for group in groups)
    return f"one person each of {_listed(groups, 'and')}"


def serving_for(remember: Remembering | None) -> str:
    """Return what an answer serves: `once`, or for how long, how often and for which calls."""
    if remember is None:
        return "once"
    how_long = "the session" if remember.seconds is None else exact_duration(remember.seconds)
    fields = _listed([_field(steps) for steps in remember.fields], "and")
    others = ", whatever its other input" if fields else ""
    times = "" if remember.times is None else f", up to {remember.times} times"
    return f"remembered for {how_long} for the same {fields or 'call'}{others}{times}"


def exact_duration(seconds: float) -> str:
    """Return `1h 30m`, `2d` or `0.5s`: no part of it is left out."""
    found, rest = [], seconds
    for size, unit in _UNITS:
        many, rest = divmod(rest, size)
        if many:
            found.append(f"{many:g}{unit}")
    if rest or not found:
        found.append(f"{rest:g}s")
    return " ".join(found)


def _field(steps: tuple[str | int, ...]) -> str:
    path = "input" + "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for step in steps)
    return visible(path, 120)


def _listed(items: list[str], word: str) -> str:
    *rest, last = items or [""]
    return f"{', '.join(rest)} {word} {last}" if rest else last

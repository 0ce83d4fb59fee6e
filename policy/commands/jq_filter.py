"""A filter of jq, yq and their like in; the files that it reads and what it may run out."""

from __future__ import annotations

import re

from policy.commands.small_language import Doings, Touched

_MODULE = re.compile(r"\b(?:import|include)\b")
_LOADS = re.compile(r"\b(?:load|load_\w+|strload)\s*\(")
# Secrets stand in variables of the environment.
_ENVIRONMENT = re.compile(r"\$ENV\b|\$__prog|(?<![.$\w])(?:env|strenv|envsubst)\b")
_RUNS = re.compile(r"\bsystem\s*\(")


def read_jq(text: str) -> Doings:
    """Return what a filter does: it works on its input, and some can load files."""
    touched = Touched("reads", None)
    if _RUNS.search(text):
        return Doings(touched=(touched,), gap="a filter that runs commands")
    if _MODULE.search(text) or _LOADS.search(text):
        return Doings(touched=(touched,), harms=True)
    return Doings(harms=_ENVIRONMENT.search(text) is not None)

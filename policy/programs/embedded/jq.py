"""Filters of jq, yq and their like: the files that they read and what they may run."""

from __future__ import annotations

import re

from policy.programs.embedded.embedded_program import AccessedResource, ProgramEffects

_MODULE = re.compile(r"\b(?:import|include|modulemeta)\b")
# (`eval` of one yq runs a filter that is a computed text.)
_LOADS = re.compile(r"\b(?:load|load_\w+|strload|eval)\s*\(")
# The environment may contain secrets. (A comment may stand between `$` and `ENV`.)
_ENVIRONMENT = re.compile(r"\$\s*+(?:ENV\b|__prog|#)|(?<![.$\w])(?:env|strenv|envsubst)\b")
_RUNS = re.compile(r"\bsystem\s*\(")


def read_jq(text: str) -> ProgramEffects:
    """Return the effects of a filter: it works on its input, and some filters can load files."""
    access = AccessedResource("reads", None)
    if _RUNS.search(text):
        return ProgramEffects(accesses=(access,), gap="a filter that runs commands")
    if _MODULE.search(text) or _LOADS.search(text):
        return ProgramEffects(accesses=(access,), harmful=True)
    if _ENVIRONMENT.search(text):
        environment = AccessedResource("reads", "/proc/self/environ")
        return ProgramEffects(accesses=(environment,), harmful=True)
    return ProgramEffects()

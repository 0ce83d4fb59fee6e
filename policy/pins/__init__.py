"""Reviewed definitions of MCP tools: what `tools.lock` holds, and how a server stands to it."""

from policy.pins.comparison import Compared, PinComparison, PinState, compare
from policy.pins.definitions import (
    About,
    Definition,
    ServerDefinitions,
    ServerProgram,
    UnusableDefinitions,
    definition_digest,
    definitions_of,
    entry_problem,
)
from policy.pins.lock import Lock, Pin, Reviewed, ServerPins, accepted, without
from policy.pins.lock_file import LockProblem, read_lock, write_lock
from policy.pins.recorded import recorded_definitions
from policy.pins.review import Review, Reviewable, proposed_resources, review
from policy.pins.shadowing import KnownNames
from policy.pins.specs import live_specs, pinned_specs

__all__ = [
    "About",
    "Compared",
    "Definition",
    "KnownNames",
    "Lock",
    "LockProblem",
    "Pin",
    "PinComparison",
    "PinState",
    "Review",
    "Reviewable",
    "Reviewed",
    "ServerDefinitions",
    "ServerPins",
    "ServerProgram",
    "UnusableDefinitions",
    "accepted",
    "compare",
    "definition_digest",
    "definitions_of",
    "entry_problem",
    "live_specs",
    "pinned_specs",
    "proposed_resources",
    "read_lock",
    "recorded_definitions",
    "review",
    "without",
    "write_lock",
]

"""What one layer of a policy knows of a tool's arguments."""

from __future__ import annotations

from typing import Any

from policy.programs import NO_PROFILES, Profiles
from policy.values import Regex, Unreadable, compile_regex, compile_without_shortcuts


class DeclaredResources:
    """What one layer knows of a tool's arguments: the spec's own resources and its additions.

    `profiles` say what the programs do that its commands run. Without `prepared` nothing is looked
    up: sets are asked item by item, against which the quicker ways are held. Without
    `expressions`, RE2 does every test of an expression.

    Held by a program for as long as it lives, so its identity can stand for it. `tests` are the
    tests of resources that were compiled for it, by what they ask.
    """

    __slots__ = (
        "complete", "expressions", "prepared", "profiles", "resources", "tests", "unseen", "verbs",
    )  # fmt: skip

    def __init__(
        self,
        resources: tuple[Any, ...],
        *,
        complete: bool,
        unseen: bool,
        profiles: Profiles = NO_PROFILES,
        prepared: bool = True,
        expressions: bool = True,
    ) -> None:
        self.resources = resources
        self.complete = complete
        self.unseen = unseen
        self.profiles = profiles
        self.prepared = prepared
        self.expressions = expressions
        self.verbs = frozenset(resource.verb for resource in resources)
        self.tests: dict[Any, Any] = {}

    def regex(self, source: str) -> Regex | Unreadable:
        """Compile an expression that calls are tested by."""
        return compile_regex(source) if self.expressions else compile_without_shortcuts(source)

    def may(self, verb: str) -> bool:
        """Tell whether a call may have an effect of this kind, whatever its arguments are."""
        return not self.complete or verb in self.verbs or "runs" in self.verbs

    def says_the_same(self, other: DeclaredResources) -> bool:
        """Tell whether calls do the same by both."""
        return (
            self.profiles is other.profiles
            and self.complete == other.complete
            and self.unseen == other.unseen
            and self.resources == other.resources
        )

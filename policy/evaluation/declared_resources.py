"""What one layer of a policy knows of a tool's arguments."""

from __future__ import annotations

from typing import Any

from policy.programs import NO_PROFILES, Profiles
from policy.values import Regex, Unreadable, compile_regex, compile_without_shortcuts


class DeclaredResources:
    """A tool's resource arguments in one layer: the spec's own, and the layer's additions.

    `profiles` are the profiles of the programs that its commands run. Without `prepared`, sets are
    tested item by item instead of by look-up; tests compare both. Without `expressions`, RE2
    evaluates every regular expression.

    The program keeps it alive, so that its identity can serve as a key. `tests` are the resource
    tests compiled for it, by their meaning.
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
        """Compile a regular expression for tests of calls."""
        return compile_regex(source) if self.expressions else compile_without_shortcuts(source)

    def may(self, verb: str) -> bool:
        """Return whether any call may have an effect with this verb."""
        return not self.complete or verb in self.verbs or "runs" in self.verbs

    def says_the_same(self, other: DeclaredResources) -> bool:
        """Return whether calls have the same effects under both."""
        return (
            self.profiles is other.profiles
            and self.complete == other.complete
            and self.unseen == other.unseen
            and self.resources == other.resources
        )

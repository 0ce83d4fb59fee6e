"""What this machine's disk says of paths, handed to decisions as resolvers."""

from __future__ import annotations

from policy.facts import ResolveHost, Resolvers
from policy.reload.letter_case import LetterCase
from policy.reload.links import Links


class Disk:
    """The disk as calls are judged by it; each call sees one moment of it."""

    def __init__(self) -> None:
        self._case = LetterCase()

    def resolvers(self, *, host: ResolveHost | None = None) -> Resolvers:
        """Return resolvers for one call, which remember what they saw."""
        links = Links()
        return Resolvers(
            path=links.follow,
            folds=self._case.folds,
            other_names=links.other_names,
            identity=links.identity,
            host=host,
        )

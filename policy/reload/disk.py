"""What this machine's disk says of paths, handed to decisions as resolvers."""

from __future__ import annotations

from policy.facts import ResolveHost, Resolvers
from policy.reload.letter_case import LetterCase
from policy.reload.links import Links
from policy.reload.looking import Looking


class Disk:
    """The disk as calls are judged by it; each call sees one moment of it."""

    def __init__(self) -> None:
        self._case = LetterCase()

    def resolvers(self, *, host: ResolveHost | None = None) -> Resolvers:
        """Return resolvers for one call, which remember what they saw."""
        return self.seen(host=host)[0]

    def seen(self, *, host: ResolveHost | None = None) -> tuple[Resolvers, Looking]:
        """Return resolvers for one call, with what looks at trees for it."""
        links = Links()
        looking = Looking(links.follow)
        resolvers = Resolvers(
            path=links.follow,
            folds=self._case.folds,
            other_names=links.other_names,
            identity=links.identity,
            look=looking.look,
            host=host,
        )
        return resolvers, looking

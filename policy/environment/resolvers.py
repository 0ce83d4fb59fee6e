"""Resolvers that answer a decision's questions about paths from this machine's disk."""

from __future__ import annotations

from policy.environment.git_store import GitStore, repository_above
from policy.environment.letter_case import LetterCase
from policy.environment.links import Links
from policy.environment.lookups import DiskLookups
from policy.model import BalanceOf, LookAt, Recall, RecallSaid, ResolveHost, Resolvers


class Disk:
    """The disk as calls are judged by it; each call gets one consistent view."""

    def __init__(self) -> None:
        self._case = LetterCase()

    def resolvers(
        self,
        links: Links | None = None,
        *,
        look: LookAt | None = None,
        host: ResolveHost | None = None,
        history: Recall | None = None,
        said: RecallSaid | None = None,
        balance: BalanceOf | None = None,
    ) -> Resolvers:
        """Return resolvers for one call that cache their answers, as `links` does.

        `look` replaces the look-ups on the disk, which may take long.
        """
        seen = links or Links()
        return Resolvers(
            path=seen.follow,
            folds=self._case.folds,
            other_names=seen.other_names,
            identity=seen.identity,
            is_folder=seen.is_folder,
            look=look or DiskLookups(seen.follow).look_up,
            host=host,
            restores=GitStore().may_restore,
            repository_above=repository_above,
            history=history,
            said=said,
            balance=balance,
        )

"""Amounts by time, so that the sum over a window takes no longer for many than for few."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from policy.model.budgets import NO_TIME, Amount, exact_difference, exact_sum

# How much longer than their window amounts are kept apart, so that a clock that is set back, or an
# edit to a longer window, finds them.
LEAST_SLACK = timedelta(hours=1)
_FEW = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class AmountParts:
    """Everything that `TimedAmounts` hold: what is folded, and the amounts apart from it by time.

    `longest` and `ever` are the windows that were asked about.
    """

    folded: Amount
    folded_until: datetime | None
    longest: timedelta
    ever: bool
    amounts: tuple[tuple[datetime, Amount], ...]


class TimedAmounts:
    """A `Spending` in memory. Not safe to use from several threads at once.

    Amounts that no window reaches any more are folded into one: it counts as a whole, with the time
    of the youngest of them.
    """

    __slots__ = ("_ever", "_folded", "_longest", "_sums", "_times", "_youngest_folded")

    def __init__(self) -> None:
        self._times: list[datetime] = []
        # The sums of all amounts up to and including each.
        self._sums: list[Amount] = []
        self._folded: Amount = 0
        self._youngest_folded: datetime | None = None
        self._longest = timedelta()
        # Whether some limit counts amounts of any age.
        self._ever = False

    def __len__(self) -> int:
        return len(self._times)

    @classmethod
    def of(cls, parts: AmountParts) -> TimedAmounts:
        """Return the amounts that were taken apart by `parts`."""
        amounts = cls()
        amounts._longest, amounts._ever = parts.longest, parts.ever
        amounts._folded, amounts._youngest_folded = parts.folded, parts.folded_until
        for at, amount in parts.amounts:
            amounts._times.append(at)
            amounts._sums.append(exact_sum(amounts.total(), amount))
        return amounts

    def parts(self) -> AmountParts:
        """Return everything that is held."""
        return AmountParts(
            folded=self._folded,
            folded_until=self._youngest_folded,
            longest=self._longest,
            ever=self._ever,
            amounts=tuple(
                (at, exact_difference(self._sums[place], self._before(place)))
                for place, at in enumerate(self._times)
            ),
        )

    def total(self) -> Amount:
        """Return everything that was charged."""
        return self._sums[-1] if self._sums else self._folded

    def until(self, moment: datetime) -> Amount:
        """Return what was charged at this moment or before; nothing if a part of it is folded."""
        place = bisect_right(self._times, moment)
        if place:
            return self._sums[place - 1]
        folded = self._youngest_folded
        return 0 if folded is None or folded > moment else self._folded

    def after(self, moment: datetime) -> Iterator[tuple[datetime, Amount]]:
        """Yield the charges after a moment, oldest first; folded ones together, if one is later."""
        folded = self._youngest_folded
        if folded is not None and folded > moment:
            yield folded, self._folded
        for place in range(bisect_right(self._times, moment), len(self._times)):
            yield self._times[place], exact_difference(self._sums[place], self._before(place))

    def add(self, at: datetime | None, amount: Amount) -> None:
        """Add an amount; `at` None: its time is not known."""
        moment = at or NO_TIME
        if self._youngest_folded is not None:
            # What is folded counts as one, so nothing can be older than a part of it.
            moment = max(moment, self._youngest_folded)
        place = bisect_right(self._times, moment)
        before = self._before(place)
        self._times.insert(place, moment)
        self._sums.insert(place, before)
        self._change(place, amount)

    def take_back(self, at: datetime | None, amount: Amount) -> None:
        """Remove an amount that was added; nothing happens if it has been folded since."""
        moment = at or NO_TIME
        for place in range(bisect_left(self._times, moment), len(self._times)):
            if self._times[place] != moment:
                return
            if exact_difference(self._sums[place], self._before(place)) == amount:
                del self._times[place], self._sums[place]
                self._change(place, exact_difference(0, amount))
                return

    def add_all(self, other: TimedAmounts) -> None:
        """Add everything that another has."""
        for at, amount in other.after(datetime.min.replace(tzinfo=NO_TIME.tzinfo)):
            self.add(at, amount)
        self._longest = max(self._longest, other._longest)
        self._ever = self._ever or other._ever

    def fold(
        self, window: timedelta | None, now: datetime | None, *, ever: bool | None = None
    ) -> None:
        """Fold what no window can reach any more; `window` is one that is asked about now.

        `ever`: amounts of any age are asked about too; by default, if there is no window.
        """
        self._ever = self._ever or (window is None if ever is None else ever)
        self._longest = max(self._longest, window or timedelta())
        if now is None or len(self._times) < _FEW:
            return
        try:
            horizon = now - self._longest - max(self._longest, LEAST_SLACK)
        except OverflowError:
            return
        place = bisect_right(self._times, horizon)
        # Not one by one: removing from the beginning of a list moves the rest.
        if place * 2 < len(self._times):
            return
        self._folded, self._youngest_folded = self._sums[place - 1], self._times[place - 1]
        del self._times[:place], self._sums[:place]

    def is_spent_before(self, now: datetime | None) -> bool:
        """Return whether nothing is left that a window could reach."""
        if now is None or self._ever or not self._longest:
            return False
        youngest = self._times[-1] if self._times else self._youngest_folded
        try:
            horizon = now - self._longest - max(self._longest, LEAST_SLACK)
        except OverflowError:
            return False
        return youngest is None or youngest <= horizon

    def _before(self, place: int) -> Amount:
        return self._sums[place - 1] if place else self._folded

    def _change(self, place: int, amount: Amount) -> None:
        for later in range(place, len(self._sums)):
            self._sums[later] = exact_sum(self._sums[later], amount)

"""Many texts, searched as few: one search of a long text is faster than many of short ones."""

from __future__ import annotations

from bisect import bisect_right

_CHUNK = 1 << 18
# In no text that is searched for.
_APART = "\0"
# Python searches a text that is shorter in steps of up to its length times that of what is searched
# for, and a longer one in steps of its length. What is appended takes few steps, as nothing that is
# searched for begins in it.
_SHORT = 30_000
_STEPS_OF_PADDING = 3_000
# So many characters that are compared one by one take the time of one step.
_COMPARED_AT_ONCE = 15


class _Chunk:
    """Texts joined to one, each with the place where it begins.

    One thread adds at a time, while others search what there is.
    """

    __slots__ = ("_joined", "_so_far", "_texts", "positions", "size", "starts")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._so_far: tuple[int, str] = (0, "")
        self._joined: str | None = None
        self.starts: list[int] = []
        self.positions: list[int] = []
        self.size = 0

    def add(self, position: int, text: str) -> None:
        # First where it stands, then the text: whoever finds it finds its position.
        self.starts.append(self.size)
        self.positions.append(position)
        self.size += len(text) + len(_APART)
        self._texts.append(text)

    def close(self) -> None:
        """Join the texts for good."""
        self._joined = _APART.join(self._texts)
        self._texts = []
        self._so_far = (0, "")

    def joined(self) -> str:
        """Return the texts so far."""
        texts, (count, so_far) = self._texts, self._so_far
        if self._joined is not None:
            return self._joined
        if count != len(texts):
            count = len(texts)
            so_far = _APART.join(texts[:count])
            self._so_far = (count, so_far)
        return so_far


class TextPile:
    """Texts at ascending positions."""

    def __init__(self) -> None:
        self._chunks: list[_Chunk] = []
        self.size = 0

    def add(self, position: int, text: str) -> None:
        """Add a text."""
        if not text:
            return
        if not self._chunks or self._chunks[-1].size >= _CHUNK:
            if self._chunks:
                self._chunks[-1].close()
            self._chunks.append(_Chunk())
        self._chunks[-1].add(position, text)
        self.size += len(text)

    def steps(self, wanted: str) -> int:
        """Return how many steps it may take to search the texts, of some three nanoseconds each."""
        if not self._chunks:
            return 0
        last = self._chunks[-1].size
        return self.size - last + min(_directly(last, wanted), last + _STEPS_OF_PADDING)

    def find(self, wanted: str, length: int) -> int | None:
        """Return the first position below `length` whose text has `wanted` in it."""
        for chunk in self._chunks:
            text = chunk.joined()
            if _directly(len(text), wanted) > len(text) + _STEPS_OF_PADDING:
                text = text.ljust(_SHORT, _APART)
            at = text.find(wanted)
            if at != -1:
                position = chunk.positions[bisect_right(chunk.starts, at) - 1]
                return position if position < length else None
        return None


def _directly(size: int, wanted: str) -> int:
    """Return how many steps it may take to search a text of this size as it is."""
    return size if size >= _SHORT else size * (1 + len(wanted) // _COMPARED_AT_ONCE)

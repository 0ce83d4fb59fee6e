"""Reads the body of a response, up to a limit of decoded bytes."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable
from typing import Protocol

# The kept part of a body may come in more bytes than it has, but not endlessly more.
_SPARE = 65_536
_ZLIB, _GZIP, _RAW = zlib.MAX_WBITS, zlib.MAX_WBITS | 16, -zlib.MAX_WBITS


class EncodingProblem(Exception):
    """A body in an unknown encoding, or not in the one it declares."""


class _Decoder(Protocol):
    def __call__(self, chunk: bytes, most: int) -> bytes:
        """Return at most `most` decoded bytes of the chunk."""
        ...


async def read_body(
    chunks: AsyncIterable[bytes], encoding: str, *, most: int
) -> tuple[bytes, bool]:
    """Return the body's first `most` bytes, and whether it has more; raises EncodingProblem."""
    decode = _decoder(encoding.strip().lower())
    kept, taken = bytearray(), 0
    async for chunk in chunks:
        taken += len(chunk)
        kept += decode(chunk, most + 1 - len(kept))
        if len(kept) > most or taken > most + _SPARE:
            return bytes(kept[:most]), True
    return bytes(kept), False


def _decoder(encoding: str) -> _Decoder:
    if encoding in ("", "identity"):
        return lambda chunk, most: chunk[:most]
    if encoding in ("gzip", "x-gzip"):
        return _Inflater(_GZIP)
    if encoding == "deflate":
        return _Inflater(_ZLIB)
    # Nested compression grows by the square, and was not requested.
    raise EncodingProblem("it is in an encoding that was not asked for")


class _Inflater:
    """Inflates chunk by chunk, and never more of one than is needed."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._inflate = zlib.decompressobj(window)
        self._begun = self._ended = False

    def __call__(self, chunk: bytes, most: int) -> bytes:
        kept = bytearray()
        while chunk and len(kept) < most:
            kept += self._inflated(chunk, most - len(kept))
            chunk = self._inflate.unused_data
            if self._inflate.eof and chunk:
                # Concatenated gzip members are one file.
                self._ended = True
                self._inflate = zlib.decompressobj(self._window)
        return bytes(kept)

    def _inflated(self, chunk: bytes, most: int) -> bytes:
        try:
            found = self._inflate.decompress(chunk, most)
        except zlib.error as error:
            if self._ended:
                # Data after a complete file is ignored, as browsers do.
                return b""
            if self._begun or self._window != _ZLIB:
                raise EncodingProblem("it is not in the encoding that it declares") from error
            # `deflate` is the name of two formats.
            self._window = _RAW
            self._inflate = zlib.decompressobj(_RAW)
            return self._inflated(chunk, most)
        self._begun = True
        return found

"""`NotAsListed`: a server's tool is not the one that was listed, so it was not called."""

from __future__ import annotations


class NotAsListed(Exception):
    """The server has another definition of the tool now than the one that was judged."""

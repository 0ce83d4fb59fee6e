"""Names of tools and arguments that probably stand for folders with everything below them."""

from __future__ import annotations

import re

from policy.catalog.name_repair import snake_case

# Words of the name of an argument that is a folder.
FOLDERS = frozenset("directory dir folder root cwd repo repository workdir".split())
# Tools with such a word in their name work on all below a path.
_DEEP = FOLDERS | frozenset("directorie tree search find grep glob recursive".split())


def is_of_folders(tool: str) -> bool:
    """Return whether a tool is named like one that works on everything below a path."""
    return bool(_DEEP & set(name_words(tool)))


def name_words(name: str) -> list[str]:
    """Return the words of a name, in the singular."""
    words = re.split(r"[^a-z0-9]+", snake_case(name))
    return [word.removesuffix("s") for word in words]

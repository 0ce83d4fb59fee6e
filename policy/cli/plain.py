"""The words of a plain `placet decide …` in; whether it was decided, without click, out.

Importing click takes four times as long as Python does to start, and a hook starts a process for
each call. What is anything but plain, or wrong in any way, is left to click, which tells it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from policy.cli.fast_paths import VARIABLE
from policy.cli.options import DECIDE, USUAL_PATH, may_be_policy

# Each way to write an option: the option, and whether it says yes.
_WRITTEN = {
    word: (option, not number) for option in DECIDE for number, word in enumerate(option.written)
}


def decided(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Decide the calls that a plain command line asks about; False: it is not one."""
    if words[:1] != ["decide"] or _is_unusual(environment):
        return False
    given = read(words[1:])
    if given is None:
        return False
    from policy.cli.deciding import decide
    from policy.cli.ending import told

    told(lambda: decide(given.pop("path"), **given))
    return True


def _is_unusual(environment: Mapping[str, str]) -> bool:
    """Say whether a shell asks for completions, the names are Windows', or ways are switched off.

    On Windows, click expands wildcards.
    """
    completes = any(name.endswith("_COMPLETE") for name in environment)
    return completes or os.name == "nt" or VARIABLE in environment


def read(words: Sequence[str]) -> dict[str, Any] | None:
    """Return what `decide` is given by the words after it, as click would; None: not plain.

    Plain is an option in full, said once, with its value as the next word, and what is there.
    """
    texts = _texts(words)
    if texts is None:
        return None
    path = texts.pop("path", USUAL_PATH)
    if not _is_there(path) or not may_be_policy(path):
        return None
    given: dict[str, Any] = {"path": path}
    for option in DECIDE:
        text = texts.get(option.name)
        if option.takes == "nothing":
            given[option.name] = bool(text)
        elif text is None:
            given[option.name] = None
        elif not _is_there(text) or os.path.isdir(text) or ".." in text.split("/"):
            return None
        else:
            given[option.name] = os.path.normpath(text)
    return _opened(given)


def _texts(words: Sequence[str]) -> dict[str, str] | None:
    """Return the word that each option is given, and the path; `yes` or nothing for a flag."""
    texts: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, text = "path", word
        if word in _WRITTEN:
            option, yes = _WRITTEN[word]
            name, text = option.name, "yes" if yes else ""
            if option.takes != "nothing":
                text = next(rest, "-")
        if name in texts or text.startswith("-"):
            return None
        texts[name] = text
    return texts


def _is_there(path: str) -> bool:
    try:
        return os.access(path, os.R_OK)
    except ValueError:  # a character that no name has
        return False


def _opened(given: dict[str, Any]) -> dict[str, Any] | None:
    """Return the same with the files open that are to be read as they are."""
    for option in DECIDE:
        if option.takes == "bytes" and given[option.name] is not None:
            try:
                given[option.name] = open(given[option.name], "rb")  # noqa: SIM115 — until the end
            except OSError:
                return None
    return given

"""Whether a formatter or linter is told to change files, and whether in the folder that it runs in.

Of most such programs only an outline is known, so that their words are all there is to go by.
"""

from __future__ import annotations

from collections.abc import Sequence

from policy.shell import Word

# What tells formatters and linters to change the files that they are given.
_WRITING = frozenset(
    "--write --write-changes --fix --fix-dangerously --fix-suggestions --apply --apply-unsafe"
    " --autocorrect --autocorrect-all --auto-correct --auto-correct-all --reformat --in-place"
    " --inplace --replace -w -i -a -A format fmt fix".split()
)
# First words that are subcommands of some of them, and no files.
_SUBCOMMANDS = frozenset("check ci clippy fix fmt format lint run scan style test".split())


def orders_to_write(word: Word) -> bool:
    """Return whether formatters and linters take a word as the order to change files."""
    return word.text.partition("=")[0] in _WRITING


def rewrites_its_folder(words: Sequence[Word]) -> bool:
    """Return whether a command has an option to change files and may lack an operand.

    It then changes those of its folder. The word after an option may be its value, and the first
    one a subcommand. (A task of the name `format` is not such an option.)
    """
    is_ordered = False
    before = Word("")
    for place, word in enumerate(words[1:]):
        if word.text.startswith("-") and word.text != "--":
            is_ordered = is_ordered or orders_to_write(word)
        elif not (_may_be_value(word, before) or (not place and word.text in _SUBCOMMANDS)):
            return False
        before = word
    return is_ordered


def _may_be_value(word: Word, before: Word) -> bool:
    """Return whether a word may be the value of the option before it: `-i 3`, not `--write src`."""
    if before.text == "--" or not before.text.startswith("-") or "=" in before.text:
        return False
    return not orders_to_write(before) or word.text.isdecimal()

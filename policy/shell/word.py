"""A word of a command: the argument that the program gets, as far as the script determines it."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from policy.model import Exclusions

# A `glob` expands to the matching file names; of an `opaque` word only the beginning is known.
Shape: TypeAlias = Literal["known", "glob", "opaque"]
# `fnmatch` looks for the end of each open bracket.
_LONGEST_GLOB = 1_000


@dataclass(frozen=True, slots=True)
class Word:
    """One word, without its quotes.

    `text` is the whole of a known word, the spelling of a glob with quoted characters escaped by
    `\\`, and the literal beginning of an opaque word; `tail` is its literal end. `many`: it
    may become no word or several. `home`: it begins with an unquoted `~` or a `$HOME`
    (`text` then begins with `~`); the `~` of any other word is an ordinary character. `pipe`: it is
    `<(…)` or `>(…)`, a pipe to commands of the script, and not a file. `recursive`: the first
    wildcard stands for any number of folders, as a recursive search visits them, and all match
    hidden names; `follow_links`: links as well; `exclusions` is what the search skips. `number`: an
    opaque word of digits and blanks, or several of them. `below_start`: an opaque word that spells
    this path below the folder in which the script starts (`"$PWD/src"`). `printed`: an opaque word
    that consists of lines which this script prints, there (`$(find . -name x)`).
    """

    text: str
    shape: Shape = "known"
    many: bool = False
    home: bool = False
    pipe: bool = False
    recursive: bool = False
    follow_links: bool = False
    exclusions: Exclusions | None = None
    number: bool = False
    tail: str = ""
    below_start: str | None = None
    printed: str = ""

    @property
    def known(self) -> bool:
        """Whether the program gets exactly `text` (after `~` is expanded, where `home`)."""
        return self.shape == "known"

    def may_spell(self, text: str) -> bool:
        """Return whether a glob may match a text; a very long one may match any."""
        return len(self.text) > _LONGEST_GLOB or fnmatchcase(text, self.text)

    @property
    def file_name(self) -> str:
        """The text for `read_path`: a `~` that the shell does not expand is spelled `./~`."""
        return f"./{self.text}" if self.text.startswith("~") and not self.home else self.text


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable set for one command, or by the shell itself; `appends` for `X+=…`.

    `kept`: the shell set it before without exporting it, so that a program sees it only if its name
    was in the environment already.
    """

    name: str
    value: Word
    appends: bool = False
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Redirection:
    """One redirection. `target` is a file, or a descriptor or `-` for the copies `>&` and `<&`.

    `fd` is the descriptor spelled before the operator; `>&file` is represented as `&>`.
    Here-documents and here-strings are not redirections but the `stdin` of their command.
    """

    op: str
    target: Word
    fd: int | None = None

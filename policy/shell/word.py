"""`Word`: one word of a command, as far as the script alone tells what the program gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from policy.model import Exclusions

# A `glob` becomes the names of files that fit; nothing is known of the rest of an `opaque` word.
Shape: TypeAlias = Literal["known", "glob", "opaque"]


@dataclass(frozen=True, slots=True)
class Word:
    """One word, without its quotes.

    `text` is all of a known word, the spelling of a glob with what was quoted in it escaped by
    `\\`, and of an opaque word the literal beginning. `many` says that it may become no word or
    several. `home` says that an unquoted `~` or a `$HOME` begins it (`text` then begins with `~`);
    the `~` of any other word is a character of a name. `pipe` says that it is `<(…)` or `>(…)`: a
    pipe to commands of the script, and no file. `found`: the first wildcard stands for any number
    of folders, as a search goes through them, and all take hidden names; `through` links as well;
    `left` is what the search leaves out.
    """

    text: str
    shape: Shape = "known"
    many: bool = False
    home: bool = False
    pipe: bool = False
    found: bool = False
    through: bool = False
    left: Exclusions | None = None

    @property
    def known(self) -> bool:
        """Whether the program gets exactly `text` (after `~` is replaced, where `home`)."""
        return self.shape == "known"

    @property
    def file_name(self) -> str:
        """The text as a path is read: a `~` that the shell does not replace is spelled `./~`."""
        return f"./{self.text}" if self.text.startswith("~") and not self.home else self.text


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable set for one command, or by the shell itself; `appends` for `X+=…`.

    `kept`: the shell set it before without exporting it, so that a program sees it only if its
    name was in the environment already.
    """

    name: str
    value: Word
    appends: bool = False
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Redirection:
    """One redirection. `target` is a file, or a descriptor or `-` for the copies `>&` and `<&`.

    `fd` is the descriptor spelled before the operator; `>&file` is read as `&>`. Here-documents
    and here-strings are no redirections but the `stdin` of their command.
    """

    op: str
    target: Word
    fd: int | None = None

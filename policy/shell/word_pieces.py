"""Expands the pieces of a spelled word into the words that a program gets.

Quoted text, globs and expansions are kept apart, since braces, `~` and globs are only special
outside quotes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from policy.shell.word import Word

# `text` and `quoted` are literal, `glob` is `*` or `?`, `bracket` a `[`, `brace` one of `{`, `,`
# and `}`; `home` is `$HOME`, `opaque` one unknown text, `many` any number of unknown words,
# `number` one unknown number or nothing, `numbers` any number of them, `file` one name that matches
# a glob, `pipe` a process substitution. `start` is a path below the folder in which the script
# starts, `starts` the same split at blanks; `printed` are lines that a script prints, `line` one.
Kind: TypeAlias = Literal[
    "text", "quoted", "glob", "bracket", "brace", "home", "opaque", "many", "number", "numbers",
    "file", "pipe", "start", "starts", "printed", "line",
]  # fmt: skip
Piece: TypeAlias = tuple[Kind, str]

# Bounds on the words that braces expand to, and on their pieces.
_MOST_ALTERNATIVES = 64
_MOST_WRITTEN_OUT = 20_000
_LITERAL = frozenset({"glob", "bracket", "brace"})
_OPAQUE = frozenset(
    {"opaque", "many", "number", "numbers", "pipe", "start", "starts", "printed", "line"}
)
# Pieces that may become no word, or several.
_SEVERAL = frozenset({"many", "numbers", "starts", "printed"})
_ESCAPED = str.maketrans({char: f"\\{char}" for char in "\\*?[]"})
_UNKNOWN = Word("", "opaque", many=True)
_OPENING: Piece = ("brace", "{")


def to_words(pieces: list[Piece]) -> list[Word]:
    """Return the words that the pieces of one argument expand to."""
    if not any(kind == "brace" for kind, _ in pieces):
        return [to_word(pieces)]
    alternatives = _expand(pieces)
    if alternatives is None:
        first = next(position for position, piece in enumerate(pieces) if piece[0] == "brace")
        return [to_word([*pieces[:first], ("many", "")])]
    return [to_word(each) for each in alternatives]


def to_word(pieces: list[Piece]) -> Word:
    """Return the one word that pieces without alternatives become."""
    kinds = [kind for kind, _ in pieces]
    if kinds == ["pipe"]:
        return Word("/dev/fd/", "opaque", pipe=True)
    if kinds == ["number"] or kinds == ["numbers"]:
        return Word("", "opaque", many=kinds == ["numbers"], number=True)
    if kinds == ["printed"] or kinds == ["line"]:
        return Word("", "opaque", many=kinds == ["printed"], printed=pieces[0][1])
    if kinds and kinds[0] in ("start", "starts"):
        return _below_start(pieces)
    home = _is_home(pieces)
    if home is None:
        return Word("", "opaque", many=not _SEVERAL.isdisjoint(kinds))
    texts: list[str] = []
    spelled: list[str] = []
    wild = many = False
    closing = _last_closing(pieces)
    for position, (kind, text) in enumerate(pieces):
        if kind in _OPAQUE or (kind == "home" and position):
            return _opaque("".join(texts), pieces, home=home and bool(texts))
        if kind in ("glob", "file") or (kind == "bracket" and _closes(pieces, position, closing)):
            wild = True
            many = many or kind != "file"
        if kind == "home":
            text = f"~{text}"
        if not wild:
            texts.append(text)
        spelled.append(text.translate(_ESCAPED) if kind == "quoted" else _escape(text, kind))
    if wild:
        return Word("".join(spelled), "glob", many=many, home=home)
    return Word("".join(texts), home=home)


def _below_start(pieces: list[Piece]) -> Word:
    """Return a word that begins with the path of the folder in which the script starts."""
    found = _opaque("/", pieces, home=False)
    rest = "".join(text for _, text in pieces[1:])
    literal = all(kind in ("text", "quoted", "brace") for kind, _ in pieces[1:])
    if not literal or (rest and not rest.startswith("/")):
        return found
    return replace(found, below_start=f".{pieces[0][1]}{rest}")


def _escape(text: str, kind: Kind) -> str:
    return text.replace("\\", "\\\\") if kind == "text" else text


def _opaque(text: str, pieces: list[Piece], *, home: bool) -> Word:
    many = any(kind in _SEVERAL or kind in ("glob", "bracket") for kind, _ in pieces)
    tail: list[str] = []
    for kind, literal in reversed(pieces):
        if kind not in ("text", "quoted"):
            break
        tail.append(literal)
    return Word(text, "opaque", many=many, home=home, tail="".join(reversed(tail)))


def _is_home(pieces: list[Piece]) -> bool | None:
    """Return whether the word begins with the home folder; None if another user's or unknown."""
    if not pieces:
        return False
    kind, text = pieces[0]
    if kind == "home":
        return True if text or len(pieces) == 1 or pieces[1][1].startswith("/") else None
    if kind != "text" or not text.startswith("~"):
        return False
    name, slash, _ = text.partition("/")
    if slash or len(pieces) == 1:
        return True if name == "~" else None
    # A quote in the user name makes all of it literal.
    return False if pieces[1][0] == "quoted" else None


def _closes(pieces: list[Piece], position: int, closing: int) -> bool:
    """Return whether a bracket is closed; a `]` directly after it is a character: `.[].name`."""
    if closing == position + 1:
        return "]" in pieces[closing][1][1:]
    return position < closing


def _last_closing(pieces: list[Piece]) -> int:
    """Return the index of the last piece with a `]` that may close a bracket."""
    for position in range(len(pieces) - 1, -1, -1):
        if pieces[position][0] == "text" and "]" in pieces[position][1]:
            return position
    return -1


def _expand(pieces: list[Piece]) -> list[list[Piece]] | None:
    """Return the alternatives that braces expand to; None where they are not certain."""
    if not _has_alternatives(pieces):
        return [[("text", text) if kind == "brace" else (kind, text) for kind, text in pieces]]
    settled = _settled(pieces)
    if settled is None:
        return None
    reader = _Alternatives()
    for piece in settled:
        if not reader.take(piece):
            return None
    words = reader.written_out()
    if words is None:
        return None
    return [each for each in map(joined, words) if each]


def _settled(pieces: list[Piece]) -> list[Piece] | None:
    """Return the pieces, with each outer `{` that bash does not match as a literal character.

    So is a `{}` at the beginning of a word. None where there are too many to determine that.
    """
    result = list(pieces)
    position = alone = 0
    while position < len(result):
        if result[position] == _OPENING:
            empty = result[position + 1 : position + 2] == [("brace", "}")]
            if empty and position and result[position - 1][1][-1:].isspace():
                # After a blank bash treats it as a character, even if the blank is quoted.
                return None
            end = None if empty and not position else _closing(result, position)
            if end is None:
                result[position] = ("text", "{")
                alone += 1
                if alone > _MOST_ALTERNATIVES:
                    return None
            else:
                position = end
        position += 1
    return result


def _closing(pieces: list[Piece], opening: int) -> int | None:
    """Return the index of the matching brace: the first `}` of its level after a comma.

    None where there is none.
    """
    depth = 0
    divided = False
    for position in range(opening + 1, len(pieces)):
        kind, text = pieces[position]
        if kind == "text":
            divided = divided or (not depth and ".." in text)
        elif kind != "brace":
            continue
        elif text == "{":
            depth += 1
        elif text == ",":
            divided = divided or not depth
        elif depth:
            depth -= 1
        elif divided:
            return position
    return None


class _Alternatives:
    """Expands a word with braces from left to right.

    Alternatives share the runs of pieces between braces, so that each piece is copied once for each
    resulting word, and not once for each piece after it.
    """

    def __init__(self) -> None:
        self.run: list[Piece] = []
        self.current: list[list[list[Piece]]] = [[]]
        # For each open brace: the alternatives before it, and the complete ones inside it.
        self.open: list[tuple[list[list[list[Piece]]], list[list[list[Piece]]]]] = []
        self.complete = 0

    def take(self, piece: Piece) -> bool:
        """Process the next piece; False if the alternatives are unknown or too many."""
        kind, text = piece
        if kind != "brace":
            self.run.append(piece)
            return not (kind == "text" and ".." in text and self.open)
        if text == "{":
            self.open.append((self._ended(), []))
            self.current = [[]]
        elif not self.open:
            # A comma or a `}` outside braces is literal.
            self.run.append(("text", text))
        elif text == ",":
            choices = self._ended()
            self.open[-1][1].extend(choices)
            self.complete += len(choices)
            self.current = [[]]
        else:
            before, choices = self.open.pop()
            if not choices:
                if self.open:
                    return False
                # Before the first comma it closes nothing.
                self.open.append((before, choices))
                self.run.append(("text", text))
                return True
            self.complete -= len(choices)
            choices += self._ended()
            if len(before) * len(choices) > _MOST_ALTERNATIVES:
                return False
            self.current = [[*each, *choice] for each in before for choice in choices]
        return self.complete + len(self.current) <= _MOST_ALTERNATIVES

    def _ended(self) -> list[list[list[Piece]]]:
        """Return the current alternatives, with the run that ends here."""
        run, self.run = self.run, []
        return [[*each, run] for each in self.current] if run else self.current

    def written_out(self) -> list[list[Piece]] | None:
        """Return the pieces of each word; None if a brace is open or there are too many."""
        words = self._ended()
        size = sum(len(run) for runs in words for run in runs)
        if self.open or size > _MOST_WRITTEN_OUT:
            return None
        return [
            [piece for run in runs for piece in run if piece[1] or _is_sign(piece)]
            for runs in words
        ]


def _has_alternatives(pieces: list[Piece]) -> bool:
    """Return whether the word may contain brace alternatives."""
    opened = False
    for kind, text in pieces:
        if kind == "brace" and text == "{":
            opened = True
        elif opened and ((kind == "brace" and text == ",") or (kind == "text" and ".." in text)):
            return True
    return False


def _is_sign(piece: Piece) -> bool:
    """Return whether a piece counts even if its text is empty."""
    return piece[0] not in ("text", "brace")


def literal(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces of a word in which globs and braces are literal."""
    return [("text", text) if kind in _LITERAL else (kind, text) for kind, text in pieces]


def joined(pieces: list[Piece]) -> list[Piece]:
    """Merge adjacent literal pieces, so that a `~` is seen with the text after it."""
    result: list[Piece] = []
    run: list[str] = []
    for piece in pieces:
        if piece[0] == "text":
            run.append(piece[1])
            continue
        if run:
            result.append(("text", "".join(run)))
            run = []
        result.append(piece)
    if run:
        result.append(("text", "".join(run)))
    return result

"""Draw other spellings of words, paths and options, as a shell and its programs read them.

Nothing here changes what a command does: these are the rewrites after which a call that was
allowed is allowed still, and one that was denied is denied.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

# The folders of every situation that the generators speak of.
HOME = "/home/user"
WORKSPACE = "/workspace"
CWD = "/workspace/sub"
# Links beside what they lead to.
LINKS = {
    "/workspace/keys": "/home/user/.ssh",
    "/workspace/sub/id": "/home/user/.ssh/id_rsa",
    "/tmp/conf": "/etc",
    "/workspace/here": "/workspace/sub",
}
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-~")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option: its spellings, short ones first to be clustered, and its value."""

    spellings: tuple[str, ...]
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command by what it means. `paths` are the places of operands that are files.

    `before` are words that stay in front of all others (a subcommand). `folder` is where the
    program lives, `fixed` says that its options stay where they are.
    """

    program: str
    before: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    operands: tuple[str, ...] = ()
    paths: frozenset[int] = frozenset()
    folders: tuple[str, ...] = ("/bin/", "/usr/bin/")
    redirection: str = ""
    ends_options: bool = True


# ------------------------------------------------------------------ paths


@st.composite
def path_spelling(draw: DrawFn, path: str, *, links: bool = True) -> str:
    """Draw another spelling of an absolute path, for somebody at `CWD` and at home in `HOME`."""
    if links:
        path = draw(st.sampled_from([path, *_through_links(path)]))
    steps = path.split("/")[1:]
    said: list[str] = []
    for place, step in enumerate(steps):
        said.append(step)
        more = draw(st.sampled_from(["", "", "", ".", "/", ".."]))
        if place == len(steps) - 1:
            continue
        if more == ".":
            said.append(".")
        elif more == "/":
            said.append("")
        elif more == ".." and f"/{'/'.join(steps[: place + 1])}" not in LINKS:
            said += ["x", ".."]
    spelled = "/" + "/".join(said)
    forms: list[str] = [spelled]
    if path.startswith(HOME + "/") and spelled.startswith(HOME + "/"):
        forms.append("~" + spelled[len(HOME) :])
    relative = posixpath.relpath(path, CWD)
    forms += [relative, "./" + relative]
    return draw(st.sampled_from(forms))


def _through_links(path: str) -> list[str]:
    """Return the ways to a path through one of the links."""
    return [
        link + path[len(target) :]
        for link, target in LINKS.items()
        if path == target or path.startswith(target + "/")
    ]


def follow(path: str) -> str:
    """Follow the links, as the disk would."""
    for link, target in LINKS.items():
        if path == link or path.startswith(link + "/"):
            return posixpath.normpath(target + path[len(link) :])
    return path


# ------------------------------------------------------------------ words


@st.composite
def word_spelling(draw: DrawFn, text: str, *, continued: bool = True) -> str:
    """Draw another way to write one word for a shell, on one line unless `continued`."""
    if not text:
        return draw(st.sampled_from(["''", '""', "$''"]))
    head = ""
    if text.startswith("~"):
        # Quoted, it would be the name of a file.
        cut = text.find("/") + 1 or len(text)
        tail = text[cut:]
        head = draw(st.sampled_from(["~/", "$HOME/", "${HOME}/", '"$HOME"/'])) if tail else "~"
        if not tail:
            return head
        text = tail
    pieces: list[str] = []
    while text:
        size = draw(st.integers(1, max(1, len(text))))
        piece, text = text[:size], text[size:]
        pieces.append(draw(st.sampled_from(_QUOTINGS))(piece))
        between = ["", "", "", "", "''", '""', *(["\\\n"] if continued else [])]
        pieces.append(draw(st.sampled_from(between)))
    return head + "".join(pieces)


def _plain(text: str) -> str:
    if text[0] in "~#=" or not _PLAIN.issuperset(text):
        return _escaped(text)
    return text


def _escaped(text: str) -> str:
    return "".join(char if char.isalnum() else "\\" + char for char in text)


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _double(text: str) -> str:
    return '"' + "".join("\\" + char if char in '$`"\\' else char for char in text) + '"'


def _ansi(text: str) -> str:
    return "$'" + "".join(f"\\x{ord(char):02x}" for char in text) + "'"


def _octal(text: str) -> str:
    return "$'" + "".join(f"\\{ord(char):03o}" for char in text) + "'"


def _unicode(text: str) -> str:
    return "$'" + "".join(f"\\u{ord(char):04x}" for char in text) + "'"


def _all_escaped(text: str) -> str:
    return "".join("\\" + char for char in text)


_QUOTINGS: tuple[Callable[[str], str], ...] = (
    _plain,
    _plain,
    _single,
    _double,
    _ansi,
    _octal,
    _unicode,
    _all_escaped,
)


def quoted(text: str) -> str:
    """Return any text as one word."""
    return _single(text)


# ------------------------------------------------------------------ commands


@st.composite
def arranged(draw: DrawFn, command: Command, *, links: bool = True) -> list[str]:
    """Draw the words of a command, its options in some order and by some of their names."""
    options = [draw(_option(one)) for one in draw(st.permutations(command.options))]
    options = _clustered(options) if draw(st.booleans()) else options
    operands = [
        draw(path_spelling(text, links=links)) if place in command.paths else text
        for place, text in enumerate(command.operands)
    ]
    folder = draw(st.sampled_from(["", "", *command.folders]))
    words = [folder + command.program, *command.before]
    if command.ends_options and draw(st.booleans()):
        return [*words, *(word for one in options for word in one), "--", *operands]
    places = sorted(draw(st.lists(st.integers(0, len(operands)), min_size=len(options),
                                  max_size=len(options))))  # fmt: skip
    for place in range(len(operands) + 1):
        for at, option in zip(places, options, strict=True):
            if at == place:
                words += option
        words += operands[place : place + 1]
    return words


@st.composite
def _option(draw: DrawFn, option: Option) -> list[str]:
    spelling = draw(st.sampled_from(option.spellings))
    if option.value is None:
        return [spelling]
    if spelling.startswith("--"):
        glued = f"{spelling}={option.value}"
    else:
        glued = spelling + option.value
    return draw(st.sampled_from([[glued], [spelling, option.value]]))


def _clustered(options: list[list[str]]) -> list[list[str]]:
    """Put options of one letter into one word."""
    short = [one[0][1:] for one in options if len(one) == 1 and len(one[0]) == 2]
    if len(short) < 2:
        return options
    others = [one for one in options if not (len(one) == 1 and len(one[0]) == 2)]
    return [["-" + "".join(short)], *others]


@st.composite
def line(
    draw: DrawFn, words: Sequence[str], *, redirection: str = "", continued: bool = True
) -> str:
    """Draw a line that gives a program these words, none of them on two lines but `continued`."""
    gaps: SearchStrategy[str] = st.sampled_from([" ", " ", "  ", "\t", " \\\n "])
    text = draw(word_spelling(words[0], continued=continued))
    for word in words[1:]:
        text += draw(gaps) + draw(word_spelling(word, continued=continued))
    return text + redirection

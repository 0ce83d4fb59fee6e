"""Words that name a file in a special form: `HEAD:a.txt`, `f=@a.txt`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from policy.programs.embedded.embedded_program import NOTHING, AccessedResource, ProgramEffects
from policy.shell import Word

_EXCLUDES = re.compile(r":[!^]|:\([^)]*\bexclude\b[^)]*\)")
_MAGIC = re.compile(r":[(/]")
# A revision has wildcards in braces alone: `HEAD^{/a*}:x` names one, `[[:punct:]]env` does not.
_REVISION = re.compile(r"(?::[0-3])?:|[^./~:*?\[\\][^:{*?\[\\]*(?:\{[^:]*)?:")
_WILD = re.compile(r"[*?\[\\]")
# A set of characters: a `]` may be its first one.
_SET = re.compile(r"\[[!^]?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_MOST_WILDCARDS = 8
_FORM = re.compile(r"@|[^=@<]*=[@<]|[^=@]*@")
_HEADERS = re.compile(r";\s*headers\s*=\s*[@<]", re.IGNORECASE)
_OUTPUT = "%output{"
_HOST_KEYS = frozenset({"src", "source"})


@dataclass(frozen=True, slots=True)
class PathspecPart:
    """The tree that a pathspec is below, empty for none, and what its wildcards match there.

    `names` are globs of the files that they match, in any folder. `start` is a glob of the entries
    of the tree below which they match everything; None: there are no such wildcards.
    """

    path: str
    names: tuple[str, ...] = ()
    start: str | None = None


def read_pathspec(text: str) -> PathspecPart | None:
    """Return the files of a revision or path of git: `HEAD:src`, `:!x`, `*.py`; None if unknown.

    git expands wildcards itself, and they cross folders. A path of a revision is relative to the
    folder that the command runs in.
    """
    if _EXCLUDES.match(text):
        return PathspecPart("")
    if _MAGIC.match(text):
        return None
    revision = _REVISION.match(text)
    path = text[revision.end() :] if revision else text
    if _WILD.search(path) is None:
        return PathspecPart(path or ".")
    return _with_wildcards(_tokens(path))


def is_exclusion(text: str) -> bool:
    """Return whether a pathspec takes files away from what others name: `:!x`."""
    return _EXCLUDES.match(text) is not None


def names_stored(text: str) -> bool:
    """Return whether a word names what a revision has under a path: `HEAD:a.txt`, `:2:a.txt`."""
    return not (_EXCLUDES.match(text) or _MAGIC.match(text)) and _REVISION.match(text) is not None


def names_stored_here(text: str) -> bool:
    """Return whether it names that below the folder of the command: `HEAD:./a.txt`."""
    if not names_stored(text):
        return False
    path = text.partition(":./")[2]
    return bool(path) and ".." not in path.split("/")


def _tokens(path: str) -> list[str]:
    """Return characters and wildcards of a pathspec as parts of a shell's glob, with `?` for a set.

    A backslash makes the next character literal.
    """
    found: list[str] = []
    place = 0
    while place < len(path):
        char, width = path[place], 1
        if char == "\\":
            width = 2
            found.append(_literal(path[place + 1 : place + 2]))
        elif char == "[":
            one = _SET.match(path, place)
            width = len(path) - place if one is None else one.end() - place
            # An unclosed set may match anything.
            found.append("*" if one is None else "?")
        else:
            found.append(char if char in "*?" else _literal(char))
        place += width
    return found


def _literal(char: str) -> str:
    return f"\\{char}" if char in ("*", "?", "[", "\\") else char


def _with_wildcards(tokens: list[str]) -> PathspecPart:
    """Return what wildcards of git match: each of them, a `?` as well, may stand for a `/`."""
    wild = [place for place, token in enumerate(tokens) if token in ("*", "?")]
    spelled = "".join(token[-1:] for token in tokens[: wild[0]] if token) if wild else ""
    if not wild:
        return PathspecPart("".join(token[-1:] for token in tokens) or ".")
    folder, slash, start = spelled.rpartition("/")
    folder = folder or slash or "."
    last = max((place for place, one in enumerate(tokens) if one == "/"), default=-1) + 1
    names = _names_matched(tokens[last:])
    telling = tuple(sorted(one for one in names if one.strip("*")))
    if len(telling) == len(names):
        return PathspecPart(folder, telling)
    # After a start that is spelled, no file has to be named like the last part.
    return PathspecPart(folder, () if start else telling, "".join(map(_literal, start)) + "*")


def _names_matched(name: list[str]) -> set[str]:
    """Return globs of the names that the last part of a pathspec may match."""
    wild = [place for place, token in enumerate(name) if token in ("*", "?")]
    if len(wild) > _MOST_WILDCARDS:
        return {"*" + "".join(name[wild[-1] + 1 :])}
    names = {"".join(name) or "*"}
    for place in wild:
        # What is before it may be the path of a folder.
        names.add(name[place].replace("?", "") + "".join(name[place + 1 :]))
    if name[-1:] == ["?"]:
        names.add("".join(name[:-1]))  # a folder's name may be taken with its `/`
    return names - {""}


def read_form(text: str) -> ProgramEffects:
    """Return the files that a field of a form uploads: `f=@a.txt;type=x`, `f=<a.txt`, `f@a.txt`."""
    names = dict.fromkeys(_headers(text))
    if (opened := _FORM.match(text)) is not None:
        listed = text[opened.end() :]
        # A name may contain the terminator: then both readings count.
        names |= dict.fromkeys((listed, *(part.partition(";")[0] for part in listed.split(","))))
    return ProgramEffects(
        accesses=tuple(AccessedResource("reads", name.strip('"')) for name in names if name)
    )


def _headers(text: str) -> list[str]:
    """Return the files that the headers of a field are read from: `a=x;headers=@b.txt`."""
    # Blanks may surround each part, and a value may be quoted.
    return [part.partition(";")[0].strip() for part in _HEADERS.split(text)[1:]]


def split_keyed(word: Word) -> tuple[Word, ...]:
    """Return the values after the keys of `key=a.txt`, `id=x,src=a.txt` or a plain name."""
    parts = [part.rpartition("=")[2] for part in word.text.split(",")]
    first = replace(word, text=parts[0]) if parts[0] == word.text else None
    if first is not None:
        return (first,)
    # Every part of an unknown word is unknown.
    return tuple(replace(word, text=part, home=False) for part in parts)


def split_certificate(word: Word) -> tuple[Word, ...]:
    """Return the files that `a.pem:password` may name: the colon may be part of the name."""
    file, colon, _ = word.text.replace("\\:", ":").partition(":")
    return (word, replace(word, text=file)) if colon and file else (word,)


def split_report(word: Word) -> tuple[Word, ...]:
    """Return the file or folder that `html:out` names; `term` names none."""
    _, colon, place = word.text.partition(":")
    if word.known and not place:
        return ()
    return (replace(word, text=place) if colon else word,)


def split_optioned(word: Word) -> tuple[Word, ...]:
    """Return the folder or file of `lite:gen` or `gen`: options may precede it."""
    _, colon, place = word.text.partition(":")
    return (replace(word, text=place, home=False),) if colon else (word,)


def split_folders(word: Word) -> tuple[Word, ...]:
    """Return the folders of `gen:lib`, each of which may have another name: `lib=/srv/lib`."""
    if not word.known or not set(":=") & set(word.text):
        return (word,)
    places = (part.rpartition("=")[2] for part in word.text.split(":"))
    return tuple(Word(place) for place in dict.fromkeys(place or "." for place in places))


def read_output_format(text: str) -> ProgramEffects:
    """Return the files that an output format names: `@format.txt`, `%output{a.txt}`."""
    if text.startswith("@"):
        return ProgramEffects(accesses=(AccessedResource("reads", text[1:]),))
    named = [part.partition("}")[0] for part in text.split(_OUTPUT)[1:]]
    return ProgramEffects(
        accesses=tuple(AccessedResource("writes", name.removeprefix(">>")) for name in named)
    )


def read_mount(text: str) -> ProgramEffects:
    """Return the host tree that a container mounts: `/src:/app:ro`, `type=bind,src=/a`."""
    host, mode = _mounted(text)
    if not host.startswith(("/", ".", "~")):
        return NOTHING
    read = AccessedResource("reads", host)
    return ProgramEffects(
        accesses=(read,) if mode == "ro" else (read, AccessedResource("writes", host))
    )


def _mounted(text: str) -> tuple[str, str]:
    """Return the mounted path, and `ro` if it is read-only."""
    if "=" not in text.partition(",")[0]:
        host, _, rest = text.partition(":")
        return host, "ro" if "ro" in rest.partition(":")[2].split(",") else ""
    pairs = [part.partition("=") for part in text.split(",")]
    host = next((value for key, _, value in pairs if key in _HOST_KEYS), "")
    only = any(key in ("ro", "readonly") and value in ("", "true", "1") for key, _, value in pairs)
    return host, "ro" if only else ""

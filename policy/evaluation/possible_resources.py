"""Strings of a call that may be resources, though no argument is declared as one.

The words of a command whose program has no profile, and every text of a tool whose resources are
not declared complete, count as possible resources: a test of the plain form is undecidable if one
of them lies in the set. A string with several possible readings counts in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from policy.evaluation.disk_view import NOTHING_SEEN, GlobMeaning, disk_view_of
from policy.evaluation.effects import MOST_TEXTS, CallEffects, PossibleWord, read_resource
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.set_tests import Extent, SetTest
from policy.evaluation.truth import Indeterminate, unknown_resources
from policy.evaluation.undeclared_texts import EveryPathSet
from policy.evaluation.written_trees import reach_of
from policy.programs import Invocation, analyse_command, analyse_script
from policy.shell import SimpleCommand
from policy.values import (
    Endpoint,
    Path,
    PathContext,
    PreparedPaths,
    Unreadable,
    quote,
    read_endpoint,
    read_path,
)

_FILES = frozenset({"reads", "writes"})
_WHAT = {
    "reads": "a file that the call reads",
    "writes": "a file that the call writes",
    "runs": "a command that the call runs",
    "connects": "a host that the call connects to",
    "sends": "a recipient that the call sends to",
}
# A string up to this length is read as a path or host; a longer one without a blank may be either.
_LONGEST = 4096
# Where a value may start inside a word: `x=/etc/passwd`, `@file`, `HEAD:.env`, `a,b`.
_SEPARATORS = re.compile(r"[=,:@;|+%\[]")
# By character it would take a second for a text of four million.
_SPACE = re.compile(r"\s")
# Between the words of a command line, and the texts of code.
_BETWEEN_WORDS = re.compile(r"[\s'\"`(){};&|<>]+")
# `-rf/etc/passwd`: the value in a cluster of options may start after any of them.
_LONGEST_CLUSTER = 16
_MOST_PIECES = 64
# Strings of a call that are read as scripts, and their characters.
_MOST_SCRIPTS, _MOST_CHARACTERS = 500, 20_000
_TOO_MANY = f"the call has more than {MOST_TEXTS:,} undeclared strings, and any may be a resource"
_URL_LIKE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)?[/\\]{2}|[A-Za-z][A-Za-z0-9+.-]*:[/\\]")
_ADDRESS_LIKE = re.compile(
    r"\[?(?=[A-Fa-fxX.:%]*+[0-9])[0-9A-Fa-fxX.:%]*+(?:\](?::[0-9]+)?)?(?:/.*)?", re.DOTALL
)


def possible_resource(
    verb: str,
    members: SetTest,
    call: Evaluation,
    *,
    effects: CallEffects,
    handed: bool,
    outside: bool = False,
    every: EveryPathSet | None = None,
) -> Indeterminate | None:
    """Return indeterminate if an undeclared string may be a resource in (or outside) the set.

    `handed`: words that unseen code is given count as well. `every` has the items of this set among
    those of others.
    """
    if len(effects.possible) > MOST_TEXTS:
        return unknown_resources(_TOO_MANY)
    if verb == "runs":
        found = None if outside else _may_run(members, call, effects)
        if found is not None:
            return unknown_resources(f"{found} may be {_WHAT[verb]}")
        return None
    for word in _candidates(verb, effects, call, every=None if outside else every):
        if _may_be(verb, word, members, call, effects=effects, outside=outside):
            why = f"{_shown(word)} may be {_WHAT[verb]}{_what_to_do(verb, word)}"
            return unknown_resources(why)
    if handed and verb == "writes":
        for word in effects.handed:
            mays = (
                _may_be(verb, one, members, call, effects=effects, outside=outside)
                for one in _values(word)
            )
            if any(mays):
                return unknown_resources(f"code that is given {quote(word.text)} may write it")
    return None


def _shown(word: PossibleWord) -> str:
    """Return a string for people: as far as it is known, and the command that it is a word of."""
    if word.whole:
        return f"{quote(word.text)} in {quote(word.field)}" if word.field else quote(word.text)
    return f"a word of {quote(word.command)} that only the shell knows"


def _what_to_do(verb: str, word: PossibleWord) -> str:
    """Return what makes a string clear that is no path because of a backslash."""
    if verb in _FILES and word.field and "\\" in word.text:
        return " (it has a backslash: declare the argument, or write `/`)"
    return ""


# ------------------------------------------------------------------ files, hosts, receivers


def _candidates(
    verb: str, effects: CallEffects, call: Evaluation, *, every: EveryPathSet | None
) -> Iterator[PossibleWord]:
    texts: list[PossibleWord] | None = effects.answers.get(_candidates)
    if texts is None:
        texts = effects.answers[_candidates] = list(_undeclared(effects, call))
    yield from texts if every is None else _near(texts, every.prepared(), effects)
    for word in effects.words:
        yield from _values(word)


def _near(
    texts: list[PossibleWord], every: PreparedPaths, effects: CallEffects
) -> list[PossibleWord]:
    """Return the strings that may be files of a set, the same for all tests of the call."""
    known = effects.answers.get(_near)
    if known is None or known[0] is not every:
        known = every, [word for word in texts if _may_be_in(every, word, effects)]
        effects.answers[_near] = known
    near: list[PossibleWord] = known[1]
    return near


def _may_be_in(every: PreparedPaths, word: PossibleWord, effects: CallEffects) -> bool:
    thing = _as_tree(word, effects)
    if isinstance(thing, Unreadable):
        return _is_unclear(word)
    return not every.certainly_misses(thing, word.paths, meets=True)


def _as_tree(word: PossibleWord, effects: CallEffects) -> Path | Unreadable:
    """Return a string as a folder with everything below it; one of the input is read once."""
    text = word.folder or _as_file(word.text)
    if word.of_command:
        return read_path(text, word.paths, tree=True)
    read = effects.answers.setdefault(_as_tree, {})
    # The string is kept among the call's candidates, so that its identity is no other's.
    thing: Path | Unreadable | None = read.get(id(word))
    if thing is None:
        thing = read[id(word)] = read_path(text, word.paths, tree=True)
    return thing


def _undeclared(effects: CallEffects, call: Evaluation) -> Iterator[PossibleWord]:
    # What need not be a path at all is not taken for one in an unknown folder.
    paths = call.paths
    if paths.directory_unknown:
        paths = replace(paths, directory_unknown=False)
    for text, field in effects.possible:
        if len(text) > _LONGEST and _SPACE.search(text) is not None:
            continue  # prose is not a path or host; one long word may be either
        yield from _readings(PossibleWord(text=text, paths=paths, of_command=False, field=field))


def handed_paths(effects: CallEffects) -> Iterator[Path]:
    """Yield the paths that words of unseen code may name; a tree for the names of a wildcard.

    Folders in which the code runs anyway are left out.
    """
    for word in effects.handed:
        for one in _values(word) if word.whole else ():
            thing = _as_known(one.folder or _as_file(one.text), one.paths, tree=bool(one.names))
            if isinstance(thing, Path) and (one.names or not _is_above(thing, one.paths)):
                reach = reach_of(GlobMeaning(steps=one.steps), one.names) if one.names else None
                yield replace(thing, names=one.names, reach=reach)


def _as_known(text: str, paths: PathContext, *, tree: bool) -> Path | Unreadable:
    """Return a path, by its spelling where an earlier command may have made a link on the way."""
    thing = read_path(text, paths, tree=tree)
    return thing if isinstance(thing, Path) else read_path(text, paths.spelled_only(), tree=tree)


def rewritten_folders(effects: CallEffects) -> Iterator[Path]:
    """Yield what unseen code is given together with an option to change files: `biome --fix .`.

    Each is a tree: a folder is searched for files to change.
    """
    for word in effects.handed:
        if word.whole and word.rewritten and not word.names:
            for one in _values(word):
                thing = read_path(_as_file(one.text), one.paths, tree=True)
                if isinstance(thing, Path):
                    yield thing


def may_be_handed(handed: Iterable[PossibleWord], path: str) -> bool:
    """Return whether one of the words, where it is known only in part, may name a path."""
    return any(_may_name(word, path) for word in handed if not word.whole)


def _may_name(word: PossibleWord, path: str) -> bool:
    if not f"/{path.lstrip('/')}".casefold().endswith(word.tail.casefold()):
        return False
    folder, slash, _ = word.text.rpartition("/")
    if not slash or folder.startswith("-"):
        return True
    begins = read_path(folder or slash, word.paths)
    return not isinstance(begins, Path) or path.startswith(f"{begins.lexical.rstrip('/')}/")


def _values(word: PossibleWord) -> Iterator[PossibleWord]:
    """Yield what a word of a command may be: itself, and parts of it."""
    yield from _readings(word)
    yield from _pieces(replace(word, folder="", names=""))


def _readings(word: PossibleWord) -> Iterator[PossibleWord]:
    """Yield a string unchanged, and as read by programs that ignore blanks."""
    yield word
    if word.folder or len(word.text) > _LONGEST:
        return
    stripped = word.text.strip()
    if stripped != word.text:
        yield replace(word, text=stripped)
    joined = re.sub(r"[\t\r\n]", "", stripped)
    if joined != stripped and " " not in joined:
        yield replace(word, text=joined)


def _pieces(word: PossibleWord) -> Iterator[PossibleWord]:
    """Yield possible values inside a word, by the ways in which programs join values to words."""
    parts = list(filter(None, _BETWEEN_WORDS.split(word.text))) if word.of_command else []
    if 1 < len(parts) <= _MOST_PIECES or (len(parts) == 1 and parts[0] != word.text):
        # It may be a command line or code.
        for part in parts:
            yield replace(word, text=part)
            yield from _joined(replace(word, text=part))
    yield from _joined(word)


def _joined(word: PossibleWord) -> Iterator[PossibleWord]:
    text = word.text
    starts = {
        match.end()
        for match in _SEPARATORS.finditer(text)
        if not text.startswith("://", match.start())
    }
    if text.startswith("-") and not text.startswith("--"):
        starts |= set(range(2, min(len(text), _LONGEST_CLUSTER)))
    if len(starts) > _MOST_PIECES:
        # Too many to examine: the string as a whole counts as unreadable.
        yield replace(word, text=f"{text[:_LONGEST]}/\0")
        return
    for start in starts:
        piece = text[start:]
        if piece:
            yield replace(word, text=piece)
        first = re.split(r"[],;|]", piece, maxsplit=1)[0]
        if first and first != piece:
            yield replace(word, text=first)


def _may_be(
    verb: str,
    word: PossibleWord,
    members: SetTest,
    call: Evaluation,
    *,
    effects: CallEffects,
    outside: bool,
) -> bool:
    if not word.whole:
        return True  # a shell may expand it to anything
    if len(word.text) > _LONGEST:
        # Prose is not a path or host. One long word may be either.
        return _spells(verb, word) and _SPACE.search(word.text) is None
    if verb in _FILES:
        found = _lies_in_files(word, members, call, effects=effects, outside=outside)
    elif verb == "connects":
        found = _lies_in_hosts(word, members, call, outside=outside)
    else:
        found = _lies_in_receivers(word, members, call, outside=outside)
    return found is None or found is not outside


def _lies_in_files(
    word: PossibleWord,
    members: SetTest,
    call: Evaluation,
    *,
    effects: CallEffects,
    outside: bool,
) -> bool | None:
    """Return whether the string, as a file or a folder with everything below it, is in the set."""
    text = word.folder or _as_file(word.text)
    thing = _as_tree(word, effects)
    by_name = word.handed and not word.names
    alone = by_name and isinstance(thing, Path) and _is_above(thing, word.paths)
    if alone and isinstance(thing, Path):
        # It runs there anyway, and could write below without being told.
        thing = replace(thing, tree=False)
    if not isinstance(thing, Unreadable):
        extent: Extent = "all" if outside else "some"
        looked = NOTHING_SEEN
        if word.of_command and not alone:
            # It may do anything with a tree, links in it included.
            looked = disk_view_of(
                text, GlobMeaning(steps=word.steps, tree=True, follow_links=True), word.paths
            )
        if word.names or looked.contents is not None:
            thing = replace(thing, names=word.names, contents=looked.contents)
        found = members.holds(thing, call, word.paths, extent=extent)
        for other in looked.others:
            # Files beyond the limit of the look-up are no worse than other unseen effects of a
            # program.
            if found is (not outside) or isinstance(other, Unreadable):
                continue
            answer = members.holds(other, call, word.paths, extent=extent)
            found = answer if answer is not outside else found
        return found
    if word.of_command:
        somewhere = read_path(text, replace(word.paths, cwd="/", directory_unknown=False))
        if not isinstance(somewhere, Unreadable):
            return None  # a file in an unknown folder
    return None if _is_unclear(word) else outside


def _is_above(thing: Path, paths: PathContext) -> bool:
    """Return whether a path is the folder that a command runs in, or one above it."""
    here = paths.cwd or paths.workspace
    return here is not None and (here == thing.lexical or here.startswith(f"{thing.lexical}/"))


def _as_file(text: str) -> str:
    """Return the file that a program would open by this string; a URL would be an odd file name."""
    return f"./{text}" if "://" in text and isinstance(read_endpoint(text), Endpoint) else text


def _is_number(text: str) -> bool:
    """Return whether a string is a port or a count rather than an address."""
    return text.isdecimal() and len(text) <= len("65535")


def _lies_in_hosts(
    word: PossibleWord, members: SetTest, call: Evaluation, *, outside: bool
) -> bool | None:
    if _is_number(word.text):
        return outside
    spelled = _spells("connects", word)
    if outside and (not spelled or word.text.startswith("-")):
        return True  # otherwise every word of every command would be outside the sets of hosts
    thing = read_endpoint(word.text)
    if isinstance(thing, Unreadable):
        if word.text.startswith("-"):
            return outside  # an option; its value is a separate piece
        return None if spelled and not _is_running(word) else outside
    # Only strings in the form of a host are resolved: names of files are not sent to DNS.
    asked = call if spelled else call.without_lookups()
    return members.holds(thing, asked, word.paths, extent="some")


def _lies_in_receivers(
    word: PossibleWord, members: SetTest, call: Evaluation, *, outside: bool
) -> bool | None:
    if outside and not _spells("sends", word):
        return True
    thing = read_resource("sends", word.text, word.paths)
    if isinstance(thing, Unreadable):
        return None
    return members.holds(thing, call, word.paths, extent="some")


def _is_unclear(word: PossibleWord) -> bool:
    """Return whether a string that cannot be read as a path may be one all the same."""
    return _spells("reads", word) and not _is_running(word)


def _is_running(word: PossibleWord) -> bool:
    """Return whether a string is prose or content, which no program uses as one resource."""
    return not word.of_command and _SPACE.search(word.text) is not None


def _spells(verb: str, word: PossibleWord) -> bool:
    """Return whether a string is unmistakably a resource of this verb."""
    text = word.text
    if verb in _FILES:
        return "/" in text or "\\" in text or text.startswith(("~", "."))
    if verb == "connects":
        begins = text[:_LONGEST]  # no scheme or address is longer
        return _URL_LIKE.match(begins) is not None or _ADDRESS_LIKE.fullmatch(begins) is not None
    return "@" in text


# ------------------------------------------------------------------ commands


def _may_run(members: SetTest, call: Evaluation, effects: CallEffects) -> str | None:
    """Return, for people, a string or the words of a command that may be a command in the set."""
    scripts = [each.text for each in effects.possible if len(each.text) <= _LONGEST]
    if len(scripts) > _MOST_SCRIPTS or sum(map(len, scripts)) > _MOST_CHARACTERS:
        return "one of so many strings"
    for command in effects.unprofiled:
        words, text = command.command.words, command.command.text
        if any(not word.known for word in words[1:]):
            return f"a word of {quote(text)} that only the shell knows"
        scripts += [word.text for word in words[1:] if any(char.isspace() for char in word.text)]
        for start in range(1, min(len(words), _MOST_PIECES)):
            ending = SimpleCommand(words=words[start:], folders=command.command.folders)
            if _matches(analyse_command(ending, effects.profiles), members, call):
                return f"the end of {quote(text)}"
    mays = (text for text in scripts if _script_may_run(text, members, call, effects=effects))
    return next(map(quote, mays), None)


def _script_may_run(text: str, members: SetTest, call: Evaluation, *, effects: CallEffects) -> bool:
    analysed = effects.answers.setdefault(_script_may_run, {})
    script = analysed.get(text)
    if script is None:
        script = analysed[text] = analyse_script(text, effects.profiles)
    if isinstance(script, Unreadable):
        return False
    return any(_matches(command, members, call) for command in script.commands)


def _matches(command: Invocation, members: SetTest, call: Evaluation) -> bool:
    """Return whether words may be a command in the set.

    `npm test`, `read the notes`: a word that is also the name of a program that runs others is no
    evidence by itself; the command that it would run is tested separately.
    """
    matches = members.holds(command, call, call.paths, extent="some")
    if matches is not None:
        return matches
    if not any(each.gaps for each in command.walk()):
        return True
    # Whatever else the words may run: one of these commands may be in the set by what it shows.
    shown = (replace(each, gaps=(), inner=()) for each in command.walk() if each.program)
    return any(members.holds(one, call, call.paths, extent="some") is not False for one in shown)

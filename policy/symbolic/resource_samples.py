"""Arguments of a tool that access resources in and outside of the sets that rules name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product
from shlex import quote
from typing import Any, TypeAlias

from policy.catalog import Resource
from policy.checks import checked
from policy.evaluation import ABSENT
from policy.model import EMPTY
from policy.programs import NO_PROFILES, Profiles
from policy.symbolic.filled_patterns import filled_patterns, with_options
from policy.symbolic.situation import HOME, WORKSPACE

Arguments: TypeAlias = dict[str, Any]

_MOST = 300  # combinations of arguments
_PLACES = 4  # files that commands with a wildcard are tried with
_COMPARED = 40  # texts that conditions compare a field with
_FEW = 2  # commands that others are given as words
_WORD = "a"  # what stands for a wildcard
# Another one, for what a set holds that a smaller one does not.
_OTHER_WORD = "b"
_OF_FILES = ("reads", "writes")
_ELSEWHERE = {
    "reads": ("/elsewhere/a",),
    "writes": ("/elsewhere/a",),
    "connects": ("https://other.example/",),
    "sends": ("a@other.example",),
    "runs": ("true", "unknown-program a"),
}
# An address of each kind of network.
_IN_NETWORKS = {
    "private": "10.0.0.1",
    "loopback": "127.0.0.1",
    "link_local": "169.254.0.1",
    "metadata": "169.254.169.254",
    "unspecified": "0.0.0.0",  # noqa: S104 (a host in a call)
    "shared": "100.64.0.1",
    "multicast": "224.0.0.1",
    "reserved": "240.0.0.1",
}
# A command that accesses what a word names.
_COMMANDS = {"reads": "cat {}", "writes": "touch {}", "connects": "curl {}"}


def argument_samples(
    resources: Iterable[Resource],
    tests: Iterable[checked.ResourceTest],
    *,
    suggested: Mapping[str, Iterable[str]],
    texts: Mapping[str, tuple[str, ...]] = EMPTY,
    profiles: Profiles = NO_PROFILES,
) -> Iterator[Arguments]:
    """Yield values of the fields that are resources; those of one field come first.

    `suggested` are resources for each verb that are tried before others. `texts` are strings with
    which conditions compare each field: also spellings of other paths begin with them. What the
    first test is about, commands with a wildcard are given as words.
    """
    tests = tuple(tests)
    named = _named_resources(tests, suggested=suggested, profiles=profiles)
    by_field: dict[str, list[Any]] = {}
    for resource in resources:
        found = by_field.setdefault(resource.steps[0], [])
        compared = texts.get(resource.steps[0], ())
        are_files = resource.verb in _OF_FILES
        relative = tuple(text for text in compared if are_files and not text.startswith("/"))
        hinted = tuple(suggested.get(resource.verb, ()))
        # Paths that tests name are longer than those that are suggested, and so more ordinary.
        paths = tuple(sorted(named.get(resource.verb, ()), key=hinted.__contains__))
        for text in (
            *islice(_spelled_with(relative, paths), _FEW),
            *compared[:_COMPARED],
            *_samples_for(resource.verb, named),
            *_filled(resource.verb, named, profiles, (*_quoted(compared), *_words(tests, named))),
            *_spelled_from(compared, paths),
            *_spelled_with(relative[:_COMPARED], paths),
        ):
            spelled = f"file://{text}" if resource.uri and text.startswith("/") else text
            value = _at(resource.steps[1:], spelled)
            if value not in found:
                found.append(value)
    fields = list(by_field)
    for values in _bounded(by_field[name] for name in fields):
        yield dict(zip(fields, values, strict=True))
    if len(fields) > 1:
        for name in fields:
            for value in by_field[name]:
                yield {other: value if other == name else ABSENT for other in fields}


def _named_resources(
    tests: tuple[checked.ResourceTest, ...],
    *,
    suggested: Mapping[str, Iterable[str]],
    profiles: Profiles,
) -> dict[str, dict[str, None]]:
    """Return resources for each verb: those that are suggested, then those that tests name."""
    suggested = {verb: tuple(texts) for verb, texts in suggested.items()}
    named = {verb: dict.fromkeys(texts) for verb, texts in suggested.items()}
    asked = tuple(test for test in tests if test.operand is not None)
    for word in (_WORD, _OTHER_WORD):
        for test in asked:
            assert test.operand is not None
            for text in _texts_in(test.operand, word):
                named.setdefault(test.verb, {})[text] = None
    for url in suggested.get("connects", ()):
        named.setdefault("connects", {}).update(dict.fromkeys(_plain_urls(url)))
    patterns = (one for test in asked if test.operand for one in _commands_in(test.operand))
    for pattern in patterns:
        named.setdefault("runs", {}).update(dict.fromkeys(with_options(pattern, profiles)))
    return named


def _spelled_from(begun: tuple[str, ...], paths: tuple[str, ...]) -> Iterator[str]:
    """Yield spellings of paths that begin as a text does: `/etc/../srv/a`."""
    for text in begun:
        folder, slash, name = text.rpartition("/")
        if not slash or not text.startswith("/"):
            continue
        up, kind = "/.." * folder.count("/"), name[name.rfind(".") :] if "." in name else ""
        others = (*paths[:_PLACES], *_ELSEWHERE["reads"])
        whole = text.rstrip("/")
        for path in (each for each in others if each.startswith("/")):
            yield f"{folder}{up}{path}"
            yield f"{folder}{up}{path}{kind}"
            yield f"{whole}{'/..' * whole.count('/')}{path}"


def _spelled_with(texts: tuple[str, ...], paths: tuple[str, ...]) -> Iterator[str]:
    """Yield spellings of paths, and of others in their folders, that contain a text.

    What is nothing but dots leads up, and the end of a name is put behind one.
    """
    rooted = (path for path in paths if path.startswith("/"))
    for path in (*islice(rooted, _PLACES), f"{WORKSPACE}/{_WORD}"):
        folder = path.rpartition("/")[0]
        for text in texts:
            # Up and down again, in a name, as a name, and at the beginning.
            around = [f"{path}/{text}/{_OTHER_WORD}", f"{path}{text}", f"{folder}/{text}"]
            if text.strip("."):
                around = around[1:] if text.startswith(".") else [*around[:0:-1], around[0]]
            yield from around
            yield f"{text}/../..{path}"


def _bounded(choices: Iterable[list[Any]]) -> Iterator[tuple[Any, ...]]:
    lists = list(choices)
    if not lists:
        return
    share = max(int(_MOST ** (1 / len(lists))), 2)
    few = (each[: _MOST if len(lists) == 1 else share] for each in lists)
    yield from product(*(sorted(each, key=_oddness) for each in few))


def _plain_urls(url: str) -> Iterator[str]:
    """Yield URLs of the same host, as people would write them."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    name, _, port = host.rpartition(":")
    name = name if name and port.isdigit() else host
    yield f"https://{name}/"
    yield f"{scheme}://{name}/"


def _oddness(value: Any) -> tuple[int, bool]:
    """Return how seldom people write a URL: those with `https` and without a port come first."""
    if not isinstance(value, str) or "://" not in value:
        return 0, False
    scheme, _, rest = value.partition("://")
    has_port = rest.partition("/")[0].rpartition(":")[2].isdigit()
    return ("https", "http").index(scheme) if scheme in ("https", "http") else 2, has_port


def _samples_for(verb: str, named: dict[str, dict[str, None]]) -> Iterator[str]:
    yield from named.get(verb, ())
    if verb == "runs":
        places = (*tuple(named.get("reads", ()))[:_PLACES], *_ELSEWHERE["reads"])
        for text in named.get(verb, ()):
            if text.endswith(f" {_WORD}"):
                yield from (f"{text.removesuffix(_WORD)}{place}" for place in places)
        for other, command in _COMMANDS.items():
            texts = (*named.get(other, ()), *_ELSEWHERE[other])
            yield from (command.format(text) for text in texts if " " not in text)
        yield from _longer_commands(tuple(named.get(verb, ())), tuple(named.get("writes", ())))
    yield from _ELSEWHERE.get(verb, ())


def _filled(
    verb: str, named: dict[str, dict[str, None]], profiles: Profiles, given: tuple[str, ...]
) -> Iterator[str]:
    if verb == "runs":
        yield from filled_patterns(named.get(verb, ()), profiles, word=_WORD, given=given)


def _words(
    tests: Iterable[checked.ResourceTest], named: dict[str, dict[str, None]]
) -> tuple[str, ...]:
    """Return paths or URLs that the first test of some is about, and one that none is about."""
    about = next((test for test in tests if test.verb in _COMMANDS), None)
    if about is None:
        return ()
    own = () if about.operand is None else islice(_texts_in(about.operand, _WORD), 1)
    hinted = tuple(named.get(about.verb, ()))[:1]
    return tuple(dict.fromkeys((*own, *_ELSEWHERE[about.verb], *hinted)))


def _quoted(compared: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(quote(text) for text in compared[:1])


def _longer_commands(commands: tuple[str, ...], written: tuple[str, ...]) -> Iterator[str]:
    """Yield commands whose output goes to a file, and those that are given another one.

    The commands that a claim names come first.
    """
    for path in written[:_PLACES]:
        yield from (f"{command} > {path}" for command in commands[:_PLACES])
    for command in commands:
        if command.endswith(f" {_WORD}"):
            yield from (f"{command.removesuffix(_WORD)}{given}" for given in commands[:_FEW])


def _at(steps: tuple[str, ...], text: str) -> Any:
    value: Any = text
    for step in reversed(steps):
        value = [value] if step == "*" else {step: value}
    return value


def _texts_in(values: checked.ValueSet, word: str) -> Iterator[str]:
    """Yield a resource for each item of a set, those that it leaves out as well."""
    for item in (*values.included, *values.excluded):
        match item:
            case checked.ValueSet():
                yield from _texts_in(item, word)
            case checked.WorkspaceItem():
                yield f"{WORKSPACE}/{word}"
            case str() if values.kind == "paths":
                yield _path(item, word)
            case str() if values.kind == "hosts":
                yield _url(item, word)
            case str():
                yield item.replace("*", word).replace("?", word)
            case _:
                continue


def _commands_in(values: checked.ValueSet) -> Iterator[str]:
    """Yield the patterns of a set of commands."""
    for item in values.included if values.kind == "commands" else ():
        if isinstance(item, checked.ValueSet):
            yield from _commands_in(item)
        elif isinstance(item, str):
            yield item


def _path(item: str, word: str) -> str:
    text = item.removeprefix("./")
    text = text.replace("**/", f"{word}/", 1) if text.startswith("**/") else text
    text = text.replace("/**/", f"/{word}/")
    text = text.replace("**", word).replace("*", word).replace("?", word)
    if text.startswith("~"):
        return HOME + text[1:]
    return text if text.startswith("/") else f"{WORKSPACE}/{text}"


def _url(item: str, word: str) -> str:
    host = _IN_NETWORKS.get(item, item).replace("**", word).replace("*", word)
    host = host.partition("/")[0] if "://" not in host and "/" in host else host
    return host if "://" in host else f"https://{host}/"

"""A condition of which only the words are known in; its test, read once for all rules, out.

What a condition comes to depends on its words, on the scope its names are looked up in, on what
the tools' schemas say of its fields, and on whether its place permits. Where nothing was said of
it, it is the same for every other rule of the same kind. Conditions that speak of resources, and
those that are inside a quantifier or hold one, are read each time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from policy.checks.checked import Test
from policy.checks.reading import MAX_NODES, Reading
from policy.syntax import Phrase, tree

# Texts may be hostile: of more conditions than these nothing is kept.
_MOST = 8_192


@dataclass(frozen=True, slots=True)
class Kept:
    """What a condition came to, the place of its words among others, and how many nodes it has."""

    test: Test
    level: int
    nodes: int


def read_phrase(
    phrase: Phrase, reading: Reading, read: Callable[[tree.Expr, Reading], Test]
) -> Test:
    """Return the test that a phrase stands for; `read` reads its node where that must be."""
    known = _known(reading)
    kept = None if known is None else known.get(phrase.text)
    if kept is not None and reading.nodes + kept.nodes <= MAX_NODES:
        reading.nodes += kept.nodes
        reading.spelled[id(phrase)] = (phrase, kept.level, kept.test.text)
        return kept.test
    nodes, said, spoke = reading.nodes, reading.report.spoken, reading.speaks
    slots = reading.slots
    reading.speaks = False
    node = phrase.whole()
    test = read(node, reading)
    silent = reading.report.spoken == said and not reading.speaks
    reading.speaks = spoke or reading.speaks
    spelled = reading.spelled.get(id(node))
    if spelled is None:
        return test
    reading.spelled[id(phrase)] = (phrase, spelled[1], spelled[2])
    # The variables of a quantifier take places in the statement that they stand in.
    is_free = reading.slots == slots
    if silent and is_free and known is not None and len(known) < _MOST:
        known[phrase.text] = Kept(test, spelled[1], reading.nodes - nodes)
    return test


def _known(reading: Reading) -> dict[str, Kept] | None:
    """Return what conditions in such a place came to; None where others do not help."""
    if reading.locals or reading.lets or reading.selecting or reading.tools is None:
        return None
    found = reading.known
    if found is not None and found[0] is reading.permits:
        return found[1]
    world = reading.world
    where = (reading.scope, reading.permits, id(reading.tools.sight(world.sights)))
    known = world.phrases.get(where)
    if known is None:
        known = world.phrases[where] = {}
    reading.known = (reading.permits, known)
    return known

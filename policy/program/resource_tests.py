"""The five verbs: `reads X`, `reads outside X`, `reads only X`, compiled to three-valued tests.

The plain form and `outside` look at what is in sight; `only` also wants nothing out of sight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from policy.checks import checked
from policy.commands import Invocation
from policy.program.effects import Effects, Item
from policy.program.evaluation import DeclaredResources, Evaluation
from policy.program.membership import Extent, SetTest
from policy.program.possible import possible
from policy.program.touches import Origin
from policy.program.truth import (
    ABSENT,
    Absent,
    Truth,
    Undecided,
    all_true,
    any_true,
    negated,
)
from policy.values import Endpoint, Path, Unreadable, quote

Resource: TypeAlias = Callable[[Evaluation], Truth | Absent]


def compile_resource_test(
    test: checked.ResourceTest, declared: DeclaredResources, *, covering: bool
) -> Resource:
    """Return the test's function; ABSENT where all declared arguments of the verb are absent."""
    verb = test.verb
    if test.operand is None:
        return _anything(verb, declared, permits=test.permits)
    members = SetTest(test.operand, declared.profiles, redirections_covered=covering)
    nothing = not test.operand.included
    if test.form == "only" or nothing:
        return _only(verb, members, declared)
    if test.form == "outside":
        return _outside(verb, members, declared)
    return _some(verb, members, declared)


def _anything(verb: str, declared: DeclaredResources, *, permits: bool) -> Resource:
    def limitless(call: Evaluation) -> Truth:
        return True

    def some_effect(call: Evaluation) -> Truth:
        effects = call.effects(declared)
        if any(not isinstance(item.thing, Unreadable) for item in effects.of(verb)):
            return True
        if effects.has(verb) and (effects.complete or effects.possible):
            return Undecided(f"whether the call {verb} anything cannot be seen")
        return False

    return limitless if permits else some_effect


# ------------------------------------------------------------------ the three forms


def _some(verb: str, members: SetTest, declared: DeclaredResources) -> Resource:
    def test(call: Evaluation) -> Truth:
        effects = call.effects(declared)
        found = any_true(_holds(item, members, call, extent="some") for item in effects.of(verb))
        if found is not False:
            return found
        undecided = possible(verb, members, call, effects=effects)
        return False if undecided is None else undecided

    return test


def _outside(verb: str, members: SetTest, declared: DeclaredResources) -> Resource:
    def test(call: Evaluation) -> Truth:
        effects = call.effects(declared)
        found = negated(_all_in(verb, members, call, effects=effects))
        if found is not False:
            return found
        undecided = possible(verb, members, call, effects=effects, outside=True)
        return False if undecided is None else undecided

    return test


def _only(verb: str, members: SetTest, declared: DeclaredResources) -> Resource:
    def test(call: Evaluation) -> Truth | Absent:
        effects = call.effects(declared)
        found = _all_in(verb, members, call, effects=effects)
        if found is not True:
            return found
        if verb in effects.absent and not effects.of(verb):
            return ABSENT
        hidden = _out_of_sight(verb, effects)
        return True if hidden is None else hidden

    return test


def _all_in(verb: str, members: SetTest, call: Evaluation, *, effects: Effects) -> Truth:
    """Tell whether all that is in sight is in the set."""
    return all_true(_holds(item, members, call, extent="all") for item in effects.of(verb))


def _out_of_sight(verb: str, effects: Effects) -> Undecided | None:
    """Say what keeps `only` from seeing everything, if anything does."""
    if not effects.complete:
        return Undecided("the resources of this tool are not declared complete")
    if verb == "runs":
        return None
    untold = effects.untold(verb)
    if untold:
        return Undecided(untold)
    if effects.words:
        return Undecided("a program without a profile may use any of its words")
    if effects.unseen:
        return Undecided("what the code does beyond its arguments is not seen")
    return None


def _holds(item: Item, members: SetTest, call: Evaluation, *, extent: Extent) -> Truth:
    thing = item.thing
    if isinstance(thing, Unreadable):
        return Undecided(thing.reason)
    answer = members.holds(thing, call, call.paths, extent=extent)
    if answer is not None:
        return answer
    if isinstance(thing, Invocation):
        return Undecided(members.why_not(thing))
    return Undecided(_difference(thing))


def _difference(thing: object) -> str:
    """Say of a path or host what its readings are, where they give a set different answers."""
    if isinstance(thing, Path) and thing.resolved not in (None, thing.lexical):
        return f"{quote(thing.lexical)} leads to {quote(str(thing.resolved))}, judged as both"
    if isinstance(thing, Path):
        return f"{quote(thing.lexical)} may be in the set or not"
    if isinstance(thing, Endpoint):
        return f"which addresses {quote(thing.host)} has is not known, or its path has two readings"
    return "whether this is one of the set is not known"


# ------------------------------------------------------------------ cover of an allow


def compile_cover(
    tests: tuple[checked.ResourceTest, ...], declared: DeclaredResources
) -> Callable[[Evaluation], Truth]:
    """Return the test that every effect of the call is covered by some true `only` clause.

    `tests` are the clauses of the rule that can cover. A true `runs only` covers what comes from
    the words of commands, and their redirections where its patterns spell them out.
    """
    by_verb: dict[str, list[Resource]] = {}
    for test in tests:
        compiled = compile_resource_test(test, declared, covering=True)
        by_verb.setdefault(test.verb, []).append(compiled)
    spelled_out = [
        compile_resource_test(test, declared, covering=False)
        for test in tests
        if test.verb == "runs"
    ]

    def covered(call: Evaluation) -> Truth:
        effects = call.effects(declared)
        beyond = _NONE
        runs = any(test(call) is True for test in by_verb.get("runs", ()))
        if runs:
            # Patterns that spell redirections cover no less without them.
            all_spelled = not effects.redirects or any(test(call) is True for test in spelled_out)
            beyond = _ALL_OF_COMMANDS if all_spelled else _WORDS_OF_COMMANDS
        for verb in ("reads", "writes", "runs", "connects", "sends"):
            if (verb == "runs" and runs) or not effects.has(verb, beyond=beyond):
                continue
            if not any(test(call) is True for test in by_verb.get(verb, ())):
                return Undecided(f"no clause of this rule covers what the call {verb}")
        return True

    return covered


_NONE: frozenset[Origin] = frozenset()
_WORDS_OF_COMMANDS: frozenset[Origin] = frozenset({"command"})
_ALL_OF_COMMANDS: frozenset[Origin] = frozenset({"command", "redirection"})

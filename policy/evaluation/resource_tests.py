"""Compiles `reads X`, `reads outside X`, `reads only X` and their like.

The plain form and `outside` look at what is in sight; `only` also wants nothing out of sight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from policy.checks import checked
from policy.evaluation.accesses import Origin
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.effects import CallEffects, KnownResource
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.possible_resources import possible_resource
from policy.evaluation.set_items import patterns_of
from policy.evaluation.set_tests import SetTest
from policy.evaluation.truth import ABSENT, Absent, Truth, Undecided, negated
from policy.programs import CommandPattern, Invocation, spells_redirects
from policy.values import Endpoint, MayBeRedirected, Path, Unreadable, quote

Resource: TypeAlias = Callable[[Evaluation], Truth | Absent]


def compile_resource_test(
    test: checked.ResourceTest, declared: DeclaredResources, *, covering: bool
) -> Resource:
    """Return the test's function; ABSENT where all declared arguments of the verb are absent.

    Tests that ask the same of one layer's declarations are one function, which is asked once a
    call. Where nothing is looked up, what declarations settle is asked of every call as well.
    """
    answer = known_answer(test, declared) if declared.prepared else _said_of_all(test)
    if answer is not None:
        return _always if answer else _never
    verb = test.verb
    if test.operand is None:
        return _some_effect(verb, declared)
    covers_redirections = covering and test.operand.kind == "commands"
    key = (verb, test.form, test.operand, test.beside, covers_redirections)
    known: Resource | None = declared.tests.get(key)
    if known is None:
        members = SetTest(
            test.operand,
            declared.profiles,
            redirections_covered=covering,
            prepared=declared.prepared,
        )
        form = "only" if not test.operand.included else test.form
        if form == "only":
            beside = () if test.beside is None else patterns_of(test.beside, declared.profiles)
            known = _only(verb, members, declared, beside)
        else:
            known = (_outside if form == "outside" else _some)(verb, members, declared)
        declared.tests[key] = known
    return known


def known_answer(test: checked.ResourceTest, declared: DeclaredResources) -> bool | None:
    """Return what a test says of every call, as far as the declarations alone tell; else None.

    A tool that is declared complete has no effect of a kind that none of its arguments can have.
    """
    if _said_of_all(test):
        return True
    if declared.may(test.verb):
        return None
    if test.operand is None or (test.form != "only" and test.operand.included):
        return False
    return None if declared.unseen and test.verb != "runs" else True


def _said_of_all(test: checked.ResourceTest) -> bool | None:
    """Return True for a permission that sets no limit."""
    return True if test.operand is None and test.permits else None


def _always(call: Evaluation) -> Truth:
    return True


def _never(call: Evaluation) -> Truth:
    return False


def _some_effect(verb: str, declared: DeclaredResources) -> Resource:
    def some_effect(call: Evaluation) -> Truth:
        effects = call.effects(declared)
        if any(not isinstance(item.thing, Unreadable) for item in effects.of(verb)):
            return True
        if effects.has(verb) and (effects.complete or effects.possible):
            return Undecided(f"whether the call {verb} anything cannot be seen")
        return False

    return some_effect


# ------------------------------------------------------------------ the three forms


# Each is worked out once a call, however many rules ask it; the memory is asked first and at once,
# because most of what tests cost is calls of functions.


def _some(verb: str, members: SetTest, declared: DeclaredResources) -> Resource:
    holds = members.some

    def look(call: Evaluation, effects: CallEffects) -> Truth:
        undecided: Truth = False
        for item in effects.items.get(verb) or effects.of(verb):
            answer = holds(item.thing, call, effects.paths)
            if answer:
                return True
            if answer is None and undecided is False:
                undecided = _undecided(item.thing, members)
        if undecided is not False or effects.certain:
            return undecided
        hidden = possible_resource(verb, members, call, effects=effects)
        return False if hidden is None else hidden

    def test(call: Evaluation) -> Truth | Absent:
        effects = call.known_effects.get(declared) or call.effects(declared)
        found = effects.answers.get(test)
        if found is None:
            found = effects.answers[test] = look(call, effects)
        return found

    return test


def _outside(verb: str, members: SetTest, declared: DeclaredResources) -> Resource:
    def look(call: Evaluation, effects: CallEffects) -> Truth:
        found = negated(_all_in(verb, members, call, effects=effects))
        if found is not False or effects.certain:
            return found
        undecided = possible_resource(verb, members, call, effects=effects, outside=True)
        return False if undecided is None else undecided

    def test(call: Evaluation) -> Truth | Absent:
        effects = call.known_effects.get(declared) or call.effects(declared)
        found = effects.answers.get(test)
        if found is None:
            found = effects.answers[test] = look(call, effects)
        return found

    return test


def _only(
    verb: str,
    members: SetTest,
    declared: DeclaredResources,
    beside: tuple[CommandPattern, ...],
) -> Resource:
    def look(call: Evaluation, effects: CallEffects) -> Truth | Absent:
        found = _all_in(verb, members, call, effects=effects, beside=beside)
        if found is not True:
            return found
        if verb in effects.absent and not effects.of(verb):
            return ABSENT
        hidden = unseen_effects(verb, effects)
        return True if hidden is None else hidden

    def test(call: Evaluation) -> Truth | Absent:
        effects = call.known_effects.get(declared) or call.effects(declared)
        found = effects.answers.get(test)
        if found is None:
            found = effects.answers[test] = look(call, effects)
        return found

    return test


def _all_in(
    verb: str,
    members: SetTest,
    call: Evaluation,
    *,
    effects: CallEffects,
    beside: tuple[CommandPattern, ...] = (),
) -> Truth:
    """Tell whether all that is in sight is in the set.

    A redirect is not held against it where a pattern `beside` it spells that one is followed.
    """
    undecided: Truth = True
    holds = members.whole
    for item in effects.items.get(verb) or effects.of(verb):
        answer = holds(item.thing, call, effects.paths)
        if answer is False:
            return False
        if answer is None and undecided is True and not _is_spelled(item, beside):
            undecided = _undecided(item.thing, members)
    return undecided


def _is_spelled(item: KnownResource, patterns: tuple[CommandPattern, ...]) -> bool:
    """Tell whether a pattern spells that a command follows the redirect that an item stands for."""
    command = item.touch.by if item.touch is not None else None
    if not isinstance(item.thing, MayBeRedirected) or command is None:
        return False
    return any(spells_redirects(command, pattern) for pattern in patterns)


def unseen_effects(verb: str, effects: CallEffects) -> Undecided | None:
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


def _undecided(thing: object, members: SetTest) -> Undecided:
    """Say why a set could not tell whether it holds a thing."""
    if isinstance(thing, Unreadable):
        return Undecided(thing.reason)
    return Undecided(
        members.why_not(thing) if isinstance(thing, Invocation) else _difference(thing)
    )


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

    verbs = [verb for verb in VERBS if declared.may(verb)]

    def covered(call: Evaluation) -> Truth:
        effects = call.effects(declared)
        beyond = _NONE
        runs = any(test(call) is True for test in by_verb.get("runs", ()))
        if runs:
            # Patterns that spell redirections cover no less without them.
            all_spelled = not effects.redirects or any(test(call) is True for test in spelled_out)
            beyond = _ALL_OF_COMMANDS if all_spelled else _WORDS_OF_COMMANDS
        for verb in verbs:
            if (verb == "runs" and runs) or not effects.has(verb, beyond=beyond):
                continue
            if not any(test(call) is True for test in by_verb.get(verb, ())):
                return Undecided(f"no clause of this rule covers what the call {verb}")
        return True

    return covered


def compile_cover_of_runs(
    verbs: tuple[str, ...], declared: DeclaredResources
) -> Callable[[Evaluation], bool]:
    """Return the test that commands alone touch what the call does, and none by a redirection.

    A true `runs only` then covers it all. `verbs` are those that no other true clause covers.
    """
    key = ("all by commands", verbs)

    def covered(call: Evaluation) -> bool:
        effects = call.known_effects.get(declared) or call.effects(declared)
        found: bool | None = effects.answers.get(key)
        if found is None:
            found = effects.answers[key] = not effects.redirects and not any(
                effects.has(verb, beyond=_ALL_OF_COMMANDS) for verb in verbs
            )
        return found

    return covered


def covering_tests(when: checked.Test | None) -> Iterator[checked.ResourceTest]:
    """Yield the clauses of an `allow` that cover effects: `only`, `anything`, `nothing`."""
    return (test for test in _resource_tests(when) if is_covering(test))


def is_covering(test: checked.ResourceTest) -> bool:
    """Tell whether a test, where it is true, covers effects of its verb."""
    if not test.permits:
        return False
    return test.form == "only" or test.operand is None or not test.operand.included


def _resource_tests(test: checked.Test | None) -> Iterator[checked.ResourceTest]:
    match test:
        case checked.ResourceTest():
            yield test
        case checked.AllOf(tests=tests) | checked.AnyOf(tests=tests):
            for part in tests:
                yield from _resource_tests(part)
        case checked.NotOf(test=part) | checked.Quantified(test=part):
            yield from _resource_tests(part)
        case _:
            return


VERBS = ("reads", "writes", "runs", "connects", "sends")
_NONE: frozenset[Origin] = frozenset()
_WORDS_OF_COMMANDS: frozenset[Origin] = frozenset({"command"})
_ALL_OF_COMMANDS: frozenset[Origin] = frozenset({"command", "redirection"})

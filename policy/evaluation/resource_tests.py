"""Compiles `reads X`, `reads outside X`, `reads only X` and their like.

The plain form and `outside` test the known resources; `only` also requires that there are no
unknown ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from policy.checks import checked
from policy.evaluation.accesses import Origin
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.effects import CallEffects, KnownResource
from policy.evaluation.enforced_sets import is_enforceable, sandbox_enforces
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.possible_resources import possible_resource
from policy.evaluation.set_items import patterns_of
from policy.evaluation.set_tests import SetTest
from policy.evaluation.truth import ABSENT, Absent, Indeterminate, Truth, negated, unknown_resources
from policy.evaluation.undeclared_texts import EveryPathSet, every_path_set
from policy.programs import CommandPattern, Invocation, spells_redirects
from policy.values import Endpoint, MayBeRedirected, Path, Unreadable, quote

Resource: TypeAlias = Callable[[Evaluation], Truth | Absent]


def compile_resource_test(
    test: checked.ResourceTest, declared: DeclaredResources, *, covering: bool
) -> Resource:
    """Return the test's function; ABSENT where all declared arguments of the verb are absent.

    Equal tests with one layer's declarations are one function, which is evaluated once per call.
    Without look-ups, tests that the declarations decide are evaluated for every call as well.
    """
    answer = known_answer(test, declared) if declared.prepared else _said_of_all(test)
    if answer is not None:
        return _always if answer else _never
    verb = test.verb
    if test.operand is None:
        return _some_effect(verb, declared)
    covering = covering or test.any_redirection
    covers_redirections = covering and test.operand.kind == "commands"
    key = (verb, test.form, test.operand, test.beside, covers_redirections, test.surely)
    cached: Resource | None = declared.tests.get(key)
    if cached is None:
        members = SetTest(
            test.operand,
            declared.profiles,
            redirections_covered=covering,
            prepared=declared.prepared,
        )
        form = "only" if not test.operand.included else test.form
        if form == "only":
            beside = () if test.beside is None else patterns_of(test.beside, declared.profiles)
            cached = _only(verb, test.operand, members, declared, beside)
        else:
            every = None
            if form == "some" and declared.prepared and test.operand.kind == "paths":
                every = every_path_set(declared)
                every.add(test.operand)
            form_of = _outside if form == "outside" else partial(_some, every=every)
            cached = form_of(verb, members, declared, handed=not test.surely)
        declared.tests[key] = cached
    return cached


def known_answer(test: checked.ResourceTest, declared: DeclaredResources) -> bool | None:
    """Return the result of a test that is the same for every call, by the declarations, else None.

    A tool that is declared complete has no effect that none of its arguments can have.
    """
    if _said_of_all(test):
        return True
    if declared.may(test.verb):
        return None
    if test.operand is None or (test.form != "only" and test.operand.included):
        return False
    return None if declared.unseen and test.verb != "runs" else True


def _said_of_all(test: checked.ResourceTest) -> bool | None:
    """Return True for a permission without a limit."""
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
        if effects.possible or (effects.complete and effects.has(verb)):
            return unknown_resources(f"it is unknown whether the call {verb} anything")
        return False

    return some_effect


# ------------------------------------------------------------------ the three forms


def _once_per_call(
    look: Callable[[Evaluation, CallEffects], Truth | Absent], declared: DeclaredResources
) -> Resource:
    """Return a test that looks once per call, and then answers from the call's effects."""

    def test(call: Evaluation) -> Truth | Absent:
        effects = call.known_effects.get(declared) or call.effects(declared)
        found = effects.answers.get(test)
        if found is None:
            found = effects.answers[test] = look(call, effects)
        return found

    return test


def _some(
    verb: str,
    members: SetTest,
    declared: DeclaredResources,
    *,
    handed: bool,
    every: EveryPathSet | None,
) -> Resource:
    holds = members.some

    def look(call: Evaluation, effects: CallEffects) -> Truth:
        indeterminate: Truth = False
        for item in effects.items.get(verb) or effects.of(verb):
            if not handed and item.is_of_unseen_code:
                continue  # the floor's test, which is about what the call names
            answer = holds(item.thing, call, effects.paths)
            if answer:
                return True
            if answer is None and indeterminate is False:
                indeterminate = why_indeterminate(item.thing)
        if indeterminate is not False or effects.certain:
            return indeterminate
        hidden = possible_resource(verb, members, call, effects=effects, handed=handed, every=every)
        return False if hidden is None else hidden

    return _once_per_call(look, declared)


def _outside(verb: str, members: SetTest, declared: DeclaredResources, *, handed: bool) -> Resource:
    def look(call: Evaluation, effects: CallEffects) -> Truth:
        found = negated(_all_in(verb, members, call, effects=effects))
        if found is not False or effects.certain:
            return found
        indeterminate = possible_resource(
            verb, members, call, effects=effects, handed=handed, outside=True
        )
        return False if indeterminate is None else indeterminate

    return _once_per_call(look, declared)


def _only(
    verb: str,
    values: checked.ValueSet,
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
        if hidden is not None and sandbox_enforces(verb, call):
            within = is_enforceable(values, effects.paths)
            hidden = unseen_effects(verb, effects, enforced=within)
        return True if hidden is None else hidden

    return _once_per_call(look, declared)


def _all_in(
    verb: str,
    members: SetTest,
    call: Evaluation,
    *,
    effects: CallEffects,
    beside: tuple[CommandPattern, ...] = (),
) -> Truth:
    """Return whether all known resources are in the set.

    A redirect target is ignored if a pattern in `beside` permits following redirects.
    """
    indeterminate: Truth = True
    holds = members.whole
    for item in effects.items.get(verb) or effects.of(verb):
        answer = holds(item.thing, call, effects.paths)
        if answer is False:
            return False
        if answer is None and indeterminate is True and not follows_as_spelled(item, beside):
            indeterminate = why_indeterminate(item.thing)
    return indeterminate


def follows_as_spelled(item: KnownResource, patterns: tuple[CommandPattern, ...]) -> bool:
    """Return whether a pattern permits a command to follow the redirect of this item."""
    command = item.access.by if item.access is not None else None
    if not isinstance(item.thing, MayBeRedirected) or command is None:
        return False
    return any(spells_redirects(command, pattern) for pattern in patterns)


def unseen_effects(
    verb: str, effects: CallEffects, *, enforced: bool = False
) -> Indeterminate | None:
    """Return why `only` cannot see all resources, if there is a reason.

    `enforced`: a sandbox keeps what code does unseen within the set.
    """
    if not effects.complete and not (enforced and verb in effects.within_sandbox):
        return unknown_resources("the resources of this tool are not declared complete")
    if verb == "runs":
        return None
    not_shown = effects.not_shown(verb, enforced=enforced)
    if not_shown:
        return unknown_resources(not_shown)
    if effects.words:
        return unknown_resources("a program without a profile may use any of its arguments")
    if effects.unseen and not enforced:
        return unknown_resources("effects of the code beyond its arguments are unknown")
    return None


def why_indeterminate(thing: object) -> Indeterminate:
    """Return why it is unknown whether a set contains a resource."""
    if isinstance(thing, Unreadable):
        return unknown_resources(thing.reason)
    unsure = _unsure_of(thing) if isinstance(thing, Invocation) else _difference(thing)
    return unknown_resources(unsure)


def _unsure_of(command: Invocation) -> str:
    """Return why it is unknown whether command patterns match: what is hidden, if anything is."""
    hidden = next((gap for each in command.walk() for gap in each.gaps), None)
    if hidden is not None:
        return hidden
    whether = f"whether {quote(command.command.text)} is one of these"
    if all(word.known for word in command.command.words):
        return f"{whether} is not known: another word of it may change what it does, or do the same"
    return f"{whether} depends on words not yet known"


def _difference(thing: object) -> str:
    """Describe the readings of a path or host that give different results."""
    if isinstance(thing, Path) and thing.new_names in ("any", "patched"):
        return f"files of any name may be written below {quote(thing.lexical)}"
    if isinstance(thing, Path) and thing.resolved not in (None, thing.lexical):
        return f"{quote(thing.lexical)} leads to {quote(str(thing.resolved))}; both are judged"
    if isinstance(thing, Path):
        return f"{quote(thing.lexical)} may be in the set or not"
    if isinstance(thing, Endpoint):
        return f"the addresses of {quote(thing.host)} are unknown, or its path has two readings"
    return "it is unknown whether this is in the set"


# ------------------------------------------------------------------ cover of an allow


def compile_cover(
    tests: tuple[checked.ResourceTest, ...], declared: DeclaredResources
) -> Callable[[Evaluation], Truth]:
    """Return the test of whether every effect of the call is covered by a true `only` clause.

    `tests` are the clauses of the rule that can cover. A true `runs only` covers the effects of the
    words of commands, and of redirections that its patterns contain.
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
            # A pattern with redirections also covers the command without them.
            all_spelled = not effects.redirects or any(test(call) is True for test in spelled_out)
            beyond = _ALL_OF_COMMANDS if all_spelled else _WORDS_OF_COMMANDS
        for verb in verbs:
            if (verb == "runs" and runs) or not effects.has(verb, beyond=beyond):
                continue
            if not any(test(call) is True for test in by_verb.get(verb, ())):
                return unknown_resources(f"no clause of this rule covers what the call {verb}")
        return True

    return covered


def compile_cover_of_runs(
    verbs: tuple[str, ...], declared: DeclaredResources
) -> Callable[[Evaluation], bool]:
    """Return the test of whether all effects of the call come from commands, not redirections.

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
    return (test for test in resource_tests_in(when) if is_covering(test))


def is_covering(test: checked.ResourceTest) -> bool:
    """Return whether a test, if it is true, covers effects of its verb."""
    if not test.permits:
        return False
    return test.form == "only" or test.operand is None or not test.operand.included


def permits_writes_of_inline_code(*conditions: checked.Test | None) -> bool:
    """Return whether the conditions of an `allow` name inline code among what may be written."""
    return any(
        test.verb == "writes" and test.operand is not None and _includes_inline_code(test.operand)
        for part in conditions
        for test in resource_tests_in(part)
    )


def _includes_inline_code(values: checked.ValueSet) -> bool:
    return any(
        _includes_inline_code(part)
        if isinstance(part, checked.ValueSet)
        else isinstance(part, checked.InlineCodeItem)
        for part in values.included
    )


def resource_tests_in(test: checked.Test | None) -> Iterator[checked.ResourceTest]:
    """Yield the resource tests inside a condition."""
    match test:
        case checked.ResourceTest():
            yield test
        case checked.AllOf(tests=tests) | checked.AnyOf(tests=tests):
            for part in tests:
                yield from resource_tests_in(part)
        case checked.NotOf(test=part) | checked.Quantified(test=part):
            yield from resource_tests_in(part)
        case _:
            return


VERBS = ("reads", "writes", "runs", "connects", "sends")
_NONE: frozenset[Origin] = frozenset()
_WORDS_OF_COMMANDS: frozenset[Origin] = frozenset({"command"})
_ALL_OF_COMMANDS: frozenset[Origin] = frozenset({"command", "redirection"})

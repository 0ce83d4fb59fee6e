"""The reference evaluator: decides a call by walking the policy's trees, simple and slow.

Written from the language's description and sharing nothing with the engine but the trees and the
records of a call. Every rule is looked at for every call; nothing is indexed or remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from policy.catalog import Resource, ToolSpec
from policy.model import Caller, Facts, PastCall, ToolCall, Verdict, strictest
from policy.syntax import tree
from tests.reference_conditions import Scene, judge, marks_in, value_of
from tests.reference_history import judge_after
from tests.reference_limits import LimitReader, OneCall
from tests.reference_resources import VERBS, effects_of
from tests.reference_rewrites import Refusal, Wanted, rewritten
from tests.reference_tools import name_fits, ref_fits, tools_fit
from tests.reference_values import Truth, all_of, glob_fits, negated

Opinion: TypeAlias = tuple[str, Verdict]
Readmit: TypeAlias = Callable[[ToolCall], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The verdict, the input that would run, and every rule that matched with what it said.

    `redactions` are the `redact results` in force that match the call.
    """

    verdict: Verdict
    input: Any
    rules: frozenset[Opinion]
    redactions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """All files with one header."""

    binding: tree.Binding
    files: tuple[tree.PolicyFile, ...]

    def statements(self) -> Iterable[tuple[str, tree.Statement]]:
        for file in self.files:
            for statement in file.statements:
                yield _identity(statement), statement


def reference_decide(
    files: Sequence[tree.PolicyFile],
    specs: Sequence[ToolSpec],
    call: ToolCall,
    caller: Caller,
    facts: Facts,
    *,
    readmit: Readmit = lambda call: True,
) -> Answer:
    """Decide one admitted call; `readmit` says whether a rewritten call still fits its schema."""
    spec = next((spec for spec in specs if spec.name == call.tool), None)
    if spec is None or not readmit(call):
        return _answer(call.input, {("schema", Verdict.DENY)})
    layers = layers_of(files)
    answer = _decided(layers, spec, call, caller=caller, facts=facts, readmit=readmit)
    redactions: set[str] = set()
    for input in (call.input, answer.input):
        matching, undecided = redactions_of(layers, spec, input, caller=caller, facts=facts)
        redactions |= matching
        denials = {(rule, Verdict.DENY) for rule in undecided}
        answer = _answer(answer.input, set(answer.rules) | denials)
    answer = replace(answer, redactions=frozenset(redactions))
    if answer.verdict is Verdict.DENY:
        return answer
    inputs = [call.input] if answer.input == call.input else [call.input, answer.input]
    limits = {
        (rule, Verdict.DENY)
        for input in inputs
        for rule in _used_up(
            layers, specs, OneCall(spec=spec, input=input, caller=caller, facts=facts)
        )
    }
    limited = _answer(answer.input, {*answer.rules, *limits})
    return replace(limited, redactions=answer.redactions)


def _decided(
    layers: list[Layer],
    spec: ToolSpec,
    call: ToolCall,
    *,
    caller: Caller,
    facts: Facts,
    readmit: Readmit,
) -> Answer:
    """Decide a call by all statements but redactions and limits, which are asked last."""
    opinions = _judged(layers, spec, call.input, caller=caller, facts=facts)
    changed = _changed(layers, spec, call.input, caller=caller, facts=facts)
    if isinstance(changed, Refusal):
        return _answer(call.input, opinions | {(rule, Verdict.DENY) for rule in changed.rules})
    if changed == call.input:
        return _answer(call.input, opinions)
    again = _changed(layers, spec, changed, caller=caller, facts=facts)
    if isinstance(again, Refusal):
        return _answer(changed, opinions | {(rule, Verdict.DENY) for rule in again.rules})
    if again != changed:
        return _answer(changed, opinions | {("rewrite", Verdict.DENY)})
    if not readmit(ToolCall(tool=call.tool, input=changed)):
        return _answer(changed, opinions | {("schema", Verdict.DENY)})
    return _answer(changed, opinions | _judged(layers, spec, changed, caller=caller, facts=facts))


def _answer(input: Any, opinions: set[Opinion]) -> Answer:
    return Answer(
        verdict=strictest(verdict for _, verdict in opinions),
        input=input,
        rules=frozenset(opinions),
    )


# ------------------------------------------------------------------ approvals

# Groups, whether two people are wanted, and how long one approval serves.
Wants: TypeAlias = tuple[tuple[str, ...], bool, object]
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def wants_of(files: Sequence[tree.PolicyFile]) -> dict[str, Wants]:
    """Return what each rule wants of an approval, as its clauses say it."""
    found: dict[str, Wants] = {}
    for file in files:
        for statement in file.statements:
            if isinstance(statement, tree.Rule):
                found[_identity(statement)] = _wants(statement.clauses)
    return found


def _wants(clauses: tuple[tree.Clause, ...]) -> Wants:
    groups: tuple[str, ...] = ()
    two, remember = False, None
    for clause in clauses:
        match clause:
            case tree.By():
                groups = clause.groups
            case tree.TwoPeople():
                two = True
            case tree.Remember(period=period):
                seconds = (
                    period.amount * _SECONDS[period.unit]
                    if isinstance(period, tree.Duration)
                    else None
                )
                fields = tuple(path.steps for path in clause.fields)
                remember = (seconds, fields, clause.times)
            case _:
                pass
    return groups, two, remember


# ------------------------------------------------------------------ layers


def layers_of(files: Sequence[tree.PolicyFile]) -> list[Layer]:
    """Gather the files by their normalised header."""
    gathered: dict[object, list[tree.PolicyFile]] = {}
    for file in files:
        assert isinstance(file.header, tree.PolicyHeader)
        gathered.setdefault(_key(file.header.binding), []).append(file)
    layers = []
    for found in gathered.values():
        assert isinstance(found[0].header, tree.PolicyHeader)
        layers.append(Layer(binding=found[0].header.binding, files=tuple(found)))
    return layers


def _key(binding: tree.Binding) -> object:
    match binding:
        case tree.EveryAgent():
            return "every"
        case tree.Agents(patterns=patterns, plural=plural):
            wild = any("*" in pattern or "?" in pattern for pattern in patterns)
            one = len(patterns) == 1 and not (plural and wild)
            return ("agent" if one else "agents", tuple(sorted(set(patterns))))
        case tree.Role(name=name):
            return ("role", name)


def _binds(binding: tree.Binding, caller: Caller) -> bool:
    match binding:
        case tree.EveryAgent():
            return True
        case tree.Agents(patterns=patterns, plural=True):
            return any(glob_fits(pattern, caller.agent) for pattern in patterns)
        case tree.Agents(patterns=patterns):
            return caller.agent in patterns
        case tree.Role(name=name):
            return caller.role == name


def _identity(statement: tree.Statement) -> str:
    name = getattr(statement, "name", None)
    return name or f"{statement.span.file}:{statement.span.line}"


def _matching(layers: list[Layer], caller: Caller) -> list[Layer]:
    return [layer for layer in layers if _binds(layer.binding, caller)]


def _judged(
    layers: list[Layer], spec: ToolSpec, input: Any, *, caller: Caller, facts: Facts
) -> set[Opinion]:
    """Return the opinions of all layers for every caller of the chain, and what only takes."""
    opinions: set[Opinion] = set()
    for one in caller.chain():
        opinions |= _layers_say(_matching(layers, one), spec, input, caller=one, facts=facts)
        opinions |= _identity_says(one, spec, facts)
    if spec.requires_confirmation:
        opinions.add(("confirmation", Verdict.ASK))
    return opinions


def _layers_say(
    layers: list[Layer], spec: ToolSpec, input: Any, *, caller: Caller, facts: Facts
) -> set[Opinion]:
    opinions: set[Opinion] = set()
    base = [layer for layer in layers if isinstance(layer.binding, tree.EveryAgent)]
    granted = False
    for layer in layers:
        scene = _scene(layer, base, spec, input=input, caller=caller, facts=facts)
        matching = _matching_rules(layer, scene)
        opinions |= matching
        by_rule = any(verdict is Verdict.ALLOW for _, verdict in matching)
        named = _named_default(layer, scene)
        is_global = isinstance(layer.binding, tree.EveryAgent)
        delegated = any(_delegates(one, scene, to=layer.binding) for one in base)
        if by_rule:
            granted = granted or is_global or delegated
        elif named is not Verdict.NONE:
            opinions.add(("default", named))
            granted = granted or is_global or delegated
        elif not (is_global and _delegates(layer, scene, to=None)):
            plain = _plain_default(layer)
            if plain is not Verdict.NONE:
                opinions.add(("default", plain))
                granted = granted or is_global
    if not granted:
        opinions.add(("none", Verdict.DENY))
    return opinions


def _identity_says(caller: Caller, spec: ToolSpec, facts: Facts) -> set[Opinion]:
    if caller.role == "anonymous":
        return {("identity", Verdict.DENY)}
    if caller.role != "guest":
        return set()
    scope = caller.scope
    inside = scope is not None and any(
        name_fits(pattern, spec, grants=True) for pattern in scope.allowed_tools
    )
    expired = (
        scope is not None
        and scope.expires_at is not None
        and (facts.now is None or facts.now >= scope.expires_at)
    )
    return set() if inside and not expired else {("scope", Verdict.DENY)}


# ------------------------------------------------------------------ one layer


def _scene(
    layer: Layer, base: list[Layer], spec: ToolSpec, *, input: Any, caller: Caller, facts: Facts
) -> Scene:
    # A layer reads its own names and those of the global layer.
    shared = [s for one in base if one is not layer for _, s in one.statements()]
    own = [*shared, *(statement for _, statement in layer.statements())]
    scene = Scene(
        input=input,
        spec=spec,
        resources=spec.resources,
        complete=spec.complete,
        caller=caller,
        facts=facts,
        sets={one.name: one for one in own if isinstance(one, tree.NamedSet)},
        lets={one.name: one.value for one in own if isinstance(one, tree.Let)},
        tools={one.name: one.tools for one in own if isinstance(one, tree.ToolSet)},
        labels=tuple(one for one in own if isinstance(one, tree.LabelResults)),
    )
    for statement in own:
        if isinstance(statement, tree.ToolDeclaration) and ref_fits(
            statement.tool, scene, grants=False
        ):
            scene = replace(
                scene,
                resources=scene.resources + tuple(_declared(statement)),
                complete=scene.complete or statement.complete,
            )
    return scene


def _declared(declaration: tree.ToolDeclaration) -> Iterable[Resource]:
    for effect in declaration.effects:
        if isinstance(effect, tree.Effect):
            for path in effect.fields:
                steps = tuple(
                    "*" if isinstance(step, tree.Star) else str(step) for step in path.steps
                )
                yield Resource(
                    verb=effect.verb,
                    steps=steps,
                    tree=None if effect.extent is None else effect.extent == "tree",
                    listed=effect.listed,
                )


def _matching_rules(layer: Layer, scene: Scene) -> set[Opinion]:
    found: set[Opinion] = set()
    for rule_id, rule in layer.statements():
        if not isinstance(rule, tree.Rule) or rule.shadow:
            continue
        verdicts = [rule.verdict]
        if any(isinstance(clause, tree.WithApproval) for clause in rule.clauses):
            verdicts.append(Verdict.ASK)
        found |= {(rule_id, one) for one in verdicts if _matches(rule, one, scene)}
    return found


def _matches(rule: tree.Rule, verdict: Verdict, scene: Scene) -> bool:
    grants = verdict is Verdict.ALLOW
    # The `ask` of `with approval` is about the tools of its `allow`.
    if not tools_fit(rule.tools, scene, grants=rule.verdict is Verdict.ALLOW):
        return False
    permits = rule.verdict is Verdict.ALLOW
    truth = _clauses(rule.clauses, scene, grants=grants, permits=permits)
    if not grants:
        return truth is not False
    return truth is True and _covered(rule, scene)


def _clauses(
    clauses: tuple[tree.Clause, ...], scene: Scene, *, grants: bool, permits: bool
) -> Truth:
    """Join `when` and not `unless`; an absent value opens nothing and excuses nothing.

    In the `ask` of `with approval` an absent value is false, but its place still permits.
    """
    # Both halves of an `allow … with approval` match the same commands.
    inside = replace(scene, absent=None if grants else False, redirections_covered=permits)
    outside = replace(scene, absent=None)
    parts: list[Truth] = []
    for clause in clauses:
        match clause:
            case tree.When(test=test):
                parts.append(judge(test, inside, permits=permits))
            case tree.After(tools=tools, within=within):
                parts.append(
                    judge_after(tools, within, scene, permits=permits, marks=marks_in(scene))
                )
            case tree.Unless(test=test):
                parts.append(negated(judge(test, outside, permits=not permits)))
            case _:
                pass
    return all_of(parts)


def _named_default(layer: Layer, scene: Scene) -> Verdict:
    return strictest(
        statement.verdict
        for _, statement in layer.statements()
        if isinstance(statement, tree.Default)
        and statement.tools is not None
        and tools_fit(statement.tools, scene, grants=statement.verdict is Verdict.ALLOW)
    )


def _plain_default(layer: Layer) -> Verdict:
    return strictest(
        statement.verdict
        for _, statement in layer.statements()
        if isinstance(statement, tree.Default) and statement.tools is None
    )


def _delegates(layer: Layer, scene: Scene, *, to: tree.Binding | None) -> bool:
    """Tell whether a layer delegates the tool: to that layer, or (None) to anyone."""
    return any(
        isinstance(statement, tree.Delegate)
        and tools_fit(statement.tools, scene, grants=True)
        and (to is None or _key(statement.to) == _key(to))
        for _, statement in layer.statements()
    )


# ------------------------------------------------------------------ coverage


def _covered(rule: tree.Rule, scene: Scene) -> bool:
    """Tell whether every effect is named by an `only`, where the `allow` speaks of resources."""
    spoken = [
        test
        for clause in rule.clauses
        if isinstance(clause, tree.When | tree.Unless)
        for test in _resource_tests(clause.test, scene)
    ]
    if not spoken:
        return True
    inside = replace(scene, absent=None, redirections_covered=True)
    named = {
        test.verb
        for clause in rule.clauses
        if isinstance(clause, tree.When)
        for test in _resource_tests(clause.test, scene)
        if (test.form == "only" or isinstance(test.operand, tree.Nothing | tree.Anything))
        and judge(test, inside, permits=True) is True
    }
    for verb in VERBS:
        effects = effects_of(
            verb,
            scene.sets_reader(),
            input=scene.input,
            resources=scene.resources,
            complete=scene.complete,
        )
        if not scene.complete and verb not in named:
            return False
        by_words = "runs" in named and not (effects.seen or effects.opaque)
        if effects.any() and verb not in named and not by_words:
            return False
    return True


def _resource_tests(expr: tree.Expr, scene: Scene) -> list[tree.ResourceTest]:
    match expr:
        case tree.ResourceTest():
            return [expr]
        case tree.And(operands=operands) | tree.Or(operands=operands):
            return [test for operand in operands for test in _resource_tests(operand, scene)]
        case tree.Not(operand=operand):
            return _resource_tests(operand, scene)
        case tree.Quantifier(test=test):
            return _resource_tests(test, scene)
        case tree.Name(name=name) if name in scene.lets:
            return _resource_tests(scene.lets[name], scene)
        case _:
            return []


# ------------------------------------------------------------------ redactions of results


def redactions_of(
    layers: list[Layer], spec: ToolSpec, input: Any, *, caller: Caller, facts: Facts
) -> tuple[set[str], set[str]]:
    """Return the redactions that match the call for some caller, and those nobody can decide."""
    matching: set[str] = set()
    undecided: set[str] = set()
    for one in caller.chain():
        applying = _matching(layers, one)
        base = [layer for layer in applying if isinstance(layer.binding, tree.EveryAgent)]
        for layer in applying:
            scene = _scene(layer, base, spec, input=input, caller=one, facts=facts)
            for rule_id, redaction in layer.statements():
                if not isinstance(redaction, tree.RedactResults) or redaction.shadow:
                    continue
                if not tools_fit(redaction.tools, scene, grants=False):
                    continue
                truth = _clauses(redaction.clauses, scene, grants=False, permits=False)
                if truth is None:
                    undecided.add(rule_id)
                elif truth:
                    matching.add(rule_id)
    return matching, undecided


# ------------------------------------------------------------------ limits


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """How the limits of one layer read calls."""

    layer: Layer
    layers: list[Layer]
    specs: Sequence[ToolSpec]

    def matches(self, limit: tree.Limit, call: OneCall, *, absent: Truth = False) -> Truth:
        scene = self._scene(call)
        if not tools_fit(limit.tools, scene, grants=False):
            return False
        return _clauses(limit.clauses, scene, grants=absent is None, permits=False)

    def value(self, expr: tree.Expr, call: OneCall) -> Any:
        return value_of(expr, replace(self._scene(call), counting=True))

    def spec_of(self, past: PastCall) -> ToolSpec:
        return next(spec for spec in self.specs if spec.name == past.tool)

    def _scene(self, call: OneCall) -> Scene:
        matching = _matching(self.layers, call.caller)
        base = [layer for layer in matching if isinstance(layer.binding, tree.EveryAgent)]
        return _scene(
            self.layer, base, call.spec, input=call.input, caller=call.caller, facts=call.facts
        )


def _used_up(layers: list[Layer], specs: Sequence[ToolSpec], call: OneCall) -> Iterable[str]:
    """Yield the limits that have no room for a call."""
    for layer in layers:
        reader = LimitReader(
            asked=_Asked(layer=layer, layers=layers, specs=specs),
            binds=lambda one, layer=layer: _binds(layer.binding, one),  # type: ignore[misc]
        )
        for rule_id, limit in layer.statements():
            if (
                isinstance(limit, tree.Limit)
                and not limit.shadow
                and reader.is_used_up(limit, call)
            ):
                yield rule_id


# ------------------------------------------------------------------ rewrites


def _changed(
    layers: list[Layer], spec: ToolSpec, input: Any, *, caller: Caller, facts: Facts
) -> Any | Refusal:
    """Apply the rewrites of every caller of the chain together to one input."""
    wanted: list[Wanted] = []
    undecided: set[str] = set()
    for one in caller.chain():
        matching = _matching(layers, one)
        base = [layer for layer in matching if isinstance(layer.binding, tree.EveryAgent)]
        for layer in matching:
            scene = _scene(layer, base, spec, input=input, caller=one, facts=facts)
            for rule_id, rewrite in layer.statements():
                if not isinstance(rewrite, tree.Rewrite) or rewrite.shadow:
                    continue
                if not tools_fit(rewrite.tools, scene, grants=False):
                    continue
                truth = _clauses(rewrite.clauses, scene, grants=False, permits=False)
                if truth is None:
                    undecided.add(rule_id)
                if truth:
                    wanted.extend(
                        Wanted(rule=rule_id, change=change, scene=scene)
                        for change in rewrite.changes
                    )
    if undecided:
        return Refusal(rules=frozenset(undecided))
    return rewritten(input, wanted)

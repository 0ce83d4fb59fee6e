"""Cedar policy sets with requests, decided by Cedar and, translated, by Placet."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import cedarpy

from policy.checks import PolicySources, check
from policy.decision import Answer, answer
from policy.diagnostics import Severity
from policy.layers import merge
from policy.model import Source
from policy.program import ALL_SHORTCUTS, Program, Shortcuts, compile_policy
from policy.syntax import parse
from tests.laws.cedar_rules import Translation
from tests.laws.cedar_world import Request, Untranslatable, World, kind_of
from tests.laws.engine import Unsound

_DATA = Path(__file__).resolve().parents[1] / "data" / "cedar"
_HEADERS = {
    "global.policy": "policy for every agent\n\ndefault deny",
    "agents/all.policy": 'policy for agents "*"\n',
}
# Reasons of ours that are no policies of Cedar's.
_OURS = {"default", "none"}


@dataclass(frozen=True, slots=True)
class CedarAnswer:
    """What Cedar decides of a request, and by which policies; `failed`: some were in error."""

    allowed: bool
    reasons: frozenset[str]
    failed: bool


@dataclass(kw_only=True)
class Case:
    """A policy set of Cedar, in a world.

    `elsewhere` are policies that are translated into the layer of another header: only `forbid`,
    since another layer cannot grant. A `claim` is a `forbid` that is translated and not in force.
    """

    world: World
    policies: Mapping[str, dict[str, Any]]
    elsewhere: frozenset[str] = frozenset()
    claim: dict[str, Any] | None = None
    claimed: str = field(init=False, default="")
    translation: Translation = field(init=False)
    texts: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.translation = Translation(world=self.world)
        rules: dict[str, list[str]] = {name: [] for name in _HEADERS}
        for name, policy in self.policies.items():
            file = "agents/all.policy" if name in self.elsewhere else "global.policy"
            rules[file] += self.translation.rules(name, policy)
        if self.claim is not None:
            (text,) = self.translation.rules("claim", self.claim)
            self.claimed = text.removeprefix("claim: deny ")
        rules["global.policy"] += self.translation.statements()
        self.texts = {
            file: "\n".join([header, *rules[file]]) + "\n"
            for file, header in _HEADERS.items()
            if rules[file] or file == "global.policy"
        }
        set_ = {"staticPolicies": self.policies, "templates": {}, "templateLinks": []}
        self._set = cedarpy.PolicySet.from_str(cedarpy.policies_from_json_str(json.dumps(set_)))
        self._entities = cedarpy.Entities.from_json_str(json.dumps(self.world.store))

    def __repr__(self) -> str:
        return "\n".join(f"--- {name}\n{text}" for name, text in self.texts.items())

    def program(self, *more: str, shortcuts: Shortcuts = ALL_SHORTCUTS) -> Program:
        """Return the translated rules as a program, with more statements in the global file."""
        texts = {**self.texts, "global.policy": self.texts["global.policy"] + "\n".join(more)}
        trees = tuple(parse(Source(name=name, text=text)).tree for name, text in texts.items())
        catalog = self.translation.catalog()
        context = dict.fromkeys(self.translation.fields.facts, "any")
        checked = check(PolicySources(files=trees, context=context), catalog)
        layered = merge(checked.policies, catalog)
        found = (*checked.diagnostics, *layered.diagnostics)
        errors = tuple(one for one in found if one.severity is Severity.ERROR)
        if errors:
            raise Unsound(errors)
        return compile_policy(layered.policy, catalog, shortcuts=shortcuts)

    def by_cedar(self, request: Request) -> CedarAnswer:
        """Return what Cedar decides."""
        found = cedarpy.is_authorized(request.for_cedar(), self._set, self._entities)
        reasons = frozenset(found.diagnostics.reasons)
        return CedarAnswer(found.allowed, reasons, bool(found.diagnostics.errors))

    def by_placet(self, program: Program, request: Request) -> Answer:
        """Return what the translated rules decide."""
        return answer(program, *self.translation.call(request))


def disagreements(case: Case, program: Program, requests: Iterable[Request]) -> Iterator[str]:
    """Yield where the translated rules do not decide as Cedar does.

    Where a policy is in error, Cedar leaves it out; a rule that restricts matches here.
    """
    for request in requests:
        theirs, ours = case.by_cedar(request), case.by_placet(program, request)
        if ours.admitted is None:
            yield f"{request} is no call: {ours.refused}"
            continue
        verdict = str(ours.decision.verdict)
        rules = frozenset(
            reason.rule.partition("-")[0] for reason in ours.decision.deciding
        ) - frozenset(_OURS)
        agrees = verdict == ("allow" if theirs.allowed else "deny")
        if theirs.failed:
            if not agrees and verdict != "deny":
                yield f"{request}: Cedar denies where a policy is in error, and Placet allows"
        elif not agrees:
            yield f"{request}: Cedar has {theirs}, Placet {verdict} by {sorted(rules)}"
        elif rules != theirs.reasons:
            yield f"{request}: decided by {sorted(rules)}, in Cedar by {sorted(theirs.reasons)}"


def policies_of(text: str) -> dict[str, dict[str, Any]]:
    """Return the policies of Cedar text as Cedar's JSON."""
    found: dict[str, dict[str, Any]] = json.loads(cedarpy.policies_to_json_str(text))
    return dict(sorted(found["staticPolicies"].items()))


@lru_cache
def rows(name: str) -> tuple[dict[str, Any], ...]:
    """Return the rows of one file of the corpus."""
    text = (_DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def case_of(row: dict[str, Any]) -> Case:
    """Return a row of the corpus as a case."""
    requests = tuple(map(Request.of, row["requests"]))
    world = World(store=row["entities"], requests=requests)
    return Case(world=world, policies=policies_of(row["policies"]))


# ------------------------------------------------------------------ random combinations


@lru_cache
def common_world() -> World:
    """Return the entities of all hand-written tests, and requests of every kind about them."""
    store: dict[str, dict[str, Any]] = {}
    recorded: list[Request] = []
    for row in rows("handwritten"):
        for entity in row["entities"]:
            store.setdefault(json.dumps(entity["uid"]), entity)
        recorded += map(Request.of, row["requests"])
    contexts = {json.dumps(one.context): dict(one.context) for one in recorded}
    for context in tuple(contexts.values()):
        for name in context:
            less = {key: value for key, value in context.items() if key != name}
            contexts.setdefault(json.dumps(less), less)
    parts = (
        sorted({one.principal for one in recorded} | {("User", "nobody")}),
        sorted({one.action for one in recorded}),
        sorted({one.resource for one in recorded} | {("Photo", "nowhere.jpg")}),
        list(contexts.values()),
    )
    every = [
        Request(principal=who, action=action, resource=what, context=context)
        for who, action, what, context in product(*parts)
    ]
    chosen = random.Random(1).sample(every, 300)
    return World(store=list(store.values()), requests=(*recorded, *chosen))


@lru_cache
def building_blocks() -> dict[str, tuple[Any, ...]]:
    """Return the scopes and conditions of the hand-written policies that translate."""
    found: dict[str, dict[str, Any]] = {
        kind: {} for kind in ("principal", "action", "resource", "condition")
    }
    for row in rows("handwritten"):
        for policy in policies_of(row["policies"]).values():
            for kind in ("principal", "action", "resource"):
                found[kind][json.dumps(policy[kind])] = policy[kind]
            for condition in policy["conditions"]:
                _add_parts(condition["body"], found["condition"])
    return {kind: tuple(each.values()) for kind, each in found.items()}


def _add_parts(body: Any, into: dict[str, Any]) -> None:
    """Add a condition, and those that it consists of."""
    into[json.dumps(body)] = body
    ((kind, of),) = body.items()
    if kind in ("&&", "||"):
        _add_parts(of["left"], into)
        _add_parts(of["right"], into)
    elif kind == "!":
        _add_parts(of["arg"], into)


__all__ = [
    "Case",
    "CedarAnswer",
    "Untranslatable",
    "building_blocks",
    "case_of",
    "common_world",
    "disagreements",
    "kind_of",
    "policies_of",
    "rows",
]

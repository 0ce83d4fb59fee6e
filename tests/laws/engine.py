"""Loads policy text through every stage: trees for the oracle, a program for the engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from policy.admission import Admitted, RawCall, admit
from policy.catalog import Catalog
from policy.checks import PolicySources, check
from policy.diagnostics import Diagnostic, Severity
from policy.layers import merge
from policy.model import Source, ToolCall, thaw
from policy.program import Program, compile_policy
from policy.programs import Profiles
from policy.syntax import parse, tree
from tests.laws.calls import SPECS
from tests.laws.policies import PolicyText

CATALOG = Catalog(specs=SPECS, complete=True)
# The oracle knows of no program what it does, but for those that do nothing; nor does the engine.
FREE = Profiles.of({f"{name}.toml": "free = true\n" for name in ("cd", "pwd", "true", "false")})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Built:
    """One policy without mistakes, in both forms."""

    policy: PolicyText
    trees: tuple[tree.PolicyFile, ...]
    program: Program

    def __repr__(self) -> str:
        return "\n".join(f"--- {name}\n{text}" for name, text in self.policy.texts().items())

    def _repr_pretty_(self, printer: Any, cycle: object) -> None:
        # Hypothesis would print the trees node by node.
        printer.text(repr(self))


class Unsound(Exception):
    """A policy that the checker refuses; it carries the errors."""

    def __init__(self, errors: tuple[Diagnostic, ...]) -> None:
        super().__init__("\n".join(f"{e.span}: {e.code}: {e.message}" for e in errors))
        self.errors = errors


@lru_cache(maxsize=4096)
def _parsed(name: str, text: str) -> tree.PolicyFile:
    parsed = parse(Source(name=name, text=text))
    if parsed.diagnostics:
        raise Unsound(parsed.diagnostics)
    return parsed.tree


@lru_cache(maxsize=4096)
def build(policy: PolicyText) -> Built:
    """Take a policy the whole way; raises Unsound where the checker finds an error."""
    return build_over(policy, CATALOG)


def build_over(
    policy: PolicyText,
    catalog: Catalog,
    *,
    context: Mapping[str, str] | None = None,
    profiles: Profiles = FREE,
    accepted: Collection[str] = (),
) -> Built:
    """Take a policy the whole way over another catalogue, with declared facts of the context.

    Errors with one of the codes in `accepted` do not matter, nor does an `allow` by a text: what
    such a rule means has to be the same everywhere, although no policy may have one.
    """
    trees = tuple(_parsed(name, text) for name, text in policy.texts().items())
    checked = check(PolicySources(files=trees, context=context or {}), catalog)
    layered = merge(checked.policies, catalog)
    found = (*checked.diagnostics, *layered.diagnostics)
    wrong = (one for one in found if one.severity is Severity.ERROR)
    errors = tuple(one for one in wrong if one.code not in (*accepted, "allowed-by-text"))
    if errors:
        raise Unsound(errors)
    program = compile_policy(layered.policy, catalog, profiles=profiles)
    return Built(policy=policy, trees=trees, program=program)


def mended(policy: PolicyText, *, rounds: int = 4) -> PolicyText | None:
    """Return the policy without the statements that the checker refuses; None if it never ends."""
    for _ in range(rounds):
        try:
            build(policy)
        except Unsound as refused:
            wrong = {(e.span.file, e.span.line) for e in refused.errors if e.span is not None}
            policy = PolicyText(
                files=tuple(
                    (
                        name,
                        tuple(
                            statement
                            for line, statement in enumerate(statements, start=1)
                            if line == 1 or (name, line) not in wrong
                        ),
                    )
                    for name, statements in policy.files
                )
            )
        else:
            return policy
    return None


def fits_its_schema(call: ToolCall) -> bool:
    """Tell whether admission takes the call, and takes it as it is."""
    admitted = admit(RawCall(tool=call.tool, input=thaw(call.input)), CATALOG)
    return isinstance(admitted, Admitted) and admitted.call == call

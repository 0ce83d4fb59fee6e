"""`placet prove`: proves the claims of a policy, or shows the calls that break them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from policy.cli.dead_rules import show_dead_rules
from policy.cli.fast_paths import fast_paths
from policy.cli.loading import (
    WRONG_POLICY,
    as_json,
    build_at,
    counted,
    exit_with,
    prefix,
    read_catalog,
    show,
    show_errors,
)
from policy.cli.options import catalog_option, path_argument, steps_option
from policy.cli.progress import progress_line
from policy.diagnostics import Diagnostic, Severity, display_name, nearest, visible
from policy.generation import Built, Generation, Snapshot, no_collecting, read_folder, with_file
from policy.model import Reason, Span
from policy.verify import (
    Proof,
    deciding_rule,
    deciding_words,
    open_lines,
    problem_of,
    prove,
    why_undecided,
)

_UNPROVED = frozenset({"invariant-broken", "invariant-undecided"})
_TITLE = "breaks: {}"
_HEADER = "policy for every agent"
# What keeps claims besides rules.
_MECHANISMS = frozenset({"confirmation", "default", "identity", "none", "pin", "schema"})
_FOR_EVERY_AGENT = re.compile(r"^policy for every agent\b", re.MULTILINE)


@click.command("prove")
@path_argument
@catalog_option
@steps_option
@click.option(
    "--write-tests",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the calls that break claims to a file of tests, to put beside the rule files.",
)
@click.option(
    "--claim",
    "claims",
    metavar="TEXT",
    multiple=True,
    help="Prove this claim about every agent instead of those of the policy; may be repeated.",
)
@click.option("--rule", metavar="NAME", help="Show only claims that this rule keeps or breaks.")
@click.option(
    "--dead", is_flag=True, help="List rules that never matter, and what decides instead."
)
@click.option(
    "--format",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="text for people, json for programs, sarif for code review tools.",
)
def command(
    path: Path,
    *,
    catalog_file: Path | None,
    steps: int | None,
    write_tests: Path | None,
    claims: tuple[str, ...],
    rule: str | None,
    dead: bool,
    format: str,
) -> None:
    """Prove the `prove` and `assume` statements of the policy at PATH.

    A claim holds for every possible call, or a call that breaks it is shown, or it is undecided.
    The exit status is 0 if every claim holds, an `assume` may be undecided, 1 otherwise, and 2 for
    a `--claim` that cannot be read or a `--rule` that there is not.

    \b
    Examples:
      placet prove rules/
      placet prove rules/ --write-tests broken.policy
      placet prove rules/ --claim 'never allow bash_exec when session.role == "guest"'
      placet prove rules/ --dead
      placet prove rules/ --format json
    """
    if dead:
        if claims or rule is not None or write_tests is not None or format == "sarif":
            raise click.UsageError(
                "--dead is about rules: it takes --steps and --format text or json."
            )
        show_dead_rules(_sound(_built(path, catalog_file, ()), path), path, steps, format)
        return
    built = _built(path, catalog_file, claims)
    if claims:
        _expect_claims(built, path)
    proofs = _proofs(built, path, steps, _first_line_of_claims(path) if claims else 0)
    if rule is not None:
        _expect_rule(_sound(built, path), rule)
        proofs = tuple(proof for proof in proofs if _rests_on(proof, rule))
    if write_tests is not None:
        _write(write_tests, proofs)
    if format == "sarif":
        wrong = (problem for proof in proofs if (problem := problem_of(proof)) is not None)
        found = (*_unknown_tools(built, proofs), *wrong)
        click.echo(show(built, path, "sarif", diagnostics=found))
    elif format == "json":
        click.echo(as_json({"claims": [_record(proof) for proof in proofs]}))
    else:
        _print(proofs, before=prefix(path), rule=rule, in_files=not claims)
    unknown = _unknown_tools(built, proofs)
    if unknown and format != "sarif":
        click.echo(show(built, path, diagnostics=unknown), err=True)
    if unknown or any(_is_bad(proof) for proof in proofs):
        raise SystemExit(WRONG_POLICY)


def _built(path: Path, catalog_file: Path | None, claims: tuple[str, ...]) -> Built:
    """Return the build of a policy, with further claims at the end of its global file."""
    if not claims:
        return build_at(path, catalog_file, proving=_proved)
    snapshot = read_folder(path)
    name = _global_file(snapshot)
    content = snapshot.files[name].content.decode("utf-8", errors="replace").rstrip("\n")
    lines = "\n".join(map(_statement, claims))
    edited = with_file(snapshot, name, f"{content}\n{lines}\n".encode())
    catalog = read_catalog(catalog_file)
    return fast_paths().builder().build(edited, catalog=catalog, number=1, now=datetime.now(UTC))


def _proved(built: Built, _snapshot: Snapshot) -> Built:
    generation = built.generation
    assert generation is not None, "there are claims only in rules without an error"
    return built.with_proofs(_found(generation, steps=generation.settings.reload.steps))


def _found(generation: Generation, *, steps: int) -> tuple[Proof, ...]:
    with progress_line("proved", "claims") as progress, no_collecting():
        return tuple(prove(generation, steps=steps, progress=progress))


def _statement(claim: str) -> str:
    if not claim.isprintable():
        raise click.BadParameter("a claim is one line of text.", param_hint="--claim")
    given = claim.strip()
    return given if given.startswith(("prove ", "assume ")) else f"prove {given}"


def _global_file(snapshot: Snapshot) -> str:
    """Return the name of the file for every agent, or end the command."""
    for name in snapshot.policies:
        text = snapshot.files[name].content.decode("utf-8", errors="replace")
        if _FOR_EVERY_AGENT.search(text):
            return name
    raise click.UsageError("--claim is about every agent, and no file here is for every agent.")


def _first_line_of_claims(path: Path) -> int:
    """Return the first line that `_built` adds to the global file."""
    snapshot = read_folder(path)
    content = snapshot.files[_global_file(snapshot)].content.decode("utf-8", errors="replace")
    return content.rstrip("\n").count("\n") + 2


def _expect_claims(built: Built, path: Path) -> None:
    """End the command if a claim of the command line is wrong."""
    name, first = _global_file(read_folder(path)), _first_line_of_claims(path)
    for found in built.diagnostics:
        is_error = found.severity is Severity.ERROR and found.code not in _UNPROVED
        span = found.span
        if is_error and span is not None and span.file == name and span.line >= first:
            raise click.BadParameter(f"{visible(found.message)}.", param_hint="--claim")


def _expect_rule(generation: Generation, rule: str) -> None:
    """End the command if nothing that can keep a claim has this name."""
    layers = generation.program.policy.layers
    rules = (one.id for layer in layers for one in layer.rules)
    rewrites = (one.id for layer in layers for one in layer.rewrites)
    names = {*_MECHANISMS, *rules, *rewrites}
    if rule not in names:
        near = nearest(rule, names)
        hint = f"; did you mean `{visible(near, 60)}`?" if near else "."
        raise click.BadParameter(
            f"no rule is called `{visible(rule, 60)}`{hint}", param_hint="--rule"
        )


def _proofs(built: Built, path: Path, steps: int | None, first: int) -> tuple[Proof, ...]:
    """Return the proofs of the claims from a line of the global file on, or of all if it is 0."""
    generation = _sound(built, path)
    if steps is None and built.proofs:
        proofs = built.proofs
    else:
        bound = generation.settings.reload.steps if steps is None else steps
        proofs = _found(generation, steps=bound)
    if not first:
        return proofs
    name = _global_file(read_folder(path))
    return tuple(
        proof
        for proof in proofs
        if proof.invariant.span.file == name and proof.invariant.span.line >= first
    )


def _sound(built: Built, path: Path) -> Generation:
    """Return the rules of a policy whose only errors may be claims, or end the command."""
    wrong = {found.code for found in built.diagnostics if found.severity is Severity.ERROR}
    generation = built.generation or built.failing
    if generation is None or wrong - _UNPROVED:
        show_errors(built, path)
    return generation


def _rests_on(proof: Proof, rule: str) -> bool:
    broken = () if proof.counterexample is None else proof.counterexample.decision.deciding
    return rule in {*(basis.rule for basis in proof.basis), *(reason.rule for reason in broken)}


def _is_bad(proof: Proof) -> bool:
    return proof.status == "broken" or (
        proof.status == "undecided" and proof.invariant.kind == "prove"
    )


def _unknown_tools(built: Built, proofs: tuple[Proof, ...]) -> tuple[Diagnostic, ...]:
    """Return the errors of `prove` statements that name unknown tools: nothing is proved of these.

    A policy with such a claim loads, because a program may add the tool later.
    """
    claims = [proof.invariant for proof in proofs if proof.invariant.kind == "prove"]
    return tuple(
        replace(found, severity=Severity.ERROR)
        for found in built.diagnostics
        if found.code == "unknown-tool"
        and found.span is not None
        and any(_is_within(found.span, claim.span) for claim in claims)
    )


def _is_within(inner: Span, outer: Span) -> bool:
    return inner.file == outer.file and outer.start <= inner.start < outer.end


def _print(proofs: tuple[Proof, ...], *, before: str, rule: str | None, in_files: bool) -> None:
    for proof in proofs:
        span = proof.invariant.span
        place = f"{display_name(span.file, root=before)}:{span.line}" if in_files else "--claim"
        click.echo(f"{proof.status:<9} {visible(place)}  {visible(proof.invariant.text, 300)}")
        for line in _reasons(proof):
            click.echo(f"          {line}")
    if not proofs and rule is not None:
        click.echo(f"`{visible(rule, 60)}` keeps and breaks no claim", err=True)
        return
    if not proofs:
        click.echo(
            "there are no claims; a statement such as `prove never allow * when "
            'session.role == "guest"` is one',
            err=True,
        )
        return
    counts = {
        status: sum(proof.status == status for proof in proofs)
        for status in ("holds", "broken", "undecided")
    }
    click.echo(
        f"{counted(len(proofs), 'claim')}: {counts['holds']} hold, {counts['broken']} broken, "
        f"{counts['undecided']} undecided"
    )


def _reasons(proof: Proof) -> list[str]:
    if proof.counterexample is not None:
        shown = proof.counterexample.as_test(_TITLE.format(proof.invariant.text)).splitlines()
        verdict, rules = _verdict(proof)
        note = "; the claim's condition is indeterminate" if proof.counterexample.unclear else ""
        return [f"a call gets `{verdict}` by {rules}{note}:", *map(visible, shown)]
    if proof.undecided:
        why = why_undecided(proof)
        names = f"for {', '.join(visible(name, 60) for name in proof.undecided)}"
        return [f"{names}: {why}" if why else names, *_left_open(proof)]
    if not proof.tools:
        return ["no known tool has such a name"]
    if proof.about_nothing:
        return ["no call meets the claim's conditions"]
    return [f"kept by {', '.join(_basis_names(proof))}"]


def _left_open(proof: Proof) -> list[str]:
    """Return which conditions leave a claim undecided, and what decides it."""
    if not proof.open_conditions:
        return []
    rule = deciding_words(proof, 300).rstrip(",")
    return [*(f"  {line}" for line in open_lines(proof)), f"decided by a rule: {rule}"]


def _verdict(proof: Proof) -> tuple[str, str]:
    assert proof.counterexample is not None
    decision = proof.counterexample.decision
    return str(decision.verdict), ", ".join(map(_rule, decision.deciding))


def _rule(reason: Reason) -> str:
    name = visible(reason.rule, 60)
    if reason.file is None or str(reason.rule).startswith(f"{reason.file}:"):
        return name
    return f"{name} ({visible(f'{reason.file}:{reason.line}')})"


def _basis_names(proof: Proof) -> list[str]:
    return [
        f"{visible(basis.rule, 60)} ({visible(basis.place)})"
        if basis.place not in ("", basis.rule)
        else visible(basis.rule, 60)
        for basis in proof.basis
    ]


def _record(proof: Proof) -> dict[str, Any]:
    shown, span = proof.counterexample, proof.invariant.span
    record: dict[str, Any] = {
        "claim": proof.invariant.text,
        "kind": proof.invariant.kind,
        "file": span.file,
        "line": span.line,
        "layer": proof.layer.title,
        "status": proof.status,
        "tools": proof.tools,
        "kept_by": [
            {"rule": basis.rule, "layer": basis.layer, "place": basis.place}
            for basis in proof.basis
        ],
        "undecided_for": list(proof.undecided),
        "undecided_because": why_undecided(proof),
        "open_conditions": [
            {"condition": one.text, "rule": one.rule, "place": one.place, "why": one.why}
            for one in proof.open_conditions
        ],
        "decided_by": deciding_rule(proof) if proof.undecided else "",
        "counterexample": None,
    }
    if shown is not None:
        verdict, _ = _verdict(proof)
        record["counterexample"] = {
            "tool": shown.situation.spec.name,
            "input": shown.situation.input,
            "given": dict(shown.given()),
            "verdict": verdict,
            "by": [reason.rule for reason in shown.decision.deciding],
            "unclear": shown.unclear,
            "test": shown.as_test(_TITLE.format(proof.invariant.text)),
        }
    return record


def _write(file: Path, proofs: tuple[Proof, ...]) -> None:
    tests = [
        proof.counterexample.as_test(_TITLE.format(proof.invariant.text))
        for proof in proofs
        if proof.counterexample is not None
    ]
    try:
        text = "\n\n".join((_HEADER, *tests))
        file.write_text(f"{text}\n" if tests else "", encoding="utf-8")
    except OSError as error:
        exit_with(f"{file} cannot be written: {error.strerror or error}")

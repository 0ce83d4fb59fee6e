"""Decides the calls of a golden case under its policies, and returns one line for each.

The folder is read as if it stood at `/policies`. Beside the built-in tools a case has those of
`tools.json`, here, and those of its own `catalog.json`; the tools of its `unreviewed.json` are
known only by the word of their servers. A call of any other tool is an error of the case, unless
that is what the case is about. `links.json` lists symbolic links by path, null for one
that cannot be followed. Calls are made in `/workspace`, by somebody at home in `/home/user`.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from click import unstyle

from policy.catalog import Catalog, builtin_catalog, read_listing, repair_name
from policy.cli.calls import CallToDecide, NotACall, read_call
from policy.cli.decision_lines import decision_record
from policy.cli.explanation_text import explanation_text
from policy.cli.loading import as_json
from policy.decision import explain, lines_for
from policy.generation import Builder, Built, Generation, ReadFile, Snapshot
from policy.model import ResolvePath, Resolvers
from tests.case_files import Case, CaseError, diagnostic_lines

ROOT = "/policies"
TOOLS = json.loads((Path(__file__).parent / "tools.json").read_text(encoding="utf-8"))
_NOT_OF_THE_FOLDER = frozenset({"catalog.json", "unreviewed.json", "links.json"})
# The cases that call tools which no catalogue lists.
_WITH_UNKNOWN_TOOLS = frozenset({"A tool that no catalogue knows never reaches the rules"})
_LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def decisions(case: Case, builder: Builder | None = None) -> dict[str, str]:
    """Load the policies of the case and decide its calls."""
    require_known_tools(case)
    built = load(case, builder)
    links = json.loads(case.files["links.json"]) if "links.json" in case.files else None
    resolve = None if links is None else following(links)
    said = diagnostic_lines(built.diagnostics)
    if built.generation is None:
        lines = [{"error": f"the policy does not load: {said}"}]
    else:
        lines = [_decided(built.generation, line, resolve) for line in case.calls]
    return {
        "diagnostics": said,
        "decision": "".join(as_json(line) + "\n" for line in lines),
    }


def lines(case: Case) -> dict[str, str]:
    """Load the policies of the case and list what binds the caller of each of its calls."""
    require_known_tools(case)
    built = load(case)
    assert built.generation is not None, diagnostic_lines(built.diagnostics)
    program = built.generation.program
    asked = [read_call(line, disk=Resolvers()) for line in case.calls or ("{}",)]
    told = [
        lines_for(program, one.caller, one.facts) for one in asked if not isinstance(one, NotACall)
    ]
    return {"lines": "\n".join("".join(f"{line}\n" for line in each) for each in told)}


def explanations(case: Case) -> dict[str, str]:
    """Load the policies of the case and explain the decision on each of its calls."""
    require_known_tools(case)
    built = load(case)
    assert built.generation is not None, diagnostic_lines(built.diagnostics)
    generation = replace(built.generation, home="/home/user")
    texts = [_explained(generation, line) for line in case.calls]
    return {"diagnostics": diagnostic_lines(built.diagnostics), "explanation": "\n".join(texts)}


def _explained(generation: Generation, line: str) -> str:
    asked = read_call(line, disk=Resolvers())
    assert not isinstance(asked, NotACall), asked
    facts = replace(asked.facts, workspace=asked.facts.workspace or "/workspace")
    facts = generation.complete(facts)
    answer = generation.answer(asked.tool, asked.input, caller=asked.caller, facts=facts)
    told = explain(generation.program, answer.decision, caller=asked.caller, facts=facts)
    text = unstyle(explanation_text(told, tool=asked.tool, input=asked.input, root="", width=100))
    # Ends with the digest of the policy, which is no concern of the cases.
    return text.partition("\n\ndecided by the policy ")[0] + "\n"


def load(case: Case, builder: Builder | None = None, *, catalog: Catalog | None = None) -> Built:
    """Build the case's policy folder, and nothing of the disk; with this catalogue, if given."""
    builder = builder or Builder()
    files = {
        name: ReadFile(
            name=name,
            lexical=f"{ROOT}/{name}",
            real=f"{ROOT}/{name}",
            content=text.encode(),
        )
        for name, text in case.files.items()
        if name not in _NOT_OF_THE_FOLDER
    }
    snapshot = Snapshot(
        path=ROOT,
        root=ROOT,
        real_root=ROOT,
        only=None,
        files=MappingProxyType(files),
        unread=MappingProxyType({}),
        digest="sha256:0",
    )
    return builder.build(snapshot, catalog=catalog or _catalog(case), number=1, now=_LONG_AGO)


def require_known_tools(case: Case) -> None:
    """Raise CaseError if a call of the case names a tool that its catalogue does not have."""
    if case.name in _WITH_UNKNOWN_TOOLS:
        return
    catalog = _catalog(case)
    for line in case.calls:
        asked = read_call(line, disk=Resolvers())
        if isinstance(asked, CallToDecide) and repair_name(asked.tool, catalog) is None:
            builtin = builtin_catalog().names
            others = ", ".join(name for name in catalog.names if name not in builtin)
            raise CaseError(
                f"{case.path}:{case.line}: {case.name}: unknown tool `{asked.tool}`: cases have "
                f"only {others}, the built-in tools ({', '.join(builtin)}), and those of a block "
                "`json catalog.json`"
            )


def following(links: Mapping[str, str | None]) -> ResolvePath:
    """Return what follows these links wherever they stand in a path."""

    def resolve(path: str) -> str | None:
        for link, target in links.items():
            if path == link or path.startswith(link + "/"):
                return None if target is None else posixpath.normpath(target + path[len(link) :])
        return path

    return resolve


def _catalog(case: Case) -> Catalog:
    own = json.loads(case.files.get("catalog.json", "[]"))
    unreviewed = json.loads(case.files.get("unreviewed.json", "[]"))
    listed = read_listing([*TOOLS, *own], reviewed=True)
    suspect = read_listing(unreviewed)
    assert not listed.problems + suspect.problems
    return builtin_catalog().with_tools((*listed.specs, *suspect.specs))


def _decided(generation: Generation, line: str, links: ResolvePath | None) -> dict[str, Any]:
    asked = read_call(line, disk=Resolvers(path=links))
    if isinstance(asked, NotACall):
        return {"error": asked.code}
    workspace = asked.facts.workspace or generation.settings.service.workspace or "/workspace"
    answer = replace(generation, home="/home/user").answer(
        asked.tool,
        asked.input,
        caller=asked.caller,
        facts=replace(asked.facts, workspace=workspace),
    )
    return _told(decision_record(asked.id, answer.decision))


def _told(record: dict[str, Any]) -> dict[str, Any]:
    """Add to a decision what expectations speak of: `by` names the reasons that carry it."""
    reasons = record["reasons"]
    verdict = record["verdict"]
    return {
        **record,
        **reasons[0],
        "by": [reason["rule"] for reason in reasons if reason["verdict"] == verdict],
        "opinions": [f"{reason['verdict']} {reason['rule']}" for reason in reasons],
        "becoming": record["input"],
        "decided": "indeterminate" not in reasons[0],
        "redactions": [
            f"shadow {one['rule']}" if one.get("shadow") else one["rule"]
            for one in record.get("redactions", [])
        ],
        "shadowed": [reason["rule"] for reason in record.get("shadowed", [])],
    }

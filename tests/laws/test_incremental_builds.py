"""An incremental build equals a full one: the same policies, positions, messages and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policy import Caller, ToolCall, Verdict
from policy.catalog import builtin_catalog
from policy.generation import Builder, Built, ReadFile, Snapshot
from policy.model import Source
from policy.syntax import parse
from tests.examples import examples

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CATALOG = builtin_catalog()

HEADERS = (
    "policy for every agent",
    'policy for agent "writer"',
    'policy for role "dev"',
    'policy for agents "w*"',
    "policy for nobody at all",
    "policy for agent writer",
)
# What can stand together, a choice at each place; the first choices are a good policy.
FIRST = (
    ("default deny", "default allow", "default ask for file_read\ndefault deny"),
    ('let home_of_all = "/home"', 'let home_of_all = "/srv/a"', "let home_of_all = input.path"),
    (
        'paths under_test = "/srv/**"',
        'paths under_test = "/tmp/**", "/home"',
        'paths under_test = "/srv/**", "${workspac}/x"',
        'paths under_test "/srv/**"',
        "",
    ),
    (
        "tools files = file_read, file_write",
        "tools files = file_read",
        "tools files = file_wriet",
        "tools files = file_read file_write",
    ),
    ('hosts trusted from "data/hosts.json"', 'hosts trusted = "a.example"', "hosts trusted = a.b"),
    ('data table from "data/table.toml"',),
    ("", "tool file_read extra fields allowed", "rw: rewrite file_read set input.limit = 3"),
    (
        "",
        'use "small.policy"',
        'use "small.policy" granting with which = files',
        "use small.policy",
    ),
    ("", 'test "one"\n  file_read {path: "/srv/a"} -> allow', 'delegate file_list to role "dev"'),
)
RULES = (
    "allow file_read when reads only under_test",
    'a: allow file_read when reads only "/srv/**"',
    "b: deny file_read when input.path == home_of_all",
    'c: allow bash_exec when runs only "python *"',
    'd: ask file_write\n  because "someone should look"',
    "f: allow files when reads only under_test and writes only under_test",
    "g: allow web_* when connects only to trusted",
    "h: deny web_fetch when input.url starts with table.prefix",
    'l: allow file_write  # so\n  when writes only under_test\n  unless input.content == "x"',
    'm: deny code_exec when session.role == "dev"',
    "n: shadow deny mcp git/*",
    "q: allow file_list with approval",
    'r: ask web_fetch unless input.url starts with "https://a"',
)
ODD = (
    "i: deny file_raed",
    "j: deny file_read when input.pahr == 1",
    "k: deny file_read when",
    "a: deny file_list",
    "z: allow file_read when small.odd == 1",
    "s: allow mcp *",
    "t: deny which",
    "param which: tools = file_read",
    "  an indented line",
    "u: deny file_read when input.max-size == 1",
    "let home_of_all = 7",
    "allow file_read",
    "}",
    "A_b: deny file_read when reads only under_test",
    "v: deny file_read wehn reads under_test",
    "default: deny",
    "",
    "# a comment",
)
PACKS = (
    'pack "small"\nparam which: tools = file_read\nw: deny which when input.path == "/home"\n',
    'pack "small"\nlet at = "/srv/a"\nparam which: tools = file_list\n'
    "w: ask which\nx: allow file_read when input.path == at\ny: deny code_exec\n",
    'pack "small"\nw: deny file_read\n',
    'pack small\nparam which = tools\nlet at "/srv/a"\nw: deny which when input.path == at\n',
)
NAMES = ("b.policy", "deep/c.policy", "0.policy")
OTHERS = {
    "small.policy": (None, *PACKS),
    "placet.toml": (
        None,
        "",
        '[permissions.tools]\nfile_read = "ask"\n',
        "[tools.file_read]\nread_only = false\n",
        "[tools.nothing]\nread_only = false\n",
        '[context]\nflights = "list"\n',
    ),
    "data/hosts.json": (None, '["a.example"]', '["b.example", "*.c.example"]', "{"),
    "data/table.toml": (None, 'prefix = "https://a"', "prefix = 3"),
}
CALLS = (
    ToolCall(tool="file_read", input={"path": "/srv/a"}),
    ToolCall(tool="file_read", input={"path": "/home"}),
    ToolCall(tool="file_write", input={"path": "/srv/secret", "content": ""}),
    ToolCall(tool="web_fetch", input={"url": "https://a.example/"}),
    ToolCall(tool="bash_exec", input={"command": "python x.py"}),
)
CALLERS = (Caller(agent="writer"), Caller(agent="default", role="dev"))

Files = Mapping[str, str | None]

GOOD = "\n".join(["policy for every agent", *(one[0] for one in FIRST), *RULES]) + "\n"


@st.composite
def first_files(draw: st.DrawFn) -> str:
    """Return the file of every agent, mostly a good one, its rules in any order."""
    mostly = st.integers(0, 5)
    chosen = [one[0] if draw(mostly) else draw(st.sampled_from(one)) for one in FIRST]
    rules = draw(st.lists(st.sampled_from(RULES), unique=True, min_size=3))
    odd = draw(st.sampled_from(ODD)) if not draw(mostly) else ""
    return "\n".join(["policy for every agent", *chosen, *rules, odd]) + "\n"


other_files = st.tuples(
    st.sampled_from(HEADERS), st.lists(st.sampled_from(RULES[2:] + ODD[:3]), max_size=3)
).map(
    lambda parts: "\n".join([parts[0], *(one.replace(": ", "2: ", 1) for one in parts[1])]) + "\n"
)


@st.composite
def edits(draw: st.DrawFn) -> list[dict[str, str | None]]:
    """Return what changes in each of some builds, by file; None takes a file away."""
    given = {"data/hosts.json": '["a.example"]', "data/table.toml": 'prefix = "https://a"'}
    found: list[dict[str, str | None]] = [{"a.policy": GOOD, "small.policy": PACKS[0], **given}]
    for _ in range(draw(st.integers(1, 7))):
        match draw(st.integers(0, 3)):
            case 0:
                name = draw(st.sampled_from(NAMES))
                found.append({name: draw(st.none() | other_files)})
            case 1:
                name = draw(st.sampled_from(sorted(OTHERS)))
                found.append({name: draw(st.sampled_from(OTHERS[name]))})
            case _:
                found.append({"a.policy": draw(first_files())})
    return found


def snapshot_of(files: Files) -> Snapshot:
    """Return the files as a read of a folder gives them."""
    read = {
        name: ReadFile(
            name=name, lexical=f"/p/{name}", real=f"/p/{name}", content=text.encode("utf-8")
        )
        for name, text in sorted(files.items())
        if text is not None
    }
    digest = f"sha256:{hash(tuple(sorted((n, f.content) for n, f in read.items()))):x}"
    return Snapshot(
        path="/p", root="/p", real_root="/p", only=None, files=read, unread={}, digest=digest
    )


def told(built: Built) -> Any:
    """Return all that a build says, places included, in a form that can be compared."""
    generation = built.generation
    if generation is None:
        return built.diagnostics, built.examples
    rules = [
        (layer.key, [(rule, rule.span) for rule in layer.rules], layer.rewrites, layer.defaults)
        for layer in generation.program.policy.layers
    ]
    decisions = [generation.decide(call, caller) for call in CALLS for caller in CALLERS]
    shown = [(d.verdict, d.reasons, d.generation) for d in decisions]
    return (
        built.diagnostics,
        built.examples,
        rules,
        shown,
        generation.digests,
        generation.settings,
        generation.catalog,
        dict(generation.sources),
    )


def build(builder: Builder, files: Files) -> Built:
    """Build the files as the first generation."""
    return builder.build(snapshot_of(files), catalog=CATALOG, number=1, now=NOW)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits())
def test_an_incremental_build_equals_a_full_one(changes: list[dict[str, str | None]]) -> None:
    remembering = Builder()
    files: dict[str, str | None] = {}
    for change in changes:
        files |= change
        assert told(build(remembering, files)) == told(build(Builder(remembering=False), files))


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.permutations(RULES), st.integers(0, 3))
def test_moved_and_repeated_rules_keep_their_own_positions(rules: list[str], again: int) -> None:
    """Rules keep their meaning and get the places and names of where they went."""
    remembering = Builder()
    files = {"a.policy": GOOD, "data/hosts.json": "[]", "data/table.toml": 'prefix = "b"'}
    assert build(remembering, files).generation is not None
    head = [one[0] for one in FIRST]
    files |= {
        "a.policy": "\n".join(["policy for every agent", "", *head, *rules]),
        "b.policy": "\n".join(["policy for every agent", *rules[:again]]),
    }
    assert told(build(remembering, files)) == told(build(Builder(remembering=False), files))


def test_a_rule_means_what_its_own_pack_means() -> None:
    """`p.q.` stands before the rules of a pack of that name, and of a pack `q` within a `p`."""
    rule = "rr: deny file_read when input.path == at\n"
    files = {
        "a.policy": "policy for every agent\ndefault allow\n"
        'use "one.policy"\nuse "two.policy" as p\n',
        "one.policy": f'pack "p.q"\nlet at = "/one"\n{rule}',
        "two.policy": 'pack "two"\nuse "three.policy" as q\n',
        "three.policy": 'pack "three"\nlet at = "/home"\n',
    }
    remembering = Builder()
    assert build(remembering, files).generation is not None
    files |= {
        "one.policy": files["one.policy"].removesuffix(rule),
        "three.policy": files["three.policy"] + rule,
    }
    again = build(remembering, files)
    assert told(again) == told(build(Builder(remembering=False), files))
    assert again.generation is not None
    home = ToolCall(tool="file_read", input={"path": "/home"})
    assert again.generation.decide(home, Caller()).verdict is Verdict.DENY


def test_a_hint_follows_the_files_that_are_there() -> None:
    remembering = Builder()
    files = {"a.policy": GOOD, "placet.toml": '[catalogue]\nfiles = ["tolls.json"]\n'}
    build(remembering, files)
    files["tools.json"] = "[]"
    again = build(remembering, files)
    assert told(again) == told(build(Builder(remembering=False), files))
    assert "did you mean `tools.json`?" in {one.help for one in again.diagnostics}


def test_a_name_excused_by_a_broken_definition_is_unknown_once_that_is_gone() -> None:
    rule = "r: deny file_read when reads keys\n"
    head = "policy for every agent\ndefault deny\n"
    remembering = Builder()
    for broken in (
        'paths keys "/k/**"\n',
        "",
        'paths keys = "/k/**"\n',
        'paths keys "/k/**"\n',
        "",
    ):
        files = {"a.policy": head + broken + rule}
        again = build(remembering, files)
        assert told(again) == told(build(Builder(remembering=False), files))
        codes = [found.code for found in again.diagnostics]
        assert codes == {"": ["unknown-name"], 'paths keys "/k/**"\n': ["syntax-error"]}.get(
            broken, []
        )


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits())
def test_a_policy_with_a_broken_statement_never_loads(changes: list[dict[str, str | None]]) -> None:
    """So what a broken statement excuses elsewhere is never in force."""
    files: dict[str, str | None] = {}
    for change in changes:
        files |= change
    trees = [
        parse(Source(name=name, text=text)).tree
        for name, text in files.items()
        if text is not None and name.endswith(".policy")
    ]
    if any(tree.broken or tree.header is None for tree in trees):
        assert build(Builder(), files).generation is None

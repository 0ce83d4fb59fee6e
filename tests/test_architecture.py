"""Enforces the layout: packages entered by their front door, a pure core, a page for every code.

Which package may import which is the import contract in pyproject.toml; this is what it cannot say.
Every check is a function of a tree of sources, and is shown to find the mistake it is for.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from policy.diagnostics import CODES, page

ROOT = Path(__file__).resolve().parents[1]

ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

# A tree of Python sources: dotted module name (a package by its own name) -> text.
Modules = Mapping[str, str]

OUTER = frozenset(
    {
        "approvals",
        "audit",
        "cli",
        "config_edit",
        "console",
        "daemon",
        "environment",
        "generation",
        "lsp",
        "mcp",
        "plugins",
        "processes",
        "proxy",
        "runtime",
        "sandbox",
        "service",
        "store",
        "tools",
    }
)
_HOW = ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")
IMPURE = frozenset({"open", "print", "input", "eval", "exec", "__import__", "breakpoint"})
# Who writes code as text and compiles it: of names and quoted literals alone.
WRITERS = frozenset({"policy.codegen.layer"})
# Tests that reach inside a package of which they are no unit test.
REACH_INSIDE = frozenset(
    {
        # They compare a fast path with the slow one, both of them behind the front door.
        "tests.laws.reference_outcomes",
        "tests.laws.test_batched_tests",
        "tests.laws.test_checking_shortcuts",
        "tests.laws.test_hosts",
        "tests.laws.test_indexed_sets",
        "tests.laws.test_parser_engines_agree",
        "tests.laws.test_printed_scripts_parse_alike",
        "tests.laws.test_statement_shortcuts",
        "tests.laws.test_values",
        # They count which fast paths are taken, or make one fail.
        "tests.unit.checks.conditions.test_sql",
        "tests.unit.cli.test_bad_policies",
        "tests.unit.cli.test_fast_paths",
        "tests.unit.cli.test_switches",
        "tests.unit.program.test_shortcuts",
        # They read and print calls as the commands do, or run commands without a process.
        "tests.cases.deciding",
        "tests.corpora.judging",
        "tests.laws.test_hostile_json",
        "tests.service.approvals_commands.test_page",
        "tests.service.capabilities.test_plugins_command",
        # It draws what agents may send, below the process that answers them.
        "tests.laws.test_hooks",
        # Tests that an agent started skip what only people may run, and few start processes.
        "tests.conftest",
        "tests.proofs_in_this_process",
        # They go through all that profiles may say.
        "tests.laws.test_option_effects",
        "tests.manuals.counted",
        "tests.test_profile_page",
        # They take one handler or one part of a plugin apart from its service.
        "tests.e2e.test_web_fetch",
        "tests.service.capabilities.test_declarations",
        "tests.service.capabilities.test_plugins",
        # They count the steps of functions that read one text each.
        "tests.growth.readers",
        "tests.growth.steps",
        "tests.laws.test_normal_forms",
        # Versions of tools as selectors see them.
        "tests.unit.catalog.test_versions",
    }
)
# What starts programs, by the module and the method.
STARTING = frozenset(
    {
        *(f"os.{name}" for name in ("fork", "forkpty", "popen", "startfile", "system")),
        *(f"os.{kind}{how}" for kind in ("exec", "spawn") for how in _HOW),
        "asyncio.create_subprocess_exec",
        "asyncio.create_subprocess_shell",
        "multiprocessing.Process",
        "multiprocessing.get_context",
        "os.posix_spawn",
        "os.posix_spawnp",
        "pty.fork",
        "pty.spawn",
        "subprocess.Popen",
        "subprocess.call",
        "subprocess.check_call",
        "subprocess.check_output",
        "subprocess.getoutput",
        "subprocess.getstatusoutput",
        "subprocess.run",
    }
)
# Who starts programs. Whatever a call, a server or a plugin starts goes through the launcher, so
# that it is confined as configured, and ends with Placet.
STARTERS = frozenset(
    {
        "policy.processes.launcher",
        # The program between: it ends what it has started.
        "policy.processes.supervisor",
        # They become the confined program, and look whether that works here.
        "policy.sandbox.attempts",
        "policy.sandbox.bubblewrap",
        "policy.sandbox.escapes",
        "policy.sandbox.landlock",
        "policy.sandbox.landlock_start",
        # Placet's own interpreter: the daemon that answers hooks, and what proves claims.
        "policy.daemon.launch",
        "policy.store.proving.process",
        # Commands that a person runs, and git with words of our own.
        "policy.cli.agent_settings.entry",
        "policy.cli.demo.stage",
        "policy.cli.git_revision",
        "policy.environment.git_store",
    }
)
EMPTY_NAMES = frozenset({"utils", "util", "helpers", "common", "manager", "misc", "base"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What the checks need of one module: its tree would weigh on every later collection.

    `imports` has the line, module and names of every import, wherever it stands. `calls` has the
    line and name of every call of a plain name, `used` the attributes of imported modules by the
    modules' names, `texts` every string, and `diagnosed` the codes that `diagnose` gets by name.
    """

    imports: tuple[tuple[int, str, tuple[str, ...]], ...]
    exports: frozenset[str]
    calls: tuple[tuple[int, str], ...]
    used: frozenset[str]
    texts: frozenset[str]
    diagnosed: frozenset[str]


@cache
def read(text: str) -> Source:
    """Read a module, with one walk through its tree."""
    tree = ast.parse(text)
    imports: list[tuple[int, str, tuple[str, ...]]] = []
    known: dict[str, str] = {}
    attributes: set[tuple[str, str]] = set()
    calls: list[tuple[int, str]] = []
    diagnosed: set[str] = set()
    texts: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    imports.append((node.lineno, alias.name, ()))
                    known[alias.asname or alias.name] = alias.name
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                imports.append((node.lineno, module, tuple(alias.name for alias in aliases)))
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                attributes.add((name, attribute))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                calls.append((node.lineno, name))
                first = arguments[0] if arguments else None
                if name == "diagnose" and isinstance(first, ast.Constant):
                    diagnosed.add(str(first.value))
            case ast.Constant(value=str(value)):
                texts.add(value)
            case _:
                pass
    return Source(
        imports=tuple(sorted(imports)),
        exports=exports(tree),
        calls=tuple(calls),
        used=frozenset(f"{known[name]}.{each}" for name, each in attributes if name in known),
        texts=frozenset(texts),
        diagnosed=frozenset(diagnosed),
    )


def exports(tree: ast.Module) -> frozenset[str]:
    """Return the names in a module's `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


@cache
def modules(top: str = "policy") -> Modules:
    found = {}
    for path in sorted((ROOT / top).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path.read_text(encoding="utf-8")
    return found


def packages(tree: Modules) -> set[str]:
    """Return the packages right below `policy`: those with modules of their own."""
    return {name.split(".")[1] for name in tree if name.count(".") >= 2}


def folder(module: str) -> str:
    """Return the first name below `policy`; "" for the front door itself."""
    return module.partition(".")[2].partition(".")[0]


def home(importer: str) -> str:
    """Return the package that a module belongs to, or whose unit test it is."""
    path = importer.split(".")
    return path[2] if path[:2] == ["tests", "unit"] and len(path) > 3 else folder(importer)


def back_doors(tree: Modules, importers: Modules | None = None) -> list[str]:
    """Return the imports that reach past another package's `__init__`."""
    inner = packages(tree)
    found = []
    for importer, text in (tree if importers is None else importers).items():
        own = home(importer)
        for line, module, names in read(text).imports:
            path = module.split(".")
            if path[0] != "policy" or len(path) < 2 or path[1] == own or path[1] not in inner:
                continue
            if len(path) > 2:
                found.append(f"{importer}:{line}: import from policy.{path[1]}, not from {module}")
                continue
            hidden = set(names) - read(tree.get(module, "")).exports
            found += [f"{importer}:{line}: {module} exports no {name}" for name in sorted(hidden)]
    return found


def imported(tree: Modules, text: str) -> Iterator[str]:
    """Yield the modules of the tree that a text imports."""
    for _, module, names in read(text).imports:
        for one in [f"{module}.{name}" for name in names] or [module]:
            yield one if one in tree else module


def circle(tree: Modules) -> list[str]:
    """Return a circle of modules that import each other, wherever the imports stand, if any."""
    graph = {importer: set(imported(tree, text)) - {importer} for importer, text in tree.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def impure_builtins(tree: Modules) -> list[str]:
    """Return the calls of built-in functions that do I/O, in the packages that must do none."""
    found = []
    for name, text in tree.items():
        if folder(name) in OUTER:
            continue
        found += [
            f"{name}:{line}: {called}"
            for line, called in read(text).calls
            if called in IMPURE and not (name in WRITERS and called == "exec")
        ]
    return found


def starts_programs(tree: Modules) -> set[str]:
    """Return the modules that start programs themselves."""
    tops = {name.partition(".")[0] for name in STARTING}
    found = set()
    for name, text in tree.items():
        used = read(text).used | {
            f"{module}.{one}"
            for _, module, names in read(text).imports
            if module.partition(".")[0] in tops
            for one in names
        }
        if used & STARTING:
            found.add(name)
    return found


def nameless(tree: Modules) -> list[str]:
    """Return the modules whose name says nothing of what they hold."""
    return [name for name in tree if name.rpartition(".")[2].strip("_") in EMPTY_NAMES]


def literals(tree: Modules) -> set[str]:
    """Return every string that the sources spell, outside the table of codes."""
    return {
        value
        for name, text in tree.items()
        if name != "policy.diagnostics.codes"
        for value in read(text).texts
    }


def diagnosed(tree: Modules) -> set[str]:
    """Return the codes that the sources give to `diagnose` by name."""
    return {code for text in tree.values() for code in read(text).diagnosed}


def distributions(tree: Modules) -> set[str]:
    """Return the distributions that the sources import, by their normalised names."""
    known = packages_distributions()
    tops = {m.split(".")[0] for text in tree.values() for _, m, _ in read(text).imports}
    outside = tops - sys.stdlib_module_names - {"policy"}
    return {known.get(top, [top])[0].lower().replace("_", "-") for top in outside}


def declared() -> tuple[set[str], set[str]]:
    """Return the distributions that pyproject.toml needs always, and those of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [name for names in project["optional-dependencies"].values() for name in names]
    core, more = (
        {re.split(r"[^A-Za-z0-9._-]", name)[0] for name in names}
        for names in (project["dependencies"], extras)
    )
    return core, more - {project["name"]}


def page_faults(code: str, text: str) -> list[str]:
    """Return what a code's page lacks: its title, what it means, what is wrong, what is right."""
    wanted = {
        "its code as the title": rf"\A# {re.escape(code)}\n",
        "a paragraph that says what it means": r"\A# .*\n\n[A-Z`][^\n]{30,}",
        "an example after `Wrong:`": r"^Wrong(, in `[^`\n]+`)?:\n\n(```|    \S)",
        "what to write, after `Right:`": r"^Right(, in `[^`\n]+`)?:\n\n(```|    \S)",
    }
    return [name for name, shape in wanted.items() if not re.search(shape, text, re.MULTILINE)]


# --- the checks hold -----------------------------------------------------------------------------


def test_packages_are_entered_by_their_front_door() -> None:
    assert back_doors(modules()) == []


def test_tests_enter_packages_by_their_front_door() -> None:
    """A unit test may use the modules of its own package; the list of the others only shrinks."""
    found = back_doors(modules(), modules("tests"))
    assert {one.partition(":")[0] for one in found} == REACH_INSIDE, "\n".join(found)


def test_imports_of_modules_point_one_way() -> None:
    assert circle(modules()) == []


def test_the_core_calls_no_builtin_that_does_io() -> None:
    assert impure_builtins(modules()) == []


def test_programs_are_started_by_the_launcher() -> None:
    assert starts_programs(modules()) == STARTERS


def test_every_package_says_what_it_exports() -> None:
    tree = modules()
    assert [
        name for name in sorted(packages(tree)) if not read(tree.get(f"policy.{name}", "")).exports
    ] == []


def test_modules_are_named_by_what_they_hold() -> None:
    assert nameless(modules()) == []


def test_every_code_is_used() -> None:
    assert sorted(set(CODES) - literals(modules())) == []


def test_every_diagnosed_code_stands_in_the_table() -> None:
    assert sorted(diagnosed(modules()) - set(CODES)) == []


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "checks").glob("*.md")}
    assert sorted(pages - set(CODES)) == []
    assert sorted(set(CODES) - pages) == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "checks").glob("*.md")), ids=lambda p: p.stem
)
def test_a_page_explains_its_code(path: Path) -> None:
    assert page_faults(path.stem, path.read_text(encoding="utf-8")) == []


def test_every_code_is_shown_by_a_test() -> None:
    tests = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "tests").rglob("*")
        if path.suffix in {".py", ".md"} and path != Path(__file__).resolve()
    )
    words = set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", tests))
    assert sorted(set(CODES) - words) == []


def test_codes_read_as_kebab_case_and_titles_as_a_phrase() -> None:
    for code, entry in CODES.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
        assert not entry.title.endswith(".")
        assert page(code) == f"docs/checks/{code}.md"


def test_what_is_imported_is_declared() -> None:
    core, extras = declared()
    assert sorted(distributions(modules()) - core - extras) == []


def test_what_is_declared_is_pinned() -> None:
    core, extras = declared()
    lines = (ROOT / "requirements" / "core.in").read_text("utf-8").splitlines()
    wanted = (line.partition(";")[0].strip() for line in lines if not line.startswith("#"))
    assert {name for name in wanted if name} == core | extras


# --- and they can fail ---------------------------------------------------------------------------

CHECKS = {
    "policy": "",
    "policy.model": "from policy.model.source import Span\n__all__ = ['Span']\n",
    "policy.model.source": "",
    "policy.checks": "from policy.checks.checker import check\n__all__ = ['check']\n",
    "policy.checks.checker": "from policy.checks.kinds import K\nfrom policy.model import Span\n",
    "policy.checks.kinds": "",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from policy.checks import check\n", []),
        ("import policy.checks\n", []),
        ("from policy.model import Span\n", []),
        ("from lark import Lark\n", []),
        (
            "from policy.checks.kinds import K\n",
            ["policy.layers.merger:1: import from policy.checks, not from policy.checks.kinds"],
        ),
        (
            "def f():\n    import policy.checks.kinds\n",
            ["policy.layers.merger:2: import from policy.checks, not from policy.checks.kinds"],
        ),
        (
            "from policy.checks import kinds, check\n",
            ["policy.layers.merger:1: policy.checks exports no kinds"],
        ),
    ],
)
def test_a_back_door_is_found(text: str, expected: list[str]) -> None:
    assert back_doors({**CHECKS, "policy.layers": "", "policy.layers.merger": text}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "from policy.checks.checker import check\n",
        "def f():\n    from policy.checks import checker\n",
        "if TYPE_CHECKING:\n    import policy.checks.checker\n",
    ],
)
def test_modules_that_import_each_other_are_found(text: str) -> None:
    assert circle(CHECKS) == []
    found = circle({**CHECKS, "policy.checks.kinds": text})
    assert set(found) == {"policy.checks.checker", "policy.checks.kinds"}


def test_a_unit_test_uses_the_modules_of_its_own_package_alone() -> None:
    text = "from policy.checks.kinds import K\n"
    assert back_doors(CHECKS, {"tests.unit.checks.test_kinds": text}) == []
    (found,) = back_doors(CHECKS, {"tests.unit.layers.test_merger": text})
    assert found.startswith("tests.unit.layers.test_merger:1: ")
    assert len(back_doors(CHECKS, {"tests.unit.test_kinds": text})) == 1


@pytest.mark.parametrize(
    ("module", "found"),
    [
        ("policy.values.path", 1),
        ("policy.model.call", 1),
        ("policy.verify.run", 1),
        ("policy.cli.run", 0),
    ],
)
def test_a_read_in_the_core_is_found(module: str, found: int) -> None:
    assert len(impure_builtins({module: "text = open('x').read()\n"})) == found
    assert impure_builtins({module: "text = file.open()\n"}) == []


def test_a_module_for_everything_is_found() -> None:
    assert nameless({"policy.checks.utils": "", "policy._helpers": "", "policy.call": ""}) == [
        "policy.checks.utils",
        "policy._helpers",
    ]


def test_codes_are_found_where_they_are_used_and_not_in_their_table() -> None:
    tree = {"policy.diagnostics.codes": "X = 'a-code'\n", "policy.x.y": "diagnose('b-code', m)\n"}
    assert literals(tree) == {"b-code"}
    assert diagnosed(tree) == {"b-code"}


def test_an_undeclared_import_is_found() -> None:
    tree = {
        "policy.a": "import re2, os\nfrom lark.exceptions import X\n",
        "policy.b": "import zzz\n",
    }
    assert distributions(tree) == {"google-re2", "lark", "zzz"}


def test_a_page_that_explains_nothing_is_found() -> None:
    good = (
        "# a-code\n\nWhat it means, in a sentence or two.\n\nWrong:\n\n    x\n\nRight:\n\n    y\n"
    )
    assert page_faults("a-code", good) == []
    assert len(page_faults("b-code", good)) == 1
    assert len(page_faults("a-code", good.replace("Wrong:", ""))) == 1
    assert len(page_faults("a-code", "")) == 4


def layers_shown(text: str) -> list[str]:
    """Return the packages of the page's list of layers, the highest first."""
    (block,) = re.findall(r"^```\n(cli\n.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line.strip() for line in block.splitlines()]


def test_the_page_shows_the_import_contract_as_it_is() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    held = [re.sub(r"[()]", "", layer) for layer in contract["layers"]]
    assert layers_shown(ARCHITECTURE) == held


@pytest.mark.parametrize(("where", "ending"), [("policy", "/"), ("policy/service", "")])
def test_the_page_names_every_part(where: str, ending: str) -> None:
    parts = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in (ROOT / where).iterdir()
        if not path.name.startswith(("_", ".")) and path.suffix in {"", ".py"}
    }
    assert {part for part in parts if part.endswith(ending) and part not in ARCHITECTURE} == set()


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\nsubprocess.run(['x'])\n",
        "import subprocess as s\ndef f():\n    return s.Popen(['x'])\n",
        "from subprocess import check_output\n",
        "import asyncio\nasync def f(): await asyncio.create_subprocess_exec('x')\n",
        "def f():\n    import os\n    os.execvp('x', ['x'])\n",
    ],
)
def test_a_program_that_is_started_elsewhere_is_found(text: str) -> None:
    assert starts_programs({"policy.tools.own": text}) == {"policy.tools.own"}
    assert starts_programs({"policy.tools.own": "import os\nos.path.join('a')\n"}) == set()

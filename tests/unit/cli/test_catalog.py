"""`placet catalog export` from a Python program: what it writes, `--catalog` reads."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.unit.cli.running import run

SHOP = '''\
from typing import Annotated

from pydantic import BaseModel

from policy.catalog import Reads, Writes
from policy.tools import Traits, tool

print("this must not be part of the list")


@tool(traits=Traits(category="money", requires_confirmation=True))
def refund(customer: str, amount: int) -> str:
    """Pay a customer back."""
    return customer


@tool(traits=Traits(complete=True, read_only=True))
def look(path: Annotated[str, Reads(tree_field="deep")], deep: bool = False) -> str:
    """Look at a folder."""
    return path


class Args(BaseModel):
    path: Annotated[str, Writes(tree=True)]


class Remove:
    NAME = "remove"
    DESCRIPTION = "Remove a folder."
    Args = Args

    def call(self, args):
        return None


class Desk:
    tool = refund


tools = [refund, look, Remove()]
twice = [refund, refund]
empty = []
number = 7
'''
RULES = """\
policy for every agent
default deny
refund: allow refund when input.amount <= 100
look: allow look when reads only workspace
no-work: deny look when reads "/srv/work/secret/**"
test "tools"
  given workspace = "/srv/work"
  look {path: "a"} -> allow
  look {path: "/srv/work", deep: true} -> deny by no-work
  look {path: "/etc"} -> deny
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module `shop_of_test`, as the current one."""
    (tmp_path / "shop_of_test.py").write_text(SHOP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "shop_of_test", raising=False)
    return tmp_path


def test_a_programs_tools_become_a_list_that_commands_read(shop: Path) -> None:
    ran = run("catalog", "export", "shop_of_test:tools")
    assert ran.code == 0 and "this must not be" in ran.err
    tools = json.loads(ran.out)["tools"]
    assert [tool["name"] for tool in tools] == ["look", "refund", "remove"]
    assert tools[0]["resources"] == {
        "reads": [{"path": "path", "tree_field": "deep"}],
        "complete": True,
    }
    assert tools[1]["requires_confirmation"] is True and tools[1]["category"] == "money"
    (shop / "tools.json").write_text(ran.out)
    (shop / "rules").mkdir()
    (shop / "rules" / "global.policy").write_text(RULES)
    checked = run("check", "rules", "--catalog", "tools.json")
    assert (checked.code, checked.out) == (0, "fine: 1 policy file, 3 test cases passed\n")
    wrong = RULES.replace("amount", "amont")
    (shop / "rules" / "global.policy").write_text(wrong)
    assert (
        "`refund` has no field `input.amont`"
        in run("check", "rules", "--catalog", "tools.json").out
    )


def test_a_list_that_was_exported_agrees_with_the_tools_it_is_from(shop: Path) -> None:
    from policy import PolicyStore, build_tool_service

    rules = shop / "rules"
    rules.mkdir()
    (rules / "global.policy").write_text(RULES)
    (rules / "placet.toml").write_text('[catalogue]\nfiles = ["tools.json"]\n')
    ran = run("catalog", "export", "shop_of_test:tools", "--output", "rules/tools.json")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.endswith("placet: 3 tools in rules/tools.json\n")
    assert sorted(path.name for path in rules.iterdir()) == [
        "global.policy",
        "placet.toml",
        "tools.json",
    ]
    tools = sys.modules["shop_of_test"].tools
    (shop / "work").mkdir()
    service = build_tool_service(PolicyStore(rules), tools=tools, workspace=shop / "work")
    assert [tool.name for tool in service.list()] == ["look", "refund"]


@pytest.mark.parametrize("target", ["shop_of_test:refund", "shop_of_test:Desk.tool"])
def test_an_object_may_be_one_tool(target: str, shop: Path) -> None:
    (tool,) = json.loads(run("catalog", "export", target).out)["tools"]
    assert tool["name"] == "refund"


MODULES = {
    "broken_of_test": "def broken(\n",
    "needs_of_test": "import a_package_that_is_not_there\n",
    "raises_of_test": 'def f():\n    raise ValueError("no \\x1b[31m way")\n\n\nf()\n',
    "exits_of_test": "import sys\n\nsys.exit(3)\n",
}


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("shop_of_test", "`shop_of_test` does not name tools: write MODULE:OBJECT"),
        ("shop_of_test.py:tools", "names a file: write the module as in an `import`"),
        ("./shop_of_test:tools", "names a file: write the module as in an `import`"),
        ("shop_of_test:refunds", "has no `refunds`; did you mean `refund`?"),
        ("shop_of_test:elsewhere", "has no `elsewhere`; it has the tools `refund`, `look`"),
        ("shop_of_test:number", "is no tool: an object of type `int` is not a tool"),
        ("shop_of_test:Remove", "is no tool: `Remove` is a class: pass an object of it"),
        ("shop_of_test:empty", "`shop_of_test:empty` is empty: it has no tools"),
        (
            "shop_of_test:twice",
            "two tools are called `refund`: shop_of_test:refund and shop_of_test:refund",
        ),
        ("nowhere_of_test:x", "there is no module `nowhere_of_test` (modules are searched for"),
        ("nowhere.of_test:x", "there is no module `nowhere` (modules are searched for"),
        ("broken_of_test:x", "cannot be imported: SyntaxError: '(' was never closed"),
        ("needs_of_test:x", "cannot be imported: it needs `a_package_that_is_not_there`"),
        ("raises_of_test:x", "cannot be imported: ValueError: no \\u{1b}[31m way ("),
        ("raises_of_test:x", "raises_of_test.py:2)"),
        ("exits_of_test:x", "cannot be imported: SystemExit: 3"),
    ],
)
def test_what_names_no_tools_ends_in_one_line(target: str, said: str, shop: Path) -> None:
    for name, text in MODULES.items():
        (shop / f"{name}.py").write_text(text)
    for command in (("catalog", "export", target), ("serve", ".", "--tools", target)):
        ran = run(*command)
        assert (ran.code, ran.out) == (2, "")
        *printed, line = ran.err.splitlines()
        assert line.startswith("placet: ") and said in line
        assert set(printed) <= {"this must not be part of the list"}


def test_no_module_of_the_current_folder_hides_an_installed_one(shop: Path) -> None:
    (shop / "click.py").write_text("tools = 1\n")
    assert "has no `tools`" in run("catalog", "export", "click:tools").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name the tools: MODULE:OBJECT, or --server NAME"),
        (["--url", "http://localhost", "x:y"], "need --server NAME"),
        (["--server", "x"], "--server needs a command after `--`, or --url, and not both"),
        (["--server", "x", "--url", "http://localhost", "true"], "and not both"),
        (["--server", "a__b", "true"], "a server cannot be called so: `a__b` contains `__`"),
        (["--server", "x", "--env", "NOT_THERE", "true"], "no environment variable NOT_THERE"),
    ],
)
def test_wrong_usage_ends_in_one_line(arguments: list[str], said: str, shop: Path) -> None:
    ran = run("catalog", "export", *arguments)
    assert ran.code == 2 and said in ran.err and ran.err.count("\n") == 1


def test_own_tools_may_not_take_the_name_of_a_built_in_one(shop: Path) -> None:
    function = "def file_read(path: str) -> str:\n    return path\n"
    (shop / "reader_of_test.py").write_text(f"from policy.tools import tool\n\n@tool\n{function}")
    ran = run("serve", ".", "--tools", "reader_of_test:file_read")
    assert ran.code == 2
    assert "two tools are called `file_read`: Placet itself and reader_of_test:file_read" in ran.err

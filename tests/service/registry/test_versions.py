"""Several versions of one tool, through the service: their names, and which rules apply to them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from policy import Caller, GuestScope, PolicyStore, build_tool_service
from policy.approvals import Approved, ScriptedApprover
from policy.catalog import CatalogError
from policy.model import ToolError
from policy.service import Allow, Classification, Deny, Rewrite, ToolFilter
from tests.fakes import CountingHandler
from tests.service.registry.stage import Governed, versioned

BOTH = (versioned("translate", 1), versioned("translate", 2))
DENIED = "permission-denied/denied-by-policy"
NOT_ALLOWED = "permission-denied/not-allowed"


async def test_the_newest_version_answers_to_the_shared_name(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow translate\n", *BOTH)
    assert await g.call("translate") == 2
    assert await g.call("translate@1") == 1
    assert await g.call("translate@2") == 2
    assert [(r.asked_tool, r.tool) for r in g.records] == [
        ("translate", "translate@2"),
        ("translate@1", "translate@1"),
        ("translate@2", "translate@2"),
    ]


async def test_the_highest_number_is_the_newest_whenever_it_was_registered(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow translate\n", versioned("translate", 10))
    g.register(versioned("translate", 9))
    assert await g.call("translate") == 10
    assert await g.call("translate@9") == 9


@pytest.mark.parametrize(
    ("rules", "old", "new"),
    [
        ("allow translate\n", 1, 2),
        ('allow "translate@1"\n', 1, NOT_ALLOWED),
        ('allow "tr*"\n', 1, 2),
        ('allow "*@2"\n', NOT_ALLOWED, 2),
        ("allow *\ndeny translate\n", DENIED, DENIED),
        ('allow *\ndeny "translate@1"\n', DENIED, 2),
        ('allow *\ndeny "translate@*"\n', DENIED, DENIED),
        ('allow translate except "translate@2"\n', 1, NOT_ALLOWED),
        ('allow *\ndeny * when tool.name == "translate"\n', DENIED, DENIED),
        ("default allow for translate\n", 1, 2),
        ('default allow for "translate@2"\n', NOT_ALLOWED, 2),
        ('tools old = "translate@1"\nallow translate\ndeny old\n', DENIED, 2),
    ],
)
async def test_a_rule_means_all_versions_unless_it_names_one(
    rules: str, old: Any, new: Any, tmp_path: Path
) -> None:
    g = Governed(tmp_path, rules, *BOTH)
    assert (await g.call("translate@1"), await g.call("translate@2")) == (old, new)
    assert await g.call("translate") == new


async def test_a_version_that_comes_later_is_bound_by_the_rules_for_all(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow *\ndeny translate when input.x == 1\n", *BOTH)
    g.register(versioned("translate", 3))
    assert await g.call("translate", x=1) == DENIED
    assert await g.call("translate", x=2) == 3


async def test_taking_the_newest_away_gives_its_name_to_the_one_before(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow translate\n", *BOTH)
    newest = g.service.registry.snapshot()["translate@2"]
    assert newest.dispose() is newest.handler
    assert await g.call("translate") == 1
    assert await g.call("Translate") == 1
    assert await g.call("translate@2") == "not-found/not-found"
    described = g.service.describe("translate")
    assert described is not None and described.version == 1
    assert g.service.describe("translate@2") is None


def folder_of(place: Path, config: str, rules: str, **files: str) -> PolicyStore:
    """Return the store of a policy folder."""
    place.mkdir()
    (place / "placet.toml").write_text(config)
    (place / "a.policy").write_text(f"policy for every agent\ndefault deny\n{rules}")
    for name, text in files.items():
        (place / f"{name}.json").write_text(text)
    return PolicyStore(place)


async def test_what_only_the_policy_knows_is_never_the_newest(tmp_path: Path) -> None:
    listing = [{"name": "translate", "version": 7}, {"name": "translate@8"}]
    store = folder_of(
        tmp_path / "rules",
        '[catalogue]\nfiles = ["tools.json"]\n',
        'allow translate\ndeny "translate@8"\n',
        tools=json.dumps(listing),
    )
    service = build_tool_service(store, tools=BOTH, workspace=tmp_path)
    assert store.current is not None, store.status.diagnostics
    known = store.current.program.catalog.get("translate")
    assert known is not None and known.name == "translate@8"
    assert (await service.execute("translate", {})).metadata.tool == "translate@2"
    assert [tool.name for tool in service.list()] == ["translate"]


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        (versioned("a", 1), CountingHandler("a"), "needs a version"),
        (CountingHandler("a"), versioned("a", 1), "without a version"),
        (versioned("a", 1), versioned("a", 1), "registered already"),
    ],
)
async def test_a_tool_without_a_version_cannot_stand_beside_its_versions(
    first: Any, second: Any, problem: str, tmp_path: Path
) -> None:
    g = Governed(tmp_path, "allow a\n", first)
    with pytest.raises(ToolError, match=problem):
        g.register(second)
    assert len(g.service.registry.list()) == 1


async def test_a_tool_may_become_one_with_versions_and_back(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow translate\n", CountingHandler("translate"))
    g.service.unregister("translate")
    entries = [g.register(each) for each in BOTH]
    assert await g.call("translate") == 2
    for entry in entries:
        entry.dispose()
    g.register(CountingHandler("translate"))
    assert await g.call("translate", x=1) == {"x": 1}


@pytest.mark.parametrize("version", [0, -1])
async def test_a_version_is_a_number_from_one_on(version: int, tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow *\n")
    with pytest.raises(CatalogError):
        g.register(versioned("a", version))
    with pytest.raises(CatalogError, match="declared beside the name"):
        g.register(CountingHandler("a@1"))
    assert g.service.registry.list() == ()


async def test_the_newest_is_listed_and_the_others_are_told_on_request(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow *\n", *BOTH, CountingHandler("other"))
    assert g.shown() == ["other", "translate"]
    assert [d.name for d in g.service.versions("translate")] == ["translate@2", "translate@1"]
    assert [d.name for d in g.service.versions("other")] == ["other"]
    by_name = {name: g.service.describe(name) for name in ("translate", "translate@1")}
    assert {n: d and (d.name, d.version) for n, d in by_name.items()} == {
        "translate": ("translate", 2),
        "translate@1": ("translate@1", 1),
    }
    g.say('allow *\ndeny "translate@1"\n')
    assert g.service.describe("translate@1") is None
    assert [d.name for d in g.service.versions("translate")] == ["translate@2"]


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ("Translate", 2),
        ("translate ", 2),
        ("TRANSLATE@1", 1),
        ("Translate@2", 2),
        ("translat", 2),
        ("translate@3", "not-found/not-found"),
    ],
)
async def test_names_are_mended_to_a_version(asked: str, got: Any, tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow translate\n", *BOTH)
    assert await g.call(asked) == got
    assert bool(g.records[0].repairs) is (got in (1, 2))


async def test_who_mistypes_a_name_is_pointed_to_a_version(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow translate\n", *BOTH)
    with pytest.raises(ToolError, match="did you mean `translate"):
        await g.service.execute("transalted", {})


async def test_an_approval_is_for_one_version(tmp_path: Path) -> None:
    approver = ScriptedApprover(Approved(by="ada"), Approved(by="ada"))
    rules = "allow translate with approval\n"
    g = Governed(tmp_path, rules, versioned("translate", 1), approver=approver)
    assert await g.call("translate") == 1
    g.register(versioned("translate", 2))
    assert await g.call("translate") == 2
    assert [request.tool for request in approver.requests] == ["translate@1", "translate@2"]
    assert len({request.digest for request in approver.requests}) == 2


class Naming:
    """A filter and a rule that go by one name."""

    def __init__(self, name: str, *, knows_versions: bool = False) -> None:
        self.name = name
        self.knows_versions = knows_versions

    def classify(self, name: str, input: Any) -> Classification:
        return Deny("not this one") if name == self.name else Allow()

    def evaluate(self, name: str, input: Any, ctx: Any) -> Any:
        return Deny("not this one") if name == self.name else Rewrite({**input, "seen": True})


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("translate", False, False), ("translate@1", False, True), ("other", True, True)],
)
async def test_filters_and_rules_speak_of_all_versions_by_the_shared_name(
    name: str, old: bool, new: bool, tmp_path: Path
) -> None:
    g = Governed(tmp_path, "allow translate\n", *BOTH)
    for guard in (g.service.set_smart_filter, lambda it: g.service.set_rules([it])):
        guard(Naming(name))
        assert (await g.call("translate@1") == 1) is old
        assert (await g.call("translate@2") == 2) is new
        g.service.set_smart_filter(None)


async def test_a_filter_that_knows_versions_is_asked_by_the_full_name_alone(
    tmp_path: Path,
) -> None:
    g = Governed(tmp_path, "allow translate\n", *BOTH)
    g.service.set_smart_filter(Naming("translate", knows_versions=True))
    assert await g.call("translate") == 2


@pytest.mark.parametrize(
    ("allowed", "old", "new"),
    [(["translate"], 1, 2), (["translate@1"], 1, DENIED), (["tr*"], 1, 2), (["*@2"], DENIED, 2)],
)
async def test_a_list_of_allowed_tools_means_all_versions_unless_it_names_one(
    allowed: list[str], old: Any, new: Any, tmp_path: Path
) -> None:
    g = Governed(tmp_path, "allow translate\n", *BOTH)
    g.service.set_smart_filter(ToolFilter(allowed=allowed))
    assert (await g.call("translate@1"), await g.call("translate@2")) == (old, new)


@pytest.mark.parametrize(
    ("rules", "needless"),
    [
        ('allow translate\nallow "translate@1"\n', [4]),
        ('allow "translate@1"\nallow "translate@2"\nallow translate\n', [3, 4]),
        ('allow "translate@1"\nallow translate when input.x == 1\n', []),
        ('allow translate\nallow "translate@2" when input.x == 1\n', [4]),
    ],
)
def test_an_allow_of_some_versions_makes_none_of_all_needless(
    rules: str, needless: list[int], tmp_path: Path
) -> None:
    g = Governed(tmp_path, rules, *BOTH)
    found = g.store.status.diagnostics
    said = [one.span.line for one in found if one.code == "redundant-allow" and one.span]
    assert said == needless


@pytest.mark.parametrize(
    ("allowed", "old", "new"),
    [
        (("translate",), 1, 2),
        (("trans*",), 1, 2),
        (("translate@1",), 1, "permission-denied/outside-scope"),
        (("other",), "permission-denied/outside-scope", "permission-denied/outside-scope"),
    ],
)
async def test_a_guests_scope_means_all_versions_unless_it_names_one(
    allowed: tuple[str, ...], old: Any, new: Any, tmp_path: Path
) -> None:
    guest = Caller(role="guest", scope=GuestScope(allowed_tools=allowed))
    g = Governed(tmp_path, "allow translate\n", *BOTH)
    assert await g.call("translate@1", guest) == old
    assert await g.call("translate", guest) == new
    assert (g.service.bound_to(guest).describe("translate") is None) is (new != 2)


async def test_the_configuration_speaks_of_one_version_or_of_all(tmp_path: Path) -> None:
    store = folder_of(
        tmp_path / "rules",
        '[tools."translate@1"]\nrequires_confirmation = true\n'
        '[permissions.tools]\ntranslate = "allow"\n',
        "",
    )
    approver = ScriptedApprover(Approved(by="ada"))
    service = build_tool_service(store, tools=BOTH, workspace=tmp_path, approver=approver)
    assert store.current is not None and not store.status.diagnostics, store.status.diagnostics
    assert (await service.execute("translate", {})).value == 2
    assert approver.requests == []
    assert (await service.execute("translate@1", {})).value == 1
    assert [request.tool for request in approver.requests] == ["translate@1"]


@pytest.mark.parametrize(
    ("named", "ends"), [("translate", True), ("translate@1", True), ("translate@2", False)]
)
async def test_a_limit_of_time_is_for_one_version_or_for_all(
    named: str, ends: bool, tmp_path: Path
) -> None:
    free = asyncio.Event()

    async def body(input: dict[str, Any], ctx: Any) -> Any:
        await free.wait()

    slow = CountingHandler("translate", body, version=1)
    g = Governed(tmp_path, "allow translate\n", slow, timeouts={named: 0.02})
    call = asyncio.create_task(g.call("translate"))
    if not ends:
        free.set()
    assert await call == ("timeout/timeout" if ends else None)

"""One's own tools beside lists of tools: the tool's own definition counts, never in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest

from policy import PolicyInvalid, PolicyStore, ToolSpec, build_tool_service
from policy.catalog import CatalogError, Origin, Reads, builtin_catalog, read_listing
from policy.model import ToolError
from policy.service import GovernedService
from policy.tools import Traits, tool
from tests.collecting import collecting
from tests.unit.cli.running import run

HEADER = "policy for every agent\ndefault deny\n"
RULES = HEADER + "refund: allow refund when input.amount <= 100\n"


@tool
def refund(customer: str, amount: int, note: str | None = None) -> str:
    """Pay a customer back."""
    return f"{customer} has got {amount} back"


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "customer": {"type": "string"},
        "amount": {"type": "integer"},
        "note": {"type": "string"},
    },
    "required": ["customer", "amount"],
}


def listing(change: Callable[[dict[str, Any]], object] = lambda entry: None) -> str:
    entry = json.loads(json.dumps({"name": "refund", "inputSchema": SCHEMA}))
    change(entry)
    return json.dumps({"tools": [entry]})


def store_of(folder: Path, rules: str = RULES, tools: str | None = None) -> PolicyStore:
    rules_of = folder / "rules"
    rules_of.mkdir()
    (rules_of / "global.policy").write_text(rules)
    if tools is not None:
        (rules_of / "tools.json").write_text(tools)
        (rules_of / "placet.toml").write_text('[catalogue]\nfiles = ["tools.json"]\n')
    return PolicyStore(rules_of, settle=0)


def service_of(store: PolicyStore, folder: Path, *tools: Any) -> GovernedService:
    (folder / "work").mkdir(exist_ok=True)
    return build_tool_service(store, tools=tools, workspace=folder / "work")


def properties(entry: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = entry["inputSchema"]["properties"]
    return found


# What a list may leave out, or word otherwise.
HARMLESS: dict[str, Callable[[dict[str, Any]], object]] = {
    "as it is": lambda entry: None,
    "closed": lambda entry: entry["inputSchema"].update(additionalProperties=False),
    "open": lambda entry: entry["inputSchema"].update(additionalProperties=True),
    "described": lambda entry: properties(entry)["amount"].update(description="In euros."),
    "titled": lambda entry: entry["inputSchema"].update(title="Refund", examples=[{"amount": 1}]),
    "in another order": lambda entry: entry["inputSchema"].update(required=["amount", "customer"]),
    "as pydantic writes it": lambda entry: properties(entry).update(
        note={"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    ),
    "by reference": lambda entry: entry["inputSchema"].update(
        {
            "$defs": {"Amount": {"type": "integer"}},
            "properties": {**SCHEMA["properties"], "amount": {"$ref": "#/$defs/Amount"}},
        }
    ),
    "with a pattern": lambda entry: properties(entry)["customer"].update(pattern="^[a-z]+$"),
}


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
async def test_a_list_that_says_less_or_in_other_words_changes_nothing(
    change: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    service = service_of(store_of(tmp_path, tools=listing(change)), tmp_path, refund)
    output = await service.execute("refund", {"customer": "ada", "amount": 20})
    assert output.value == "ada has got 20 back"


# What a list says that the tool does not do, and how the error words it.
CONTRADICTIONS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "type": (
        lambda entry: properties(entry)["amount"].update(type="string"),
        "the type of `amount` is string in the list, integer in the tool",
    ),
    "missing argument": (
        lambda entry: properties(entry).pop("note"),
        "the list lacks `note`",
    ),
    "unknown argument": (
        lambda entry: properties(entry).update(currency={"type": "string"}),
        "the tool has no `currency`",
    ),
    "optional": (
        lambda entry: entry["inputSchema"].update(required=["customer"]),
        "`amount` is required by the tool, and optional in the list",
    ),
    "required": (
        lambda entry: entry["inputSchema"]["required"].append("note"),
        "`note` is required only in the list",
    ),
    "bound": (
        lambda entry: properties(entry)["amount"].update(maximum=100),
        "`amount` has `maximum` 100 in the list, which the tool has not",
    ),
    "values": (
        lambda entry: properties(entry)["customer"].update(enum=["ada"]),
        "`customer` takes other values in the list",
    ),
    "fact": (
        lambda entry: entry.update(annotations={"readOnlyHint": True}),
        "`read_only` is true in the list, false in the tool",
    ),
    "resources": (
        lambda entry: entry.update(resources={"writes": ["note"]}),
        "the list does not say that the tool reads `customer`",
    ),
}


@pytest.mark.parametrize(("change", "said"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
async def test_a_list_that_contradicts_a_tool_is_an_error_that_names_both_places(
    change: Callable[[dict[str, Any]], object], said: str, tmp_path: Path
) -> None:
    @tool(name="refund", traits=Traits(read_only=False))
    def of_this_test(customer: Annotated[str, Reads()], amount: int, note: str = "") -> None: ...

    store = store_of(tmp_path, HEADER + "refund: allow refund\n", listing(change))
    before = store.current
    with pytest.raises(PolicyInvalid) as caught:
        service_of(store, tmp_path, of_this_test)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span is not None and found.span.file) == (
        "bad-catalogue",
        "placet.toml",
    )
    assert "`tools.json` lists `refund`" in found.message
    assert "of_this_test defines it" in found.message
    assert found.message.endswith(said)
    # The tool is not registered, so nothing has changed.
    assert store.current is before is not None and not store.status.stale
    assert store.catalog.get("refund") is None


async def test_a_list_adds_to_what_policies_know_of_a_tool(tmp_path: Path) -> None:
    def reviewed(entry: dict[str, Any]) -> None:
        entry["category"] = "money"
        entry["annotations"] = {"destructiveHint": True}
        entry["resources"] = {"sends": ["customer"]}
        entry["requires_confirmation"] = True

    rules = HEADER + 'refund: allow refund when tool.category == "money" and tool.destructive\n'
    store = store_of(tmp_path, rules + 'no: deny * when sends to "eve@example.com"\n')
    (tmp_path / "rules" / "tools.json").write_text(listing(reviewed))
    (tmp_path / "rules" / "placet.toml").write_text('[catalogue]\nfiles = ["tools.json"]\n')
    service = service_of(store, tmp_path, refund)
    (shown,) = service.list()
    assert shown.may_ask
    for customer, code in (
        ("ada@example.com", "no-approver"),
        ("eve@example.com", "denied-by-policy"),
    ):
        with pytest.raises(ToolError) as caught:
            await service.execute("refund", {"customer": customer, "amount": 1})
        assert caught.value.code == code


async def test_a_list_that_begins_to_contradict_leaves_the_last_good_rules_in_force(
    tmp_path: Path,
) -> None:
    store = store_of(tmp_path, tools=listing())
    service = service_of(store, tmp_path, refund)
    other = listing(CONTRADICTIONS["type"][0])
    (tmp_path / "rules" / "tools.json").write_text(other)
    assert store.reload().status.stale
    assert "`tools.json` lists `refund` otherwise" in str(store.status.because)
    output = await service.execute("refund", {"customer": "ada", "amount": 20})
    assert output.value == "ada has got 20 back"
    (tmp_path / "rules" / "tools.json").write_text(listing())
    assert not store.reload().status.stale


def test_a_list_that_contradicts_a_built_in_tool_is_an_error_where_that_runs(
    tmp_path: Path,
) -> None:
    entry = {"name": "file_read", "inputSchema": {"type": "object", "properties": {"file": {}}}}
    store = store_of(tmp_path, HEADER, json.dumps([entry]))
    # Without a service, the list may stand for a tool of some other program.
    assert run("check", tmp_path / "rules").code == 0
    with pytest.raises(PolicyInvalid, match="otherwise than Placet itself defines it"):
        build_tool_service(store, workspace=tmp_path)


@pytest.mark.parametrize("complete", ["", "[catalogue]\ncomplete = true\n"])
def test_a_tool_with_which_the_policy_is_invalid_is_no_silent_denial(
    complete: str, tmp_path: Path
) -> None:
    store = store_of(tmp_path, HEADER + "refund: allow refund when input.amont <= 100\n")
    (tmp_path / "rules" / "placet.toml").write_text(complete)
    with pytest.raises(PolicyInvalid, match=r"`refund` has no field `input\.amont`") as caught:
        service_of(store, tmp_path, refund)
    assert caught.value.sources


async def test_a_tool_that_a_running_service_cannot_have_changes_nothing(tmp_path: Path) -> None:
    rules = RULES + "pay: allow pay when input.amont <= 100\n"
    store = store_of(tmp_path, rules)
    service = service_of(store, tmp_path, refund)
    heard: list[Any] = []
    store.subscribe(heard.append)

    @tool
    def pay(amount: int) -> None: ...

    generation = store.current
    for register in (service.register, lambda pay: service.registry.register("pay", pay)):
        with pytest.raises(PolicyInvalid):
            register(pay)
        assert store.current is generation and not store.status.stale and not heard
        assert service.registry.list() == ("refund",)
    (tmp_path / "rules" / "global.policy").write_text(rules.replace("amont", "amount"))
    service.register(pay)
    await service.execute("pay", {"amount": 1})


async def test_a_policy_that_was_invalid_before_denies_until_it_is_corrected(
    tmp_path: Path,
) -> None:
    store = store_of(tmp_path, RULES + "broken\n")
    service = service_of(store, tmp_path, refund)
    with pytest.raises(ToolError) as caught:
        await service.execute("refund", {"customer": "ada", "amount": 20})
    assert caught.value.code == "policy-unavailable"
    (tmp_path / "rules" / "global.policy").write_text(RULES)
    store.reload()
    await service.execute("refund", {"customer": "ada", "amount": 20})


async def test_a_tool_of_the_registry_is_known_to_the_policy(tmp_path: Path) -> None:
    service = service_of(store_of(tmp_path), tmp_path)
    entry = service.registry.register("refund", refund)
    with pytest.raises(ToolError) as caught:
        await service.execute("refund", {"customer": "ada", "amount": 200})
    assert caught.value.code == "not-allowed"
    assert (await service.execute("refund", {"customer": "ada", "amount": 20})).value

    @tool(name="refund")
    def in_cents(customer: str, amount: int, cents: int) -> int:
        return cents

    service.registry.replace(entry, in_cents)
    assert (await service.execute("refund", {"customer": "a", "amount": 2, "cents": 3})).value == 3


async def test_two_services_on_one_policy_cannot_run_unlike_tools_of_one_name(
    tmp_path: Path,
) -> None:
    store = store_of(tmp_path)
    first = service_of(store, tmp_path, refund)

    @tool(name="refund")
    def another(customer: str, amount: float) -> None: ...

    with pytest.raises(CatalogError) as caught:
        service_of(store, tmp_path, another)
    assert "another and in" in str(caught.value) and ":refund:" in str(caught.value)
    await first.execute("refund", {"customer": "ada", "amount": 20})
    # A service that is gone, or no longer has the tool, is in nobody's way.
    first.unregister("refund")
    with collecting():
        second = service_of(store, tmp_path, another)
        with pytest.raises(CatalogError):
            first.register(refund)
        del second
    first.register(refund)
    await first.execute("refund", {"customer": "ada", "amount": 20})


def test_two_tools_of_one_name_are_named_with_their_places(tmp_path: Path) -> None:
    @tool(name="refund")
    def another(customer: str) -> None: ...

    store = store_of(tmp_path)
    with pytest.raises(CatalogError, match=r"`refund`: tests\S+:refund and tests\S+another"):
        service_of(store, tmp_path, refund, another)
    service = service_of(store, tmp_path, refund)
    with pytest.raises(ToolError, match=r"`refund` is registered already, from tests\S+:refund"):
        service.register(another)


def test_the_stores_own_catalogue_is_a_list_too(tmp_path: Path) -> None:
    listed = read_listing(json.loads(listing(CONTRADICTIONS["type"][0]))).specs
    (tmp_path / "global.policy").write_text(RULES.replace("<= 100", 'is "100"').replace("is", "=="))
    known = builtin_catalog().with_tools(listed)
    with pytest.raises(CatalogError, match="the catalogue of the policy store: the type of"):
        service_of(PolicyStore(tmp_path, catalog=known), tmp_path, refund)


async def test_a_reviewed_tool_of_a_server_runs_only_as_it_was_reviewed(tmp_path: Path) -> None:
    class Remote:
        spec = ToolSpec(
            name="hub__find", origin=Origin(kind="mcp", server="hub", tool="find"), description="x"
        )
        definition = tool(name="hub__find")(lambda: None).definition

        async def invoke(self, input: dict[str, Any], ctx: Any) -> None: ...

    store = store_of(tmp_path, HEADER + "find: allow hub__find\n")
    (tmp_path / "rules" / "hub.json").write_text(
        json.dumps([{"name": "find", "inputSchema": {"type": "object", "properties": {"q": {}}}}])
    )
    (tmp_path / "rules" / "placet.toml").write_text('[catalogue.servers]\nhub = "hub.json"\n')
    service = service_of(store, tmp_path, Remote())
    with pytest.raises(ToolError) as caught:
        await service.execute("hub__find", {"q": 1})
    assert caught.value.code == "not-reviewed"

"""Tools made of other tools, through the service: every step is a separate call."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from policy import Caller
from policy.approvals import Approved, Denied, ScriptedApprover
from policy.model import Execution, ToolError, Verdict
from policy.service import Argument, ChainHandler, Progress, Result, Step, chain
from policy.tools import ExecutionContext, ToolOutput, ToolOutputMetadata
from tests.fakes import CountingHandler
from tests.service.registry.stage import Governed
from tests.waiting import skip_time


class Page(BaseModel):
    """What is counted."""

    url: str
    unique: bool = False


async def page(input: dict[str, Any], ctx: Any) -> Any:
    metadata = ToolOutputMetadata(tokens_used=3)
    return ToolOutput(value={"status": 200, "body": f"a b a of {input['url']}"}, metadata=metadata)


async def words(input: dict[str, Any], ctx: Any) -> Any:
    found = input["text"].split()
    return {"words": len(set(found) if input["unique"] else found)}


def counting(**more: Any) -> ChainHandler:
    """Return the chain of the page about chains."""
    return chain(
        "count_page",
        "Count the words of a page.",
        args=Page,
        steps=[
            Step("fetch", {"url": Argument("url")}),
            Step("count", {"text": Result("fetch", "body"), "unique": Argument("unique")}),
        ],
        **more,
    )


def governed(folder: Path, rules: str, *more: Any, **options: Any) -> Governed:
    tools = [CountingHandler("fetch", page), CountingHandler("count", words)]
    return Governed(folder, rules, *tools, counting(), *more, **options)


ALL = "allow fetch, count, count_page\n"


async def test_a_chain_gives_what_its_last_step_gives(tmp_path: Path) -> None:
    g = governed(tmp_path, ALL)
    output = await g.service.execute("count_page", {"url": "x"})
    assert output.value == {"words": 5}
    assert output.metadata.tokens_used == 3
    assert output.metadata.tool == "count_page"
    assert await g.call("count_page", url="x", unique=True) == {"words": 4}


async def test_each_step_is_a_recorded_call_that_names_the_one_it_is_made_from(
    tmp_path: Path,
) -> None:
    who = Caller(agent="researcher", session="s1")
    g = governed(tmp_path, ALL, caller=who)
    await g.call("count_page", url="x")
    fetch, count, whole = g.records
    assert [record.tool for record in g.records] == ["fetch", "count", "count_page"]
    assert fetch.parent == count.parent == whole.id
    assert whole.parent is None
    assert {record.caller for record in g.records} == {who}
    assert fetch.final_input == {"url": "x"}


@pytest.mark.parametrize(
    ("rules", "said", "ran"),
    [
        ("allow fetch, count_page\n", "step 2 of 2, `count`: no rule allows this", ["fetch"]),
        ("allow count, count_page\n", "step 1 of 2, `fetch`: no rule allows this", []),
        (
            ALL + 'deny fetch when input.url == "x" because "not that page"\n',
            "step 1 of 2, `fetch`: not that page",
            [],
        ),
    ],
)
async def test_the_first_refusal_ends_the_chain_and_names_the_step(
    rules: str, said: str, ran: list[str], tmp_path: Path
) -> None:
    g = governed(tmp_path, rules)
    with pytest.raises(Execution) as failed:
        await g.service.execute("count_page", {"url": "x"})
    assert failed.value.message == said
    assert [record.tool for record in g.records if record.outcome == "ok"] == ran
    assert g.records[-1].tool == "count_page"
    assert g.records[-2].outcome == "denied"


async def test_rules_can_name_the_chain_itself(tmp_path: Path) -> None:
    g = governed(tmp_path, "allow fetch, count\n")
    assert await g.call("count_page", url="x") == "permission-denied/not-allowed"
    assert [record.verdict for record in g.records] == [Verdict.DENY]
    g.say(ALL + "deny count_page when input.unique\n")
    assert await g.call("count_page", url="x") == {"words": 5}
    assert await g.call("count_page", url="x", unique=True) == "permission-denied/denied-by-policy"


async def test_a_chain_has_no_effects_of_its_own(tmp_path: Path) -> None:
    g = governed(tmp_path, "allow fetch, count\nallow count_page when writes nothing\n")
    assert await g.call("count_page", url="/etc/passwd") == {"words": 5}


async def test_a_step_that_asks_is_asked_about_as_itself(tmp_path: Path) -> None:
    approver = ScriptedApprover(Approved(by="ada"), Denied(by="ada"))
    rules = "allow fetch, count_page\nallow count with approval\n"
    g = governed(tmp_path, rules, approver=approver)
    assert await g.call("count_page", url="x") == {"words": 5}
    assert await g.call("count_page", url="y") == "execution/execution"
    assert [request.tool for request in approver.requests] == ["count", "count"]


async def test_waiting_for_people_uses_up_no_time_of_the_chain(tmp_path: Path) -> None:
    class Slow:
        async def ask(self, request: Any) -> Any:
            skip_time(100)
            await asyncio.sleep(0)
            return Approved(by="ada")

    rules = "allow fetch, count_page\nallow count with approval\n"
    limits = {"fetch": 600.0, "count": 600.0}
    g = governed(tmp_path, rules, approver=Slow(), default_timeout=60, timeouts=limits)
    assert await g.call("count_page", url="x") == {"words": 5}


class Nothing(BaseModel):
    """No arguments."""


def leading(name: str, *tools: str) -> ChainHandler:
    """Return a chain that calls these tools, whatever they take."""
    steps = [Step(tool, name=f"s{number}") for number, tool in enumerate(tools)]
    return chain(name, "Lead on.", steps=steps, args=Nothing)


@pytest.mark.parametrize("tools", [{"a": ["a"]}, {"a": ["b"], "b": ["a"]}, {"a": ["ok", "a", "a"]}])
async def test_a_chain_that_leads_back_to_itself_ends(
    tools: dict[str, list[str]], tmp_path: Path
) -> None:
    chains = [leading(name, *steps) for name, steps in tools.items()]
    g = Governed(tmp_path, "allow *\n", CountingHandler("ok"), *chains)
    with pytest.raises(Execution, match=r"step .*nested calls of tools"):
        await g.service.execute("a", {})
    assert len(g.records) < 50


async def test_any_tool_that_leads_back_to_itself_ends(tmp_path: Path) -> None:
    async def again(input: dict[str, Any], ctx: Any) -> Any:
        return (await ctx.tools.execute("loop", {})).value

    g = Governed(tmp_path, "allow *\n", CountingHandler("loop", again))
    assert await g.call("loop") == "execution/execution"
    assert len(g.records) == 18
    by_id = {record.id: record for record in g.records}
    deepest = g.records[0]
    above = 0
    while deepest.parent is not None:
        deepest, above = by_id[deepest.parent], above + 1
    assert above == 17


async def test_chains_of_chains_have_a_bounded_number_of_steps(tmp_path: Path) -> None:
    wide = leading("wide", *["ok"] * 30)
    wider = leading("wider", *["wide"] * 30)
    ok = CountingHandler("ok")
    g = Governed(tmp_path, "allow *\n", ok, wide, wider)
    with pytest.raises(Execution, match="led to over 256 steps"):
        await g.service.execute("wider", {})
    assert len(ok.inputs) < 256
    assert await g.call("wide") == {}


async def test_inputs_and_outputs_can_be_made_by_functions(tmp_path: Path) -> None:
    def joined(progress: Progress) -> dict[str, Any]:
        return {"text": " ".join(progress.arguments["words"]), "unique": True}

    class Words(BaseModel):
        """Words."""

        words: list[str]

    both = chain(
        "both",
        "Count twice.",
        args=Words,
        steps=[Step("count", joined), Step("count", joined, name="again")],
        output={
            "sum": [Result("count", "words"), Result("again", "words")],
            "of": Argument("words", 0),
        },
    )
    one = chain(
        "one", "Count.", args=Words, steps=[Step("count", joined)], output=Result("count", "words")
    )
    g = Governed(tmp_path, "allow *\n", CountingHandler("count", words), both, one)
    assert await g.call("both", words=["a", "b", "a"]) == {"sum": [2, 2], "of": "a"}
    assert await g.call("one", words=["a"]) == 1
    assert await g.call("both", words=[]) == "execution/execution"
    assert g.records[-1].message == (
        "the output could not be made: the argument `words` has no value at the given path"
    )


async def test_the_output_of_a_chain_is_json(tmp_path: Path) -> None:
    made = {"set": {1}, "far": float("inf"), "thing": object()}
    tools = [
        chain(name, "A.", args=Nothing, steps=[Step("ok")], output=lambda _, v=value: v)
        for name, value in made.items()
    ]
    g = Governed(tmp_path, "allow *\n", CountingHandler("ok"), *tools)
    assert await g.call("set") == [1]
    assert await g.call("far") == await g.call("thing") == "execution/execution"
    assert g.records[-1].message == "the output is not a JSON value"


async def test_a_step_whose_input_cannot_be_made_is_named(tmp_path: Path) -> None:
    def fails(progress: Progress) -> dict[str, Any]:
        raise RuntimeError("secret")

    g = Governed(
        tmp_path,
        "allow *\n",
        CountingHandler("ok"),
        chain("a", "A.", args=Nothing, steps=[Step("ok"), Step("ok", fails, name="next")]),
        chain("b", "B.", args=Nothing, steps=[Step("ok"), Step("ok", {"x": Result("ok", 3)}, "n")]),
    )
    with pytest.raises(Execution) as error:
        await g.service.execute("a", {})
    assert error.value.message == "step 2 of 2, `next` could not be made: failed"
    with pytest.raises(Execution, match="the output of `ok` has no value at the given path"):
        await g.service.execute("b", {})


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([], "needs 1 to 32 steps"),
        ([Step("ok", name=str(n)) for n in range(33)], "needs 1 to 32 steps"),
        ([Step("ok"), Step("ok")], "are called `ok`"),
        ([Step("ok", {"x": Argument("nothing")})], "has no argument `nothing`"),
        ([Step("ok", {"x": [Result("later")]}), Step("later")], "no earlier step .* `later`"),
    ],
)
def test_a_chain_that_cannot_work_is_refused_when_it_is_made(
    steps: list[Step], problem: str
) -> None:
    with pytest.raises(TypeError, match=problem):
        chain("a", "A.", args=Nothing, steps=steps)


async def test_a_chain_outside_of_a_service_says_so(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="only in a service"):
        await counting().invoke({"url": "x"}, ExecutionContext())


async def test_a_chain_is_seen_and_called_like_any_tool(tmp_path: Path) -> None:
    g = governed(tmp_path, "allow fetch, count_page\nask count_page\n")
    shown = g.service.describe("count_page")
    assert shown is not None and shown.may_ask
    assert set(shown.parameters["properties"]) == {"url", "unique"}
    assert await g.call("count_page", url=1) != {"words": 5}

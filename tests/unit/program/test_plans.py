"""The plan of a tool: only the rules that apply to it, compiled on first use."""

from __future__ import annotations

from policy.catalog import ToolSpec
from policy.checks import LayerKey
from policy.evaluation import Floor
from policy.layers import merge
from policy.model import Reason
from policy.program import LayerPlan, Program
from tests.unit.program.compiling import layers, program, tools, verdict


def spec(name: str) -> ToolSpec:
    found = tools().get(name)
    assert found is not None
    return found


def rules(asked: Program, tool: str, *, agent: str = "ann", role: str = "owner") -> list[str]:
    """Return the names of the rules planned for a tool, layer by layer."""
    plan = asked.plan(spec(tool), agent=agent, role=role)
    reasons: list[Reason] = []
    for layer in plan.layers:
        reasons += (rule.reason for rule in (*layer.allows, *layer.restricting))
        reasons += (rewrite.reason for rewrite in layer.rewrites)
        reasons += (rule.reason for rule in layer.shadows)
    return [reason.rule for reason in reasons]


MANY = """default deny
tools files = file_read, file_list
exact: allow file_read
named: deny files when input.path == "/x"
wild: deny file_* when input.path == "/y"
every: deny * when tool.name == "pay"
less: deny * except pay, files
server: allow mcp github/create_*
other: deny pay
look: shadow deny file_read
fix: rewrite file_* set input.path = "/z"
"""


def test_a_plan_holds_the_rules_that_fit_the_tool_and_no_others() -> None:
    asked = program(MANY)
    assert rules(asked, "file_read") == ["exact", "named", "wild", "every", "fix", "look"]
    assert rules(asked, "file_list") == ["named", "wild", "every", "fix"]
    assert rules(asked, "file_write") == ["wild", "every", "less", "fix"]
    assert rules(asked, "pay") == ["every", "other"]
    assert rules(asked, "github__create_issue") == ["server", "every", "less"]
    assert rules(asked, "github__delete_repo") == ["every", "less"]


def test_rules_stand_in_the_order_of_the_text_whatever_kind_their_pattern_is() -> None:
    asked = program(
        "default allow\na: deny file_*\nb: deny file_read\nc: deny *\nd: deny file_read"
    )
    assert rules(asked, "file_read") == ["a", "b", "c", "d"]


def test_a_thousand_rules_for_other_tools_leave_a_plan_alone() -> None:
    others = "\n".join(f"o{i}: deny pay when input.amount == {i}" for i in range(1000))
    asked = program(f"default allow\n{others}\nmine: deny lookup when input.x == 1")
    assert rules(asked, "lookup") == ["mine"]
    assert len(rules(asked, "pay")) == 1000


def test_a_layer_plan_is_made_when_a_call_of_its_tool_first_comes_and_once() -> None:
    asked = program(
        {
            "global.policy": "policy for every agent\ndefault allow\na: deny pay",
            "agents/ann.policy": 'policy for agent "ann"\nb: deny pay when input.amount > 1',
        }
    )
    made: list[tuple[int, str]] = []
    every, ann = (asked.plan(spec("pay"), agent="ann", role="owner").layers[i] for i in (0, 1))

    def recording(index: int, tool: ToolSpec) -> LayerPlan:
        made.append((index, tool.name))
        return (every, ann)[index]

    lazy = Program(
        asked.policy,
        tools(),
        plan_layer=recording,
        floor=Floor(),
        profiles=asked.profiles,
        open_fields=asked.open_fields,
        slots=asked.slots,
    )
    assert made == []
    lazy.plan(spec("pay"), agent="bob", role="owner")
    assert made == [(0, "pay")]
    for agent in ("ann", "bob", "ann"):
        lazy.plan(spec("pay"), agent=agent, role="owner")
    assert made == [(0, "pay"), (1, "pay")]


def test_callers_that_are_bound_alike_share_a_plan() -> None:
    asked = program(
        {
            "global.policy": "policy for every agent\ndefault allow",
            "agents/sub.policy": 'policy for agents "sub-*"\nno: deny pay',
        }
    )
    plans = {id(asked.plan(spec("pay"), agent=f"a{i}", role="owner")) for i in range(5000)}
    subs = {id(asked.plan(spec("pay"), agent=f"sub-{i}", role="owner")) for i in range(5000)}
    assert (len(plans), len(subs), plans & subs) == (1, 1, set())
    # Names of sub-agents come from models: what is remembered of them is bounded.
    remembered = asked._layers_of.cache_info()
    assert remembered.currsize <= (remembered.maxsize or 0) < 10_000


def test_the_global_layer_is_planned_first_and_only_binding_layers_follow() -> None:
    asked = program(
        {
            "global.policy": 'policy for every agent\ndefault deny\ndelegate pay to agent "ann"',
            "a.policy": 'policy for agent "ann"\nx: allow pay',
            "b.policy": 'policy for role "clerk"\ny: deny pay',
        }
    )

    def keys(agent: str, role: str) -> list[LayerKey]:
        return [layer.key for layer in asked.plan(spec("pay"), agent=agent, role=role).layers]

    every, ann = LayerKey(kind="every"), LayerKey(kind="agent", names=("ann",))
    assert keys("ann", "owner") == [every, ann]
    assert keys("bob", "owner") == [every]
    assert keys("ann", "clerk") == [every, ann, LayerKey(kind="role", names=("clerk",))]
    (top, _) = asked.plan(spec("pay"), agent="ann", role="owner").layers
    assert top.delegated_to == (ann,)
    assert top.default is None


def test_a_floor_is_planned_only_where_an_argument_can_write() -> None:
    asked = program("default allow", floor=Floor(files=("/policies/global.policy",)))

    def has_floor(tool: str) -> bool:
        return asked.plan(spec(tool), agent="a", role="b").layers[0].floor is not None

    assert [
        t for t in ("pay", "file_read", "file_write", "bash_exec", "mystery") if has_floor(t)
    ] == ["file_write", "bash_exec", "mystery"]


def test_layers_do_not_depend_on_the_order_of_files() -> None:
    texts = {
        "global.policy": "policy for every agent\ndefault allow\na: deny pay",
        "more.policy": "policy for every agent\nb: ask pay",
        "z.policy": 'policy for agent "ann"\nc: deny pay',
    }
    turned = dict(reversed(texts.items()))
    assert rules(program(texts), "pay") == rules(program(turned), "pay") == ["a", "b", "c"]
    assert merge(layers(texts), tools()).policy == merge(layers(turned), tools()).policy
    assert verdict(program(turned), "pay") == "deny"

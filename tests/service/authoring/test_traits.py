"""A trait that an author declares of a tool takes effect, or the tool is refused."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from policy.tools import DynamicTool, Traits, dynamic_of, handler_for


class Wipe:
    """A tool with a schema of its own."""

    name = "wipe"
    description = "Wipe a disk."
    schema: ClassVar[Any] = {"type": "object", "properties": {}}

    async def execute(self, input: Any, ctx: Any) -> None:
        return None


def test_traits_that_are_none_are_an_error() -> None:
    class Careless(Wipe):
        traits: ClassVar[Any] = {"requires_confirmation": True}

    with pytest.raises(TypeError, match=r"`Careless\.traits` must be a `Traits`"):
        handler_for(Careless())


def test_what_is_said_beside_traits_counts_too() -> None:
    class Careful(Wipe):
        traits = Traits(category="disk", destructive=False)
        REQUIRES_CONFIRMATION = True
        destructive = True

    spec = handler_for(Careful()).spec
    assert (spec.category, spec.requires_confirmation, spec.destructive) == ("disk", True, True)


@pytest.mark.parametrize("name", ["read_only", "destructive", "idempotent", "unseen", "exec_class"])
def test_facts_may_be_said_in_small_letters(name: str) -> None:
    made = handler_for(type("Saying", (Wipe,), {name: True})())
    assert getattr(made.spec, name) is True
    with pytest.raises(TypeError, match=f"`{name}`"):
        handler_for(type("Saying", (Wipe,), {name: "yes"})())


def test_a_class_is_no_tool_of_any_shape() -> None:
    class Loose:
        name = "loose"
        description = "Do something."

        def parameters_schema(self) -> Any:
            return {"type": "object", "properties": {}}

        def usage_rule(self) -> str | None:
            return None

        async def execute_dynamic(self, params: Any) -> None:
            return None

    assert isinstance(dynamic_of(Loose()), DynamicTool)
    with pytest.raises(TypeError, match="pass an object of it"):
        dynamic_of(Loose)

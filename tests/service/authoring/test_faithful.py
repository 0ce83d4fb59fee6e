"""The input that is judged is the one that runs, whatever the tool's argument model does to it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    computed_field,
    field_validator,
)

from policy.catalog import Arguments, Reads
from policy.model import Execution, ValidationFailed
from policy.service import Allow, Deny, GovernedService, build_tool_service
from policy.tools import ExecutionContext, handler_for, tool


class Keeping:
    """A filter that notes what it was asked about."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def classify(self, name: str, input: Any) -> Allow | Deny:
        self.seen.append(dict(input))
        return Allow()


def service_of(*tools: Any) -> tuple[GovernedService, Keeping]:
    service, keeping = build_tool_service(tools=tools), Keeping()
    service.set_smart_filter(keeping)
    return service, keeping


class Peeling(Arguments):
    """Takes one layer off, whenever it is read."""

    path: Annotated[str, Reads()]

    @field_validator("path")
    @classmethod
    def peel(cls, given: str) -> str:
        return given.removeprefix("safe/")


class Show(Peeling):
    operation: Literal["show"]


class Stop(Arguments):
    operation: Literal["stop"]


class Tidy(BaseModel):
    names: set[str]
    word: str
    _seen: object = PrivateAttr(default_factory=object)

    @field_validator("word")
    @classmethod
    def strip(cls, given: str) -> str:
        return given.strip()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def length(self) -> int:
        return len(self.word)


class Login(Arguments):
    password: SecretStr | None = None


class Coded(Arguments):
    code: str = Field(pattern="^[A-Z]{3}$")


class Inner(BaseModel):
    model_config = ConfigDict(strict=False)
    on: bool


class Outer(BaseModel):
    inner: Inner
    each: list[bool]


async def test_a_model_that_reads_its_own_reading_otherwise_is_refused() -> None:
    ran: list[str] = []

    @tool
    def show(args: Peeling) -> str:
        """Show a file."""
        ran.append(args.path)
        return args.path

    service, keeping = service_of(show)
    with pytest.raises(ValidationFailed, match="of this input differently"):
        await service.execute("show", {"path": "safe/safe/../secret"})
    assert not ran
    assert (await service.execute("show", {"path": "safe/a.txt"})).value == "a.txt"
    assert keeping.seen == [{"path": "a.txt"}]


async def test_operations_are_held_to_it_as_well() -> None:
    @tool
    def work(args: Show | Stop) -> str:
        """Work."""
        return "done"

    service, _ = service_of(work)
    with pytest.raises(ValidationFailed, match="of this input differently"):
        await service.execute("work", {"operation": "show", "path": "safe/safe/x"})


async def test_models_that_change_an_input_once_work() -> None:
    @tool
    def tidy(args: Tidy) -> dict[str, int]:
        """Tidy up."""
        return {"length": args.length, "names": len(args.names)}

    service, keeping = service_of(tidy)
    names = [f"n{number}" for number in range(50)]
    output = await service.execute("tidy", {"names": names, "word": " a b "})
    assert output.value == {"length": 3, "names": 50}
    assert set(keeping.seen[0]) == {"names", "word"}


def test_an_argument_that_hides_its_value_is_an_error() -> None:
    def login(args: Login) -> None:
        """Log in."""

    with pytest.raises(TypeError, match="`password` hides its value"):
        handler_for(login)


async def test_a_message_spells_patterns_as_they_are() -> None:
    @tool
    def look(args: Coded) -> Annotated[str, Field(pattern="^[A-Z]$")]:
        """Look it up."""
        return "b"

    service, _ = service_of(look)
    with pytest.raises(ValidationFailed, match=r"`code`: string should match .*\[A-Z\]\{3\}"):
        await service.execute("look", {"code": "abc"})
    with pytest.raises(Execution, match=r"string should match .*\[A-Z\]"):
        await service.execute("look", {"code": "ABC"})


async def test_a_message_says_the_one_value_that_a_field_can_have() -> None:
    @tool
    def stop(args: Stop) -> None:
        """Stop."""

    service, _ = service_of(stop)
    with pytest.raises(ValidationFailed, match="`operation` must be `stop`"):
        await service.execute("stop", {"operation": "STOP"})


@pytest.mark.parametrize("given", [5.0, "5", "5.0"])
async def test_a_whole_number_is_one_however_it_is_written(given: Any) -> None:
    @tool
    def count(number: int) -> int:
        """Count."""
        return number

    service, _ = service_of(count)
    output = await service.execute("count", {"number": given})
    assert repr(output.value) == "5"
    assert output.metadata.repairs


@pytest.mark.parametrize("given", [5.5, "5.5", 1e300, "1e300"])
async def test_no_other_number_is_taken_for_a_whole_one(given: Any) -> None:
    @tool
    def count(number: int) -> int:
        """Count."""
        return number

    service, _ = service_of(count)
    with pytest.raises(ValidationFailed):
        await service.execute("count", {"number": given})


async def test_what_a_lax_model_makes_of_an_inner_field_is_noted() -> None:
    @tool
    def switch(args: Outer) -> bool:
        """Switch."""
        return args.inner.on

    service, _ = service_of(switch)
    # Its schema says truth values, so numbers reach the model only after other repairs failed.
    output = await service.execute("switch", {"inner": {"on": 1}, "each": [0]})
    assert output.value is True
    assert output.metadata.repairs == (
        "`inner`: read as the tool reads it",
        "`each`: read as the tool reads it",
    )


async def test_a_function_that_runs_out_of_items_fails_and_does_not_hang() -> None:
    @tool
    def first() -> str:
        """Give the first."""
        nothing: list[str] = []
        return next(iter(nothing))

    service, _ = service_of(first)
    with pytest.raises(Execution, match="first failed"):
        await service.execute("first", {})


def _positional(path: str, /) -> str:
    """Look."""
    return path


def _private(_path: str) -> str:
    """Look."""
    return _path


def _settings(model_config: str) -> str:
    """Look."""
    return model_config


def _maybe(path: str, ctx: ExecutionContext | None = None) -> str:
    """Look."""
    return path


def _object(at: pytest.Item) -> str:
    """Look."""
    return ""


def _function(call: Callable[[int], int]) -> str:
    """Look."""
    return ""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (_positional, "is positional only"),
        (_private, "a name that no argument can have"),
        (_settings, "a name that no argument can have"),
        (_maybe, "must be of type `ExecutionContext` alone"),
        (_object, "`_object`"),
        (_function, "`_function`"),
    ],
)
def test_a_parameter_that_cannot_be_an_argument_is_an_error(written: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        handler_for(written)


async def test_parameters_may_be_called_like_methods_of_models() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        @tool
        def save(copy: bool, json: str, schema: str = "x") -> str:
            """Save."""
            return f"{copy} {json} {schema}"

    service, _ = service_of(save)
    output = await service.execute("save", {"copy": True, "json": "{}"})
    assert output.value == "True {} x"

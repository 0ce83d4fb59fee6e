"""Records are what the standard decorator would have made of the same declaration."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy import records
from policy.records import dataclass, maker

FLAGS = st.fixed_dictionaries(
    {},
    optional={
        "compare": st.booleans(),
        "repr": st.booleans(),
        "init": st.booleans(),
        "hash": st.sampled_from([None, True, False]),
        "kw_only": st.booleans(),
    },
)
FIELDS = st.one_of(
    st.just({"kind": "required"}),
    st.builds(lambda value: {"kind": "value", "value": value}, st.integers(0, 9)),
    st.builds(lambda flags: {"kind": "field", "flags": flags}, FLAGS),
    st.builds(
        lambda flags, value: {"kind": "field", "flags": {**flags, "default": value}},
        FLAGS,
        st.integers(0, 9),
    ),
    st.builds(lambda flags: {"kind": "field", "flags": {**flags, "default_factory": list}}, FLAGS),
)
NAMES = ("path", "self", "other", "hash", "_later", "known")
OPTIONS = st.fixed_dictionaries(
    {"slots": st.just(True), "frozen": st.booleans()},
    optional={"kw_only": st.booleans(), "eq": st.booleans()},
)


def declared(said: list[dict[str, Any]], doc: str | None, field: Any = dataclasses.field) -> type:
    body: dict[str, Any] = {"__module__": __name__, "__annotations__": {}}
    if doc is not None:
        body["__doc__"] = doc
    for name, one in zip(NAMES, said, strict=False):
        body["__annotations__"][name] = "int"
        if one["kind"] == "value":
            body[name] = one["value"]
        elif one["kind"] == "field":
            body[name] = field(**one["flags"])
    return type("Declared", (), body)


def outcome(do: Callable[[], Any]) -> object:
    try:
        return do()
    except Exception as error:  # noqa: BLE001 — what it raises is what is compared
        return type(error), str(error)


def seen(
    made: Any, functions: Any, arguments: tuple[int, ...], named: dict[str, int]
) -> list[object]:
    """Return everything that can be seen of a class and two of its instances."""
    first, second = (made(*arguments, **named) for _ in range(2))
    fields = functions.fields(made)
    for field in fields:
        if not hasattr(first, field.name):
            return ["a field without a value"]
    changed = {field.name: 7 for field in fields[:1] if field.init}
    return [
        [(f.name, f.compare, f.repr, f.init, f.hash) for f in fields],
        [(f.name, f.type, f.default, f.kw_only) for f in dataclasses.fields(made)],
        [functions.is_dataclass(one) for one in (made, first, int, 1)],
        repr(functions.replace(first, **changed)),
        [str(outcome(partial(functions.replace, first, **{field.name: 9}))) for field in fields],
        [getattr(first, field.name) for field in fields],
        repr(first),
        first == second,
        first == object(),
        outcome(lambda: hash(first) == hash(second)) if made.__hash__ is not object.__hash__ else 0,
        repr(dataclasses.replace(first, **changed)),
        dataclasses.asdict(first),
        copy.deepcopy(first) == first,
        repr(copy.copy(first)),
        [outcome(partial(setattr, first, field.name, 3)) for field in fields],
        [outcome(partial(delattr, first, field.name)) for field in fields],
        made.__match_args__,
        made.__slots__,
        made.__init__.__qualname__,
        made.__init__.__annotations__.keys(),
        str(inspect.signature(made)).count("="),
        repr(made.__dataclass_params__),
    ]


@given(
    st.lists(FIELDS, max_size=len(NAMES)),
    OPTIONS,
    st.lists(st.integers(0, 3), max_size=3),
    st.sampled_from([dataclasses.field, records.field]),
    st.sampled_from([0, 3, 1000]),
)
def test_a_record_is_what_the_standard_decorator_makes(
    said: list[dict[str, Any]], options: dict[str, bool], given: list[int], field: Any, few: int
) -> None:
    try:
        standard: Any = dataclasses.dataclass(**options)(declared(said, "Said."))
    except TypeError:
        return  # no class at all: an order of defaults that mypy refuses as well
    ours: Any = dataclass(**options)(declared(said, "Said.", field))
    required = {
        name: number
        for number, (name, one) in enumerate(inspect.signature(standard).parameters.items())
        if one.default is one.empty and one.kind is one.KEYWORD_ONLY
    }
    arguments = tuple(given)
    expected = outcome(lambda: seen(standard, dataclasses, arguments, required))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(records, "_FEW", few)  # uses before a method is written
        found = outcome(lambda: seen(ours, records, arguments, required))
    assert found == expected


@given(
    st.lists(FIELDS, max_size=4),
    OPTIONS,
    st.lists(st.integers(0, 3), max_size=5),
    # Not `self`: the standard method calls its first parameter so where no field does.
    st.dictionaries(st.sampled_from(["path", "other", "hash", "more"]), st.integers(0, 3)),
)
def test_a_class_takes_and_refuses_the_same_before_its_methods_are_written(
    said: list[dict[str, Any]], options: dict[str, bool], given: list[int], named: dict[str, int]
) -> None:
    try:
        standard: Any = dataclasses.dataclass(**options)(declared(said, "Said."))
    except TypeError:
        return  # no class at all
    ours: Any = dataclass(**options)(declared(said, "Said.", records.field))

    def tried(made: Any, functions: Any, changes: dict[str, int]) -> object:
        return outcome(lambda: repr(functions.replace(made(*given, **named), **changes)))

    for changes in ({}, named):
        assert tried(ours, records, changes) == tried(standard, dataclasses, changes)


def test_methods_are_written_when_they_have_been_used_a_few_times() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Made:
        path: str

    assert Made(path="a") == Made(path="a")
    assert not callable(vars(Made)["__init__"])
    for _ in range(records._FEW):
        assert Made(path="a") == Made(path="a")
    assert inspect.isfunction(vars(Made)["__init__"])
    assert inspect.isfunction(vars(Made)["__eq__"])
    assert not callable(vars(Made)["__repr__"])


def test_what_inherits_a_record_keeps_what_it_says_itself() -> None:
    base: Any = dataclass(frozen=True, slots=True)(declared([{"kind": "required"}], "Doc."))

    class Own(base):  # type: ignore[misc]
        """A record that is made otherwise, compares otherwise and is shown otherwise."""

        __slots__ = ()

        def __init__(self, double: int) -> None:
            super().__init__(2 * double)

        def __eq__(self, other: object) -> bool:
            return super().__eq__(other) is True

        def __hash__(self) -> int:
            return hash((super().__hash__(), "own"))

        def __repr__(self) -> str:
            return f"own {super().__repr__()}"

    for _ in range(2):  # the second time with methods that are written
        own = Own(4)
        assert own.path == 8
        assert own == Own(4)
        assert own != Own(5)
        assert hash(own) == hash(Own(4)) != hash(base(8))
        assert repr(own).startswith("own ")
        assert base(8) == base(8)
        assert dataclasses.fields(Own) == dataclasses.fields(base)


def test_a_signature_shows_no_value_that_is_made_anew() -> None:
    listed = [{"kind": "field", "flags": {"default_factory": list}}]
    record: Any = dataclass(frozen=True, slots=True)(declared(listed, "Doc."))
    assert str(inspect.signature(record)) == "(path: 'int' = <factory>) -> None"
    assert record().path == []


def test_fields_of_a_class_that_adds_some_are_all_known() -> None:
    @dataclass(frozen=True, slots=True)
    class Base:
        path: str

    @dataclass(frozen=True, slots=True)
    class More(Base):
        size: int = records.field(default=0, compare=False)

    assert [field.name for field in records.fields(More)] == ["path", "size"]
    assert repr(records.replace(More("a", 2), path="b")).endswith("(path='b', size=2)")
    assert More("a", 2) == More("a", 3)


@pytest.mark.parametrize("options", [{"frozen": True}, {}, {"eq": False}])
@pytest.mark.parametrize("own", [lambda _self: 3, None])
def test_a_hash_of_its_own_stays(options: dict[str, bool], own: Any) -> None:
    said: list[dict[str, Any]] = [{"kind": "required"}]
    outcomes = []
    for made_by in (dataclasses.dataclass, dataclass):
        body = declared(said, "Doc.")
        body.__hash__ = own  # type: ignore[method-assign]
        made: Any = made_by(slots=True, **options)(body)
        outcomes.append((outcome(partial(hash, made(1))), made(1) == made(1)))
    assert outcomes[0] == outcomes[1]


def test_a_record_is_made_while_another_thread_imports_the_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record: Any = dataclass(frozen=True, slots=True)(declared([{"kind": "required"}], "Doc."))
    monkeypatch.setitem(sys.modules, "dataclasses", ModuleType("dataclasses"))
    assert record(1).path == 1


def test_what_a_class_says_itself_stays() -> None:
    @dataclass(frozen=True, slots=True)
    class Made:
        path: str

        def __repr__(self) -> str:
            return "its own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 3

    assert (repr(Made("a")), Made("a") == Made("b"), hash(Made("a"))) == ("its own", True, 3)


def test_what_is_no_field_is_left_to_the_standard_decorator() -> None:
    program = (
        "from __future__ import annotations\n"
        "from typing import ClassVar\n"
        "from policy.records import dataclass\n"
        "@dataclass(frozen=True, slots=True)\n"
        "class Made:\n"
        "    limit: ClassVar[int] = 3\n"
        "    path: str\n"
        "assert Made.limit == 3 and Made.__slots__ == ('path',), Made.__slots__\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_missing_value_is_told_by_its_name() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Made:
        path: str

    with pytest.raises(TypeError, match=r"Made\.__init__\(\) missing .* argument: 'path'"):
        Made()  # type: ignore[call-arg]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    name: str
    at: int = dataclasses.field(compare=False, repr=False)


def test_a_maker_makes_the_record_that_its_class_makes() -> None:
    made, called = maker(Place)(name="a", at=3), Place(name="a", at=3)
    assert type(made) is Place
    assert (made, hash(made), repr(made), made.at) == (called, hash(called), repr(called), 3)
    assert copy.deepcopy(made) == called
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "b"  # type: ignore[misc]
    with pytest.raises(TypeError):
        maker(Place)(name="a")  # type: ignore[call-arg]


@pytest.mark.parametrize("off", ["records", "generated, records ,cache"])
def test_switched_off_every_record_is_made_by_the_standard_decorator(off: str) -> None:
    program = (
        "import dataclasses\n"
        "from policy import records\n"
        "from policy.call import Caller\n"
        "names = 'dataclass', 'field', 'fields', 'is_dataclass', 'replace'\n"
        "assert all(getattr(records, name) is getattr(dataclasses, name) for name in names)\n"
        "assert callable(vars(Caller)['__init__']) and not hasattr(Caller, '__record_fields__')\n"
    )
    ours = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert b"AssertionError" in ours.stderr
    environment = {**os.environ, "PLACET_NO_FAST": off}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)

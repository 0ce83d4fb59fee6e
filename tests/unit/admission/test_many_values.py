"""What is mended in a list of thousands takes little work, and as many notes as people read."""

from __future__ import annotations

import pytest

from policy.admission import Admitted, RawCall, admit, coercion
from policy.catalog import Catalog, Origin, ToolSpec

_MANY = [str(number) for number in range(20_000)]


def _catalog(elements: dict[str, object]) -> Catalog:
    schema = {"type": "object", "properties": {"ids": {"type": "array", **elements}}}
    return Catalog(specs=(ToolSpec(name="take", origin=Origin(tool="take"), schema=schema),))


def test_notes_end_after_some() -> None:
    catalog = _catalog({"items": {"type": "integer"}})
    admitted = admit(RawCall(tool="take", input={"ids": _MANY}), catalog)
    assert isinstance(admitted, Admitted)
    assert admitted.call.input["ids"] == tuple(range(20_000))
    assert len(admitted.repairs) == 101
    assert admitted.repairs[-1] == "further values were repaired"


def test_what_no_repair_makes_valid_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    usual = coercion._repair

    def counted(value: object, *given: object, **more: object) -> object:
        looked.append(value)
        return usual(value, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(coercion, "_repair", counted)
    catalog = _catalog({"type": "object"})
    refused = admit(RawCall(tool="take", input={"ids": _MANY}), catalog)
    assert not isinstance(refused, Admitted)
    assert len(looked) == 2


def test_elements_after_those_with_schemas_of_their_own_share_one() -> None:
    own, others = {"type": "string"}, {"type": "integer"}
    catalog = _catalog({"prefixItems": [own], "items": others})
    admitted = admit(RawCall(tool="take", input={"ids": ["1", "1", "1"]}), catalog)
    assert isinstance(admitted, Admitted)
    assert admitted.call.input["ids"] == ("1", 1, 1)

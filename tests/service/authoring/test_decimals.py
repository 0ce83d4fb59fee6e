"""Decimals and other types of Python in rules: what a rule compares, and what a tool gets.

JSON has no decimals. Rules see numbers, and the tool gets a `Decimal` with the value that was
judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, WithJsonSchema

import policy
from policy.service import GovernedService, build_tool_service, tool

RULES = "policy for every agent\n\ndefault deny\n\n"
BOUNDED = f"{RULES}pay: allow pay when input.amount > 0 and input.amount <= 1000\n"


def served(folder: Path, rules: str, *tools: Any) -> GovernedService:
    (folder / "rules").mkdir()
    (folder / "rules" / "global.policy").write_text(rules)
    return build_tool_service(policy.PolicyStore(folder / "rules"), tools=tools, workspace=folder)


def paying(kind: Any, default: Any = ...) -> tuple[Any, list[Any]]:
    """Return a tool with an amount of this type, and the amounts that it gets."""
    paid: list[Any] = []

    def pay(amount: Any) -> None:
        """Pay."""
        paid.append(amount)

    pay.__annotations__ = {"amount": kind, "return": None}
    if default is not ...:
        pay.__defaults__ = (default,)
    return tool(pay), paid


@pytest.mark.parametrize("given", [50, 50.0, 19.9, "19.90", 1000, "0.1"])
async def test_rules_compare_a_decimal_as_a_number(tmp_path: Path, given: Any) -> None:
    pay, paid = paying(Decimal)
    await served(tmp_path, BOUNDED, pay).execute("pay", {"amount": given})
    assert paid == [Decimal(str(given))]
    assert isinstance(paid[0], Decimal)


@pytest.mark.parametrize("given", [0, -20, 1000.01, "1000.01", "-1", 10**30, "1E+999999"])
async def test_a_decimal_beyond_the_bounds_is_denied(tmp_path: Path, given: Any) -> None:
    pay, paid = paying(Decimal)
    with pytest.raises(policy.PermissionDenied):
        await served(tmp_path, BOUNDED, pay).execute("pay", {"amount": given})
    assert not paid


async def test_a_bound_is_indeterminate_for_digits_that_no_double_holds(tmp_path: Path) -> None:
    pay, paid = paying(Decimal)
    with pytest.raises(policy.PermissionDenied):
        await served(tmp_path, BOUNDED, pay).execute("pay", {"amount": "999.99999999999999999999"})
    assert not paid


async def test_a_tool_gets_all_digits(tmp_path: Path) -> None:
    pay, paid = paying(Decimal)
    service = served(tmp_path, f"{RULES}pay: allow pay\n", pay)
    await service.execute("pay", {"amount": "999.99999999999999999999"})
    await service.execute("pay", '{"amount": 0.12345678901234567890123}')
    assert paid == [Decimal("999.99999999999999999999"), Decimal("0.12345678901234567890123")]


@pytest.mark.parametrize("given", ["much", "NaN", "Infinity", "", None, [1]])
async def test_what_is_not_a_number_is_refused(tmp_path: Path, given: Any) -> None:
    pay, paid = paying(Decimal)
    with pytest.raises(policy.ValidationFailed, match="amount"):
        await served(tmp_path, BOUNDED, pay).execute("pay", {"amount": given})
    assert not paid


async def test_constraints_of_a_decimal_are_the_models_own(tmp_path: Path) -> None:
    pay, paid = paying(Annotated[Decimal, Field(multiple_of=0.01, le=500)])
    service = served(tmp_path, BOUNDED, pay)
    await service.execute("pay", {"amount": 19.99})
    for wrong in (19.999, 500.01):
        with pytest.raises(policy.ValidationFailed, match="amount"):
            await service.execute("pay", {"amount": wrong})
    assert paid == [Decimal("19.99")]


async def test_a_default_is_a_number_too(tmp_path: Path) -> None:
    pay, paid = paying(Decimal, default=Decimal("12.5"))
    await served(tmp_path, BOUNDED, pay).execute("pay", {})
    assert paid == [Decimal("12.5")]
    assert pay.parameters_schema()["properties"]["amount"] == {"type": "number", "default": 12.5}


@dataclass
class Price:
    net: Decimal


class Line(BaseModel):
    price: Price
    discounts: list[Decimal] = []
    tax: Decimal | None = None


class Order(BaseModel):
    operation: Literal["order"]
    lines: dict[str, Line]


class Cancel(BaseModel):
    operation: Literal["cancel"]


class Shop:
    """Order things."""

    NAME = "shop"
    Args = Order | Cancel

    def __init__(self) -> None:
        self.orders: list[Order] = []

    def order(self, args: Order) -> None:
        self.orders.append(args)

    def cancel(self, args: Cancel) -> None:
        raise AssertionError(args)


async def test_a_decimal_is_a_number_wherever_it_is(tmp_path: Path) -> None:
    shop = Shop()
    rules = f"""{RULES}cheap:
  allow shop
  when input.lines.a.price.net <= 10 and sum(x in input.lines.a.discounts: x) < 2
    and (input.lines.a.tax is absent or input.lines.a.tax <= 3)
"""
    service = served(tmp_path, rules, shop)
    line = {"price": {"net": "9.99"}, "discounts": ["0.5", 1], "tax": 2.5}
    await service.execute("shop", {"operation": "order", "lines": {"a": line}})
    for change in ({"price": {"net": 10.01}}, {"discounts": [1, "1"]}, {"tax": "3.01"}):
        dear = {"operation": "order", "lines": {"a": {**line, **change}}}
        with pytest.raises(policy.PermissionDenied):
            await service.execute("shop", dear)
    assert [order.lines["a"].price.net for order in shop.orders] == [Decimal("9.99")]


async def test_a_decimal_that_its_author_declares_as_text_stays_text(tmp_path: Path) -> None:
    pay, paid = paying(Annotated[Decimal, WithJsonSchema({"type": "string"})])
    rules = f'{RULES}pay: allow pay when input.amount == "19.90"\n'
    await served(tmp_path, rules, pay).execute("pay", {"amount": "19.90"})
    assert str(paid[0]) == "19.90"


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize(
    ("kind", "condition", "said"),
    [
        (Decimal, 'input.amount == "5"', "without quotes"),
        (date, "input.amount <= 1000", "a string"),
        (date, 'input.amount < date("2026-03-01")', "a string becomes a time"),
        (UUID, "input.amount == 5", "a string"),
        (Colour, 'input.amount == "rad"', "can never hold"),
        (Literal[1, 2], 'input.amount == "1"', "without quotes"),
    ],
)
async def test_a_comparison_with_another_type_is_an_error_when_the_service_is_built(
    tmp_path: Path, kind: Any, condition: str, said: str
) -> None:
    pay, _ = paying(kind)
    with pytest.raises(policy.PolicyInvalid) as found:
        served(tmp_path, f"{RULES}pay: allow pay when {condition}\n", pay)
    assert any(said in f"{each.message} {each.help}" for each in found.value.diagnostics)


async def test_points_in_time_are_compared_as_times(tmp_path: Path) -> None:
    pay, paid = paying(datetime)
    rules = f'{RULES}pay: allow pay when time(input.amount) <= time("2026-03-01T08:00:00Z")\n'
    service = served(tmp_path, rules, pay)
    await service.execute("pay", {"amount": "2026-03-01T09:30:00+02:00"})
    with pytest.raises(policy.PermissionDenied):
        await service.execute("pay", {"amount": "2026-03-01T09:30:00Z"})
    assert len(paid) == 1


async def test_dates_are_compared_as_times(tmp_path: Path) -> None:
    pay, paid = paying(date)
    rules = f'{RULES}pay: allow pay when date(input.amount) <= date("2026-03-01")\n'
    service = served(tmp_path, rules, pay)
    await service.execute("pay", {"amount": "2026-02-28"})
    with pytest.raises(policy.PermissionDenied):
        await service.execute("pay", {"amount": "2026-03-02"})
    assert paid == [date(2026, 2, 28)]

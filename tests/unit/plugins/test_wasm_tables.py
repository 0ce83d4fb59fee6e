"""Which tables a module may have, with the real runtime beside it."""

from __future__ import annotations

import extism
import pytest

from policy.capabilities import PluginRefused
from policy.plugins.wasm_tables import MOST_ENTRIES, with_bounded_tables


def number(value: int) -> bytes:
    rest = value >> 7
    return bytes([value & 0x7F | (0x80 if rest else 0)]) + (number(rest) if rest else b"")


def signed(value: int) -> bytes:
    """Return a number of a constant, whose highest bit is its sign."""
    return bytes([value & 0x7F | 0x80, value >> 7 & 0x7F | 0x80, value >> 14 & 0x7F | 0x80]) + (
        number(value >> 21)
    )


def section(id: int, *items: bytes) -> bytes:
    content = number(len(items)) + b"".join(items)
    return bytes([id]) + number(len(content)) + content


def compiled(*tables: bytes, by: int) -> bytes:
    """Return a module whose function `t` fails unless its first table cannot grow by so much."""
    # ref.null func; i32.const BY; table.grow 0; i32.const -1; i32.ne
    body = b"\x00\xd0\x70\x41" + signed(by) + b"\xfc\x0f\x00\x41\x7f\x47\x0b"
    return b"".join(
        (
            b"\0asm\x01\0\0\0",
            section(1, b"\x60\x00\x01\x7f"),
            section(3, b"\x00"),
            section(4, *tables),
            section(7, b"\x01t\x00\x00"),
            section(10, number(len(body)) + body),
        )
    )


def grows(module: bytes) -> bool:
    plugin = extism.Plugin({"wasm": [{"data": module}]})
    try:
        plugin.call("t", b"")
    except extism.Error:
        return True
    return False


# `funcref` with at least one entry; then at least one and at most 5,000,000.
FREE, GREAT = b"\x70\x00\x01", b"\x70\x01\x01" + number(5_000_000)
SMALL = b"\x70\x01\x01\x02"
NULLABLE = b"\x63\x70\x00\x01"  # `(ref null func)`
BY = 2_000_000  # which takes 16 MB


@pytest.mark.parametrize("tables", [(FREE,), (GREAT,), (FREE, FREE, SMALL), (NULLABLE,)])
def test_a_table_of_a_compiled_module_grows_to_the_bound_only(tables: tuple[bytes, ...]) -> None:
    module = compiled(*tables, by=BY)
    assert grows(module)
    assert not grows(with_bounded_tables(module))
    assert grows(with_bounded_tables(compiled(*tables, by=1000)))


def test_what_a_compiled_module_says_within_the_bound_stays() -> None:
    for module in (compiled(SMALL, by=1), compiled(by=1), compiled(SMALL, SMALL, by=1)):
        assert with_bounded_tables(module) == module


@pytest.mark.parametrize(
    "module",
    [
        compiled(b"\x70\x00" + number(MOST_ENTRIES + 1), by=1),
        compiled(*[b"\x70\x00" + number(MOST_ENTRIES // 2)] * 3, by=1),
        compiled(b"\x40\x00\x70\x00\x01\xd0\x70\x0b", by=1),
        compiled(b"\x70\x03\x01\x02", by=1),
        compiled(FREE, by=1)[:20],
        b"\0asm\x01\0\0\0\x04\xff\xff\xff\xff\x0f",
        b"\0asm\x01\0\0\0\x04" + b"\xff" * 100,
    ],
)
def test_a_compiled_module_whose_tables_cannot_be_bounded_is_refused(module: bytes) -> None:
    with pytest.raises(PluginRefused, match="the module cannot be used"):
        with_bounded_tables(module)


@pytest.mark.parametrize(
    "table",
    [
        "(table 1 funcref)",
        "(table $t 1 funcref)",
        '(table $t (export "t") i64 1 funcref)',
        "(table 1 (ref null func))",
        "( (; a (; b ;) ;) table ;; (\n 1 funcref)",
        "(table 0 0xffff_ffff funcref)",
        f"(table 1 {'9' * 5_000} funcref)",
        "(table 1 0x_ funcref)",
        "(table 2_000_000 2_000_000 funcref)",
        "(table 0 600_000 funcref) (table 0 600_000 funcref)",
        '(data "\\" (; ") (table 1 funcref)',
        "(; ;; ;) (table 1 funcref)",
        ";; a\r(table 1 funcref)",
        'binary "\\00asm"',
    ],
)
def test_a_text_says_how_far_its_tables_grow(table: str) -> None:
    with pytest.raises(PluginRefused, match="the module cannot be used"):
        with_bounded_tables(f"(module {table})".encode())


@pytest.mark.parametrize(
    "fields",
    [
        "(table 1 100 funcref)",
        '(table $t (export "t") 1 0x64 funcref) (func $f) (elem (table $t) (i32.const 0) func $f)',
        "(func $f) (table funcref (elem $f))",
        ';; (table 1 funcref)\n(; (table 1 funcref) ;) (memory 1) (data (i32.const 0) "(table 1")',
        "(table 0 10 funcref) (func (result i32) (table.grow 0 (ref.null func) (i32.const 1)))",
        '\r\n(func $table) (export "table" (func $table))',
    ],
)
def test_a_text_with_bounded_tables_stays_as_it_is(fields: str) -> None:
    module = f"(module {fields})".encode()
    assert with_bounded_tables(module) == module
    extism.Plugin({"wasm": [{"data": module}]})

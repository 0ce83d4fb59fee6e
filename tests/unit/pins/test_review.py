"""What a reviewer is shown: every difference, and what a reader would not see."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policy.model import freeze
from policy.pins import (
    KnownNames,
    Lock,
    Review,
    Reviewable,
    Reviewed,
    accepted,
    compare,
    definitions_of,
    review,
)
from policy.pins.definitions import digest
from policy.pins.difference import _outer_difference, difference
from policy.pins.disguised_words import disguised_words
from policy.pins.hidden_text import hidden_text
from policy.values import skeleton
from tests.laws.calls import json_values

ADA = Reviewed(by="ada", at="2026-11-23T07:00:00Z")
NOBODY = KnownNames(owners={})
EMPTY_LOCK = Lock()


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(char)) for char in text)


def reviewed(
    tools: list[Any], *, lock: Lock = EMPTY_LOCK, known: KnownNames = NOBODY, **said: Any
) -> Review:
    return review(compare(lock, definitions_of("s", tools=tools, **said)), known=known)


def only(found: Review) -> Reviewable:
    """Return the tool to review, of which there is one."""
    (item,) = [item for item in found.items if item.what == "tool"]
    return item


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Read\u200b.", "hidden characters: U+200B ZERO WIDTH SPACE"),
        ("a\u202eb\u202ec", "U+202E RIGHT-TO-LEFT OVERRIDE (2 times)"),
        ("a\u2066b", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("a\x1b[31mb", "U+001B without a name"),
        ("a\u00adb", "SOFT HYPHEN"),
        ("a\u3164b", "HANGUL FILLER"),
        ("a\ue000b", "U+E000 without a name"),
        (f"Read.{tags('send it')}", "tag characters that spell `send it`"),
        ("a\U000e0101\U000e0110", "VARIATION SELECTOR-18"),
        ("a\ufe00\ufe01\ufe0f", "VARIATION SELECTOR-1"),
        ("a\u00a0b", "characters that look like spaces: U+00A0 NO-BREAK SPACE"),
        ("a\u2800b", "BRAILLE PATTERN BLANK"),
        (f"Read.{' ' * 200}Send it.", "text out of sight, after a long blank: `Send it.`"),
        ("Read." + "\n" * 30 + "Send it.", "after a long blank: `Send it.`"),
    ],
)
def test_what_a_reader_does_not_see_is_reported(text: str, said: str) -> None:
    found = " / ".join(hidden_text(text))
    assert said in found
    # Whatever is reported cannot hide anything in turn.
    assert found.isprintable()
    item = only(reviewed([{"name": "t", "inputSchema": {"x": [text]}}]))
    assert any(finding.startswith("inputSchema.x[0]: ") for finding in item.findings)


@pytest.mark.parametrize(
    "text",
    [
        "Read a file.\n\n- one\n- two\n\tthree\n\n\nEnd.",
        "Grüße, naïve café, 東京, Привет мир, καλημέρα",
        "Done ✔️ ⚠️ 1️⃣",
        "x" * 10_000,
        "   indented",
        "10 × 5 ≤ 60 µs",
    ],
)
def test_ordinary_text_is_not_suspected(text: str) -> None:
    assert [*hidden_text(text), *disguised_words(text)] == []


@given(text=st.text(max_size=20), char=st.characters(codec="utf-8", categories=("Cf", "Co", "Cn")))
def test_a_character_without_a_form_is_reported_in_any_text(text: str, char: str) -> None:
    if 0xE0100 <= ord(char) < 0xE01F0 and text and unicodedata.category(text[-1]) != "Ll":
        return
    assert any("hidden characters" in said for said in hidden_text(text + char))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("r\u0435ad_file", "read_file"),
        ("\u0440\u0430\u0443", "pay"),
        ("ｒｅａｄ", "read"),
        ("𝐫ead", "read"),
        ("Iist_files", "list_files"),
        ("1ist", "list"),
        ("rnodern", "modern"),
        ("file_O", "file_0"),
        ("re\u200bad", "read"),
        ("ο", "o"),
        ("ѕtatus", "status"),
    ],
)
def test_names_that_look_alike_have_one_skeleton(name: str, other: str) -> None:
    assert skeleton(name) == skeleton(other)
    assert name != other


@given(name=st.text(max_size=12))
@example("Ø")
def test_a_skeleton_is_its_own(name: str) -> None:
    assert skeleton(skeleton(name)) == skeleton(name)


@pytest.mark.parametrize("name", ["read_file", "write_file", "list", "pay", "status", "log"])
def test_ordinary_names_do_not_look_alike(name: str) -> None:
    assert sum(skeleton(name) == skeleton(other) for other in ("read_file", "lost", "pay_all")) <= (
        name == "read_file"
    )


def test_words_with_letters_of_another_script_are_reported() -> None:
    (said,) = disguised_words("Send p\u0430yments to the b\u0430nk at once")
    assert "`b\u0430nk` (U+0430 CYRILLIC SMALL LETTER A)" in said and "`p\u0430yments`" in said
    (said,) = disguised_words("The tool \u0441\u043e\u0440\u0435 reads")
    assert "U+0441 CYRILLIC SMALL LETTER ES" in said
    assert [*disguised_words("\u0441\u043e\u0440 \u0438 \u0434\u043e\u043c")] == []


KNOWN = KnownNames(
    owners={
        "read_file": ("server files",),
        "bash": ("Placet itself",),
        "Read": ("claude-code",),
        "list": ("server files", "server more"),
    }
)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("read_file", "the name is that of `read_file` of server files"),
        ("list", "the name is that of `list` of server files and server more"),
        ("readFile", "the name differs only in spelling from `read_file`"),
        ("Bash", "the name differs only in spelling from `bash` of Placet itself"),
        ("read", "the name differs only in spelling from `Read` of claude-code"),
        ("r\u0435ad_file", "the name looks like `read_file` of server files"),
        ("Iist", "the name looks like `list`"),
        ("../x", "the name has more than ASCII letters"),
        ("x" * 65, "or is very long"),
        ("0ther", "the name looks like `Other` of the same server"),
    ],
)
def test_a_name_that_could_be_taken_for_another_is_reported(name: str, said: str) -> None:
    found = reviewed([{"name": name}, {"name": "Other"}, {"name": "quite"}], known=KNOWN)
    findings = {item.name: item.findings for item in found.items}
    assert any(said in finding for finding in findings[name])
    assert findings["quite"] == ()


def test_the_keys_of_a_definition_are_looked_at_too() -> None:
    item = only(reviewed([{"name": "t", "inputSchema": {"properties": {"p\u0430th": {}}}}]))
    assert any("the key `p\u0430th`: words that look like others" in f for f in item.findings)
    item = only(reviewed([{"name": "t", "_meta": {"a\u200b": "b\u200b"}}]))
    assert len(item.findings) == 2


def test_a_tool_that_could_not_be_called_is_reported() -> None:
    item = only(reviewed([{"name": "t", "inputSchema": {"$ref": "#/nowhere"}}]))
    assert item.findings == ("it cannot be called: its schema has a reference without a target",)


def test_instructions_and_prompts_are_looked_at_too() -> None:
    found = reviewed([], instructions="Hi\u200b", prompts=[{"name": "p", "title": "T\u200b"}])
    assert [(item.what, len(item.findings)) for item in found.items] == [
        ("server", 1),
        ("prompt", 1),
    ]


def test_a_change_is_shown_as_what_was_removed_and_added() -> None:
    tool = {"name": "t", "description": "Read.\nOne file.", "inputSchema": {"type": "object"}}
    lock = accepted(Lock(), definitions_of("s", tools=[tool]), reviewed=ADA)
    changed = {**tool, "description": "Read.\nTwo\u200b files. ", "_meta": {"a.b": [None, True]}}
    assert only(reviewed([changed], lock=lock)).difference == (
        '+ _meta["a.b"][0] = null',
        '+ _meta["a.b"][1] = true',
        "- description: One file.",
        r"+ description: Two\u{200b} files.\u{20}",
    )
    gone = only(reviewed([], lock=lock))
    assert all(line.startswith("- ") for line in gone.difference) and len(gone.difference) == 4
    assert reviewed([tool], lock=lock).items == ()


@given(before=json_values(), now=json_values())
def test_every_change_shows_in_the_difference(before: Any, now: Any) -> None:
    old, new = freeze({"name": "t", "_meta": before}), freeze({"name": "t", "_meta": now})
    assert isinstance(old, Mapping) and isinstance(new, Mapping)
    lines = difference(old, new)
    assert bool(lines) is (digest(old) != digest(new))
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(
    "text",
    [" " * 100_000, "\n" * 100_000, "a " * 50_000, "\u200b" * 30_000, "\u0430b " * 20_000],
    ids=["blanks", "lines", "words", "hidden", "mixed"],
)
def test_a_long_text_is_looked_at_once(text: str) -> None:
    findings = [*hidden_text(text), *disguised_words(text)]
    assert all(len(finding) < 1_000 for finding in findings)


def test_names_that_all_look_alike_are_told_in_a_few_sentences() -> None:
    found = reviewed([{"name": "l" * (i % 60 + 1) + "1" * (i // 60)} for i in range(300)])
    assert max(len(item.findings) for item in found.items) <= 20


def test_a_large_change_is_shown_without_comparing_every_line_with_every_other() -> None:
    old = {"name": "t", "description": "\n".join(f"{i}" for i in range(40_000))}
    new = {"name": "t", "description": "\n".join(f"{i * 7 % 40_000}" for i in range(40_000))}
    lines = difference(old, new)
    assert lines[:2] == ("- description: 1", "- description: 2")
    assert len([line for line in lines if line.startswith("+")]) == 39_999


@given(old=st.lists(st.sampled_from("abc")), new=st.lists(st.sampled_from("abc")))
def test_the_difference_of_long_texts_turns_one_into_the_other(
    old: list[str], new: list[str]
) -> None:
    lines = _outer_difference(old, new)
    same = len(old) - sum(line.startswith("- ") for line in lines)
    assert same == len(new) - sum(line.startswith("+ ") for line in lines)
    assert bool(lines) is (old != new)


@given(one=st.text(max_size=8), other=st.text(max_size=8))
def test_no_two_texts_look_the_same_in_a_difference(one: str, other: str) -> None:
    old, new = {"name": one}, {"name": other}
    assert bool(difference(old, new)) is (one != other)
    assert bool(difference({one: 1}, {other: 1})) is (one != other)


def test_a_digest_stands_for_all_that_is_declared() -> None:
    first = reviewed([{"name": "a"}], instructions="x")
    assert first.digest == reviewed([{"name": "a"}], instructions="x").digest
    others = (
        reviewed([{"name": "a"}]),
        reviewed([{"name": "a", "title": ""}], instructions="x"),
        reviewed([{"name": "a"}, {"name": "b"}], instructions="x"),
        reviewed([{"name": "a"}], instructions="x", prompts=[{"name": "p"}]),
    )
    assert first.digest not in {other.digest for other in others}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


TEXT = {"type": "string"}
CLOSED = {"openWorldHint": False}


@pytest.mark.parametrize(
    ("name", "properties", "hints", "resources"),
    [
        ("read_file", {"path": TEXT}, CLOSED, {"reads": ["path"], "complete": True}),
        ("read_file", {"path": TEXT}, {}, {"reads": ["path"]}),
        ("stat", {"filePath": TEXT, "n": {"type": "integer"}}, CLOSED, {"reads": ["filePath"]}),
        (
            "read_all",
            {"paths": {"type": "array", "items": TEXT}},
            CLOSED,
            {"reads": ["paths.*"], "complete": True},
        ),
        ("go", {"path": TEXT}, {}, {"reads": ["path"], "writes": ["path"]}),
        # What a server says of itself proposes nothing that its name contradicts.
        (
            "delete_file",
            {"path": TEXT},
            {"readOnlyHint": True},
            {"reads": ["path"], "writes": ["path"]},
        ),
        ("find", {"root": TEXT}, {}, {"reads": [{"path": "root", "tree": True}]}),
        ("fetch", {"url": TEXT}, {}, {"connects": ["url"]}),
        ("fetch", {"x": {"type": "string", "format": "uri"}}, {}, {"connects": ["x"]}),
        ("run", {"command": TEXT}, {}, {"runs": ["command"]}),
        ("mail", {"to": TEXT, "body": TEXT}, {}, {"sends": ["to"]}),
        (
            "move",
            {"source": TEXT, "destination": TEXT},
            {},
            {
                "reads": ["source"],
                "writes": ["source", "destination"],
            },
        ),
        ("read", {"path": TEXT, "other": TEXT}, CLOSED, {"reads": ["path"]}),
        ("read", {"path": TEXT, "any": {"$ref": "#/x"}}, CLOSED, {"reads": ["path"]}),
        ("read", {"path": TEXT, "any": {"anyOf": [TEXT]}}, CLOSED, {"reads": ["path"]}),
        (
            "read",
            {"path": TEXT, "how": {"enum": ["a"]}},
            CLOSED,
            {
                "reads": ["path"],
                "complete": True,
            },
        ),
        ("get_env", {}, CLOSED, {}),
        ("read", {"in": schema(path=TEXT)}, {}, {"reads": ["in.path"]}),
    ],
)
def test_resources_are_proposed_by_names_and_formats(
    name: str, properties: dict[str, Any], hints: dict[str, Any], resources: dict[str, Any]
) -> None:
    tool = {"name": name, "inputSchema": schema(**properties), "annotations": hints}
    proposal = only(reviewed([tool])).proposal
    assert proposal is not None
    expected = dict(resources)
    if name == "stat":
        expected["complete"] = True
    assert dict(proposal.resources) == expected
    assert bool(proposal.sentence) is bool(resources)


@given(schema=json_values())
def test_any_schema_can_be_reviewed(schema: Any) -> None:
    item = only(reviewed([{"name": "t", "inputSchema": schema, "annotations": schema}]))
    assert item.proposal is not None

"""What is kept of rules for the next process: it saves time, and changes nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import policy
from policy import Caller, PolicyStore, ToolCall, Verdict
from policy.reload import Generation

RULES = """policy for every agent
default deny
paths source = "/srv/**"
read-some: allow file_read when reads only source
some: allow file_write when writes only source
ask-some: ask file_write
  because "somebody should look"
never: deny file_read
  when input.path == "/srv/secret"
  unless session.role in ["dev", "ops"]
often: allow web_fetch with approval when connects only to "*.example.com" remember 1h up to 3 times
"""
READ = ToolCall(tool="file_read", input={"path": "/srv/a"})
SECRET = ToolCall(tool="file_read", input={"path": "/srv/secret"})


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Return a policy folder."""
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "a.policy").write_text(RULES)
    return folder


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return where the cache is, which is made when it is needed."""
    return tmp_path / "kept"


def only_file(kept: Path) -> Path:
    (file,) = kept.iterdir()
    return file


def told(generation: Generation) -> Any:
    """Return what a generation says and where its rules stand."""
    layers = generation.program.policy.layers
    return (
        [(layer.key, [(rule, rule.span) for rule in layer.rules]) for layer in layers],
        generation.warnings,
        [generation.decide(call, Caller(role=role)).verdict for call in (READ, SECRET)
         for role in ("dev", "guest")],
    )  # fmt: skip


def are_stored(generation: Generation) -> set[bool]:
    """Return whether the rules were read from the cache."""
    rules = [rule for layer in generation.program.policy.layers for rule in layer.rules]
    return {type(rule).__name__ == "StoredRule" for rule in rules}


def test_a_second_load_is_the_first_one(rules: Path, kept: Path) -> None:
    cold = policy.load(rules)
    first = policy.load(rules, cache=kept)
    second = policy.load(rules, cache=kept)
    assert (are_stored(first), are_stored(second)) == ({False}, {True})
    assert told(cold) == told(first) == told(second)


def test_nothing_is_kept_unless_asked(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    policy.load(rules)
    assert not (tmp_path / "home").exists()
    policy.load(rules, cache=True)
    assert only_file(tmp_path / "home" / "placet").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "home" / "placet").stat().st_mode & 0o777 == 0o700


def test_a_rule_that_changed_is_checked(rules: Path, kept: Path) -> None:
    policy.load(rules, cache=kept)
    (rules / "a.policy").write_text("# moved\n" + RULES.replace('"/srv/secret"', '"/srv/a"'))
    changed = policy.load(rules, cache=kept)
    assert told(changed) == told(policy.load(rules))
    assert are_stored(changed) == {True, False}
    assert changed.decide(READ).verdict is Verdict.DENY


def test_a_name_that_changed_leaves_nothing_known(rules: Path, kept: Path) -> None:
    policy.load(rules, cache=kept)
    (rules / "a.policy").write_text(RULES.replace('source = "/srv/**"', 'source = "/tmp/**"'))
    changed = policy.load(rules, cache=kept)
    assert told(changed) == told(policy.load(rules))
    assert are_stored(changed) == {False}
    assert changed.decide(READ).verdict is Verdict.DENY


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _of_another_version(content: bytes) -> bytes:
    first, _, rest = content.partition(b"\n")
    return json.dumps(json.loads(first) | {"code": "another"}).encode() + b"\n" + rest


def _loosened(content: bytes) -> bytes:
    return content.replace(b'"deny"', b'"allow"')


def _split(content: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return what the first line of a file says, and its parts."""
    first, _, rest = content.partition(b"\n")
    parts = []
    for size, _digest in json.loads(first)["parts"]:
        parts.append(rest[:size])
        rest = rest[size:]
    assert not rest
    return json.loads(first), parts


def _signed(content: bytes, *parts: bytes, **said: object) -> bytes:
    """Return the file with other parts and the digests of those."""
    written = [[len(part), hashlib.sha256(part).hexdigest()] for part in parts]
    first = _split(content)[0] | {"parts": written} | said
    return json.dumps(first).encode() + b"\n" + b"".join(parts)


# The columns of rules, by what they hold.
HEAD, TOOLS, SLOTS, TEXT, ENDS = 1, 2, 7, 8, 12


def _with(change: Callable[[list[Any]], object]) -> Callable[[bytes], bytes]:
    """Return what changes the tables of a file and signs it: contexts, selectors, terms, heads,
    rules."""

    def changed(content: bytes) -> bytes:
        tables, *rest = _split(content)[1]
        found = json.loads(tables)
        change(found)
        return _signed(content, json.dumps(found).encode(), *rest)

    return changed


def _put(table: int, column: int, value: Any) -> Callable[[bytes], bytes]:
    """Return what puts a value at the first place of a column, and signs the file."""
    return _with(lambda tables: tables[table][column].__setitem__(0, value))


def _tables(told: bytes) -> Callable[[bytes], bytes]:
    """Return what puts other tables into a file and signs it."""
    return lambda content: _signed(content, told, *_split(content)[1][1:])


def _texts(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Return what changes the texts of a file and signs it."""

    def changed(content: bytes) -> bytes:
        tables, conditions, texts = _split(content)[1]
        return _signed(content, tables, conditions, change(texts))

    return changed


def _moved(content: bytes) -> bytes:
    """Return the file with the end of its first part at the beginning of its second one."""
    written, parts = _split(content)
    written["parts"][0][0] -= 1
    written["parts"][1][0] += 1
    return json.dumps(written).encode() + b"\n" + b"".join(parts)


ODD: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": _cut,
    "of another version": _of_another_version,
    "loosened": _loosened,
    "no JSON": _tables(b"[1,2"),
    "too few tables": _tables(b"[3,1,4]"),
    "no tables": _tables(b"[3,1,4,1,5]"),
    "deep": _tables(b"[" * 100_000),
    "too few parts": lambda content: _signed(content, *_split(content)[1][:2]),
    "a part more": lambda content: _signed(content, *_split(content)[1], b""),
    "no parts": lambda content: _signed(content),
    "parts at other places": _moved,
    "parts of no size": lambda content: _signed(content, parts=[["1", ""]]),
    "a part of less than nothing": lambda content: _signed(
        content, b"xx", parts=[[-1, ""], [3, ""]]
    ),
    "parts that are none": lambda content: _signed(content, parts=3),
    "a first line without end": lambda content: b" " * 5_000 + content,
    "no texts": _texts(lambda texts: b""),
    "a text too few": _texts(lambda texts: texts[: texts[:-1].rindex(b"\0") + 1]),
    "a text too many": _texts(lambda texts: texts + b"\0"),
    "texts of another encoding": _texts(lambda texts: b"\xff" + texts[1:]),
    "no text": _tables(b"\xff"),
    "no header": lambda content: b"[" * 100_000,
    "a list": lambda content: b"[]\n",
    "a context that is no text": _with(lambda tables: tables[0].__setitem__(0, ["x"])),
    "no node": _with(
        lambda tables: (tables[1][0].append('["Popen","x"]'), tables[1][1].append(None))
    ),
    "a node of another kind": _with(lambda tables: tables[2].__setitem__(0, '["Constant",1]')),
    "a selector of no name": _put(1, 0, ""),
    "a verdict that is none": _put(3, 2, "maybe"),
    "a flag that is a number": _put(3, 1, 0),
    "a number that is a flag": _put(4, SLOTS, False),
    "a number that is a fraction": _put(4, HEAD, 0.0),
    "a name that is a list": _put(3, 0, []),
    "a row too few": _with(lambda tables: tables[4][TEXT].pop()),
    "a column too few": _with(lambda tables: tables[4].pop()),
    "a column of heads too many": _with(lambda tables: tables[3].append(tables[3][0])),
    "a head that is not there": _put(4, HEAD, 99),
    "a head from the end": _put(4, HEAD, -1),
    "tools that are not there": _put(4, TOOLS, 10**30),
    "terms from the end": _put(4, 9, -1),
    "a text from the end": _put(4, TEXT, -3),
    "slots below none": _put(4, SLOTS, -1),
    "an end before the beginning": _put(4, ENDS, -1),
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_file_counts_as_none(rules: Path, kept: Path, odd: str) -> None:
    cold = policy.load(rules, cache=kept)
    file = only_file(kept)
    file.write_bytes(ODD[odd](file.read_bytes()))
    again = policy.load(rules, cache=kept)
    assert are_stored(again) == {False}
    assert told(again) == told(cold)
    assert are_stored(policy.load(rules, cache=kept)) == {True}  # it was written anew


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_changed_byte_changes_nothing(data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        folder = Path(_shared_folder(patch))
        cold = policy.load(folder / "rules")
        content = bytearray(only_file(folder / "kept").read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
        only_file(folder / "kept").write_bytes(content)
        assert told(policy.load(folder / "rules", cache=folder / "kept")) == told(cold)


def _shared_folder(patch: pytest.MonkeyPatch) -> str:
    import tempfile

    folder = tempfile.mkdtemp()
    (Path(folder) / "rules").mkdir()
    (Path(folder) / "rules" / "a.policy").write_text(RULES)
    policy.load(Path(folder) / "rules", cache=Path(folder) / "kept")
    return folder


def _with_conditions(told: bytes) -> Callable[[bytes], bytes]:
    """Return what puts other conditions into every rule, and signs the file."""

    def changed(content: bytes) -> bytes:
        tables, _, texts = _split(content)[1]
        found = json.loads(tables)
        number = len(found[4][ENDS])
        found[4][ENDS] = [len(told) * place for place in range(1, number + 1)]
        return _signed(content, json.dumps(found).encode(), told * number, texts)

    return changed


@pytest.mark.parametrize(
    "spoil",
    [
        _with_conditions(b'["Truth",["Constant",true],"no such text"]\tnull'),
        _with_conditions(b'["Popen","x"]\t["Popen","x"]'),
        _with_conditions(b"[" * 100_000),
        _with_conditions(b"\t"),
        _with(lambda tables: tables[4].__setitem__(ENDS, [0] * len(tables[4][ENDS]))),
        _with(lambda tables: tables[4][ENDS].reverse()),
    ],
)
def test_conditions_that_are_none_give_nothing_and_take(
    rules: Path, kept: Path, spoil: Callable[[bytes], bytes]
) -> None:
    """A file with a right digest and a wrong condition was made on purpose: it fails closed."""
    policy.load(rules, cache=kept)
    file = only_file(kept)
    file.write_bytes(spoil(file.read_bytes()))
    generation = policy.load(rules, cache=kept)
    assert are_stored(generation) == {True}
    assert generation.decide(READ).verdict is Verdict.DENY
    assert generation.decide(ToolCall(tool="web_fetch", input={"url": "https://a.example.com"})
                             ).verdict is Verdict.DENY  # fmt: skip


def _linked(file: Path) -> None:
    file.rename(file.parent.parent / "elsewhere")
    file.symlink_to(file.parent.parent / "elsewhere")


def _named_twice(file: Path) -> None:
    os.link(file, file.parent.parent / "another-name")


def _a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def _a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir(0o700)


@pytest.mark.parametrize(
    "spoil",
    [
        _linked,
        _named_twice,
        lambda file: file.chmod(0o640),
        lambda file: file.parent.chmod(0o755),
        _a_pipe,
        _a_folder,
    ],
)
def test_a_file_that_others_could_have_written_counts_as_none(
    rules: Path, kept: Path, spoil: Callable[[Path], object]
) -> None:
    cold = policy.load(rules, cache=kept)
    spoil(only_file(kept))
    again = policy.load(rules, cache=kept)
    assert are_stored(again) == {False}
    assert told(again) == told(cold)


def test_the_file_of_another_policy_counts_as_none(rules: Path, kept: Path) -> None:
    policy.load(rules, cache=kept)
    other = rules.with_name("other")
    other.mkdir()
    (other / "a.policy").write_text(RULES.replace("/srv/**", "/tmp/**"))
    mine = only_file(kept)
    before = mine.read_bytes()
    policy.load(other, cache=kept)
    theirs = next(file for file in kept.iterdir() if file != mine)
    theirs.write_bytes(before)
    again = policy.load(other, cache=kept)
    assert told(again) == told(policy.load(other))


def test_no_tool_may_write_the_cache(rules: Path, kept: Path) -> None:
    (rules / "a.policy").write_text("policy for every agent\ndefault allow\n")
    write = ToolCall(tool="file_write", input={"path": str(kept / "x"), "content": ""})
    assert policy.load(rules).decide(write).verdict is Verdict.ALLOW
    assert policy.load(rules, cache=kept).decide(write).verdict is Verdict.DENY
    assert PolicyStore(rules, cache=kept).decide(write).verdict is Verdict.DENY


def test_a_store_begins_with_what_another_found_out(rules: Path, kept: Path) -> None:
    first = PolicyStore(rules, cache=kept)
    second = PolicyStore(rules, cache=kept)
    assert first.current is not None and second.current is not None
    assert (are_stored(first.current), are_stored(second.current)) == ({False}, {True})
    (rules / "b.policy").write_text("policy for every agent\nlate: deny file_read\n")
    second.reload()
    assert second.current is not None
    assert told(second.current) == told(policy.load(rules))


def test_files_of_policies_long_gone_go(rules: Path, kept: Path) -> None:
    kept.mkdir(0o700)
    for number in range(80):
        old = kept / f"{number:040}.known"
        old.write_bytes(b"")
        os.utime(old, (number, number))
    policy.load(rules, cache=kept)
    assert len(list(kept.iterdir())) == 64
    assert are_stored(policy.load(rules, cache=kept)) == {True}


def test_files_of_others_in_the_same_folder_stay(rules: Path, kept: Path) -> None:
    kept.mkdir(mode=0o700)
    others = {
        kept / f"mine{number}{ending}" for number in range(70) for ending in (".new", ".known")
    }
    for other in others:
        other.write_text("x")
    policy.load(rules, cache=kept)
    assert others < set(kept.iterdir())


def test_an_empty_name_is_no_folder(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir(mode=0o700)
    monkeypatch.chdir(tmp_path / "here")
    policy.load(rules, cache="")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("cache", [False, True])
def test_no_tool_writes_where_another_process_may_keep_its_cache(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: bool
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    (rules / "a.policy").write_text("policy for every agent\ndefault allow\n")
    target = str(tmp_path / "caches" / "placet" / "x.known")
    call = ToolCall(tool="file_write", input={"path": target, "content": ""})
    for decided in (policy.load(rules, cache=cache), PolicyStore(rules, cache=cache)):
        decision = decided.decide(call)
        assert (decision.verdict, decision.reasons[0].rule) == (Verdict.DENY, "floor")


# Loads a policy again and again, the file taken away every other time so that it is written anew,
# and says what was decided and whether every load knew or checked all of the rules.
LOADING = """
import sys
from contextlib import suppress
from pathlib import Path
import policy
from policy import ToolCall
rules, kept, rounds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
calls = [ToolCall(tool="file_read", input={"path": path}) for path in ("/srv/a", "/srv/secret")]
for number in range(rounds):
    if number % 2:
        for file in list(kept.glob("*.known")):
            with suppress(FileNotFoundError):
                file.unlink()
    made = policy.load(rules, cache=kept)
    stored = {type(r).__name__ for layer in made.program.policy.layers for r in layer.rules}
    print(*stored, *(made.decide(call).verdict for call in calls))
"""


def test_processes_that_write_one_file_at_once_leave_it_whole(rules: Path, kept: Path) -> None:
    program = [sys.executable, "-c", LOADING, str(rules), str(kept), "40"]
    running = [subprocess.Popen(program, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    printed = [process.communicate(timeout=100)[0].splitlines() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert [len(lines) for lines in printed] == [40, 40, 40]
    said = {line for lines in printed for line in lines}
    assert said <= {"CheckedRule allow deny", "StoredRule allow deny"}
    policy.load(rules, cache=kept)
    assert only_file(kept).suffix == ".known"
    again = policy.load(rules, cache=kept)
    assert are_stored(again) == {True}
    assert told(again) == told(policy.load(rules))


def test_two_writers_in_one_process_write_files_of_their_own(
    rules: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    replace = os.replace

    def begin_another(source: str, target: str) -> None:
        written.append(source)
        if len(written) == 1:
            policy.load(rules, cache=kept)
        replace(source, target)

    monkeypatch.setattr(os, "replace", begin_another)
    policy.load(rules, cache=kept)
    assert len(set(written)) == 2
    assert only_file(kept).suffix == ".known"
    assert are_stored(policy.load(rules, cache=kept)) == {True}

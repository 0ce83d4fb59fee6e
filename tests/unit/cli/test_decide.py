"""`placet decide`: the format of its input and output lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.running import POLICY, decide, rules_in, run

READ: dict[str, Any] = {"tool": "file_read", "input": {"path": "a.txt"}}
MCP_SERVERS = Path(__file__).parents[2] / "data" / "mcp_servers"


def verdict(rules: Path, call: dict[str, Any], *options: str | Path) -> str:
    record = decide(rules, call, *options).record
    assert "error" not in record
    return str(record["verdict"])


class TestAnAnswer:
    def test_it_holds_all_that_the_interface_says(self, tmp_path: Path) -> None:
        record = decide(rules_in(tmp_path), {"id": "7", **READ}).record
        digest = record["generation"].pop("digest")
        assert digest.startswith("sha256:") and len(digest) == 71
        assert record == {
            "id": "7",
            "verdict": "allow",
            "input": {"path": "a.txt", "encoding": "utf-8"},
            "rewritten": False,
            "reasons": [
                {
                    "rule": "read",
                    "verdict": "allow",
                    "layer": "every agent",
                    "file": "global.policy",
                    "line": 7,
                    "clause": "reads only workspace",
                    "message": None,
                }
            ],
            "generation": {"number": 1},
            "workspace": {"path": "/srv/work", "from": "call"},
        }

    @pytest.mark.parametrize("id", ["7", "", 7, 0, -1, 10**300, None, "\u202e é"])
    def test_it_echoes_the_id(self, tmp_path: Path, id: object) -> None:
        assert decide(rules_in(tmp_path), {"id": id, **READ}).record["id"] == id

    def test_it_lists_the_reasons_that_carry_the_verdict_first(self, tmp_path: Path) -> None:
        call = {"tool": "file_read", "input": {"path": ".ssh/id"}}
        reasons = decide(rules_in(tmp_path), call).record["reasons"]
        assert [(reason["rule"], reason["verdict"]) for reason in reasons] == [
            ("keys", "deny"),
            ("read", "allow"),
        ]
        assert reasons[0]["message"] == "keys stay here"

    def test_it_holds_the_input_that_would_run(self, tmp_path: Path) -> None:
        call = {"tool": "bash_exec", "input": {"command": "git status", "timeout": 100}}
        record = decide(rules_in(tmp_path), call).record
        assert record["rewritten"] is True
        assert record["input"] == {"command": "git status", "timeout": 60}

    def test_it_says_what_could_not_be_decided(self, tmp_path: Path) -> None:
        call = {"tool": "bash_exec", "input": {"command": "ls $(cat list)"}}
        assert any("indeterminate" in r for r in decide(rules_in(tmp_path), call).record["reasons"])

    def test_it_is_plain_ascii(self, tmp_path: Path) -> None:
        ran = decide(rules_in(tmp_path), {"id": "\u202e", "tool": "file_read", "input": {}})
        assert ran.out.isascii()

    def test_numbers_that_no_double_holds_come_out_as_they_went_in(self, tmp_path: Path) -> None:
        catalog = tmp_path / "tools.json"
        schema = {"type": "object", "properties": {"n": {"type": "number"}}}
        catalog.write_text(json.dumps([{"name": "count", "inputSchema": schema}]))
        rules = rules_in(tmp_path)
        number = "1.00000000000000000000000000001"
        line = f'{{"tool": "count", "input": {{"n": {number}}}}}'
        assert (
            f'"input": {{"n": {number}}}' in decide(rules, line.encode(), "--catalog", catalog).out
        )

    def test_deciding_is_deterministic(self, tmp_path: Path) -> None:
        rules = rules_in(tmp_path)
        line = json.dumps({"workspace": "/srv/work", **READ})
        first, second = run("decide", rules, stdin=f"{line}\n\n  \n{line}").lines
        assert first == second


class TestTheCaller:
    def test_without_one_it_is_the_owner_as_agent_default(self, tmp_path: Path) -> None:
        text = (
            "policy for every agent\ndefault deny\n"
            'who: allow list_tools when agent.name == "default" and session.role == "owner"\n'
        )
        served = '[serve]\nagent = "other"\nrole = "guest"\n'
        rules = rules_in(tmp_path, text, placet__toml=served)
        assert verdict(rules, {"tool": "list_tools"}) == "allow"
        assert verdict(rules, {"tool": "list_tools", "caller": None}) == "allow"
        assert verdict(rules, {"tool": "list_tools", "caller": {}}) == "allow"
        assert verdict(rules, {"tool": "list_tools", "caller": {"agent": "x"}}) == "deny"

    @pytest.mark.parametrize(
        ("condition", "caller"),
        [
            ('agent.name == "coder"', {"agent": "coder"}),
            ('session.id == "s1"', {"session": "s1"}),
            ('session.role == "reviewer"', {"role": "reviewer"}),
            ('user.id == "ada"', {"user": "ada"}),
            ('"ops" in user.groups', {"groups": ["dev", "ops"]}),
            ('agent.parent == "boss"', {"parent": {"agent": "boss"}}),
            ("agent.depth == 2", {"parent": {"parent": {}}}),
        ],
    )
    def test_every_part_is_seen_by_the_rules(
        self, tmp_path: Path, condition: str, caller: dict[str, Any]
    ) -> None:
        # Taking rules are asked of the whole chain, so this one denies where the part is there.
        text = f"policy for every agent\ndefault allow\nx: deny list_tools when {condition}\n"
        rules = rules_in(tmp_path, text)
        assert verdict(rules, {"tool": "list_tools", "caller": caller}) == "deny"
        assert verdict(rules, {"tool": "list_tools"}) == "allow"

    def test_a_parent_that_may_not_makes_the_child_may_not(self, tmp_path: Path) -> None:
        others = {"child__policy": 'policy for agent "boss"\ndeny list_tools\n'}
        text = "policy for every agent\ndefault allow\n"
        rules = rules_in(tmp_path, text, **others)
        call = {"tool": "list_tools", "caller": {"agent": "worker", "parent": {"agent": "boss"}}}
        assert verdict(rules, call) == "deny"
        assert verdict(rules, {"tool": "list_tools", "caller": {"agent": "worker"}}) == "allow"

    def test_a_guest_stays_within_scope_and_time(self, tmp_path: Path) -> None:
        rules = rules_in(tmp_path)
        scope = {"allowed_tools": ["file_re*"], "expires_at": "2026-11-22T00:00:00Z"}
        guest = {"role": "guest", "scope": scope}
        before, after = "2026-11-21T23:59:59Z", "2026-11-22T00:00:00Z"
        assert verdict(rules, {**READ, "caller": guest, "now": before}) == "allow"
        assert verdict(rules, {**READ, "caller": guest, "now": after}) == "deny"
        assert verdict(rules, {**READ, "caller": guest}) == "deny"
        assert verdict(rules, {**READ, "caller": {"role": "guest"}, "now": before}) == "deny"
        listing = {"tool": "file_list", "input": {"path": "."}}
        assert verdict(rules, {**listing, "caller": guest, "now": before}) == "deny"
        denied = decide(rules, {**listing, "caller": guest, "now": before}).record
        assert denied["reasons"][0]["rule"] == "scope"

    def test_anonymous_may_do_nothing(self, tmp_path: Path) -> None:
        record = decide(rules_in(tmp_path), {**READ, "caller": {"role": "anonymous"}}).record
        assert record["verdict"] == "deny"
        assert record["reasons"][0]["rule"] == "identity"


class TestTheFacts:
    def test_folders_place_relative_paths(self, tmp_path: Path) -> None:
        rules = rules_in(tmp_path)
        assert verdict(rules, {**READ, "cwd": "/srv/work/deep"}) == "allow"
        assert verdict(rules, {**READ, "cwd": "/etc"}) == "deny"
        home = {"tool": "file_read", "input": {"path": "~/a"}}
        assert verdict(rules, {**home, "home": "/srv/work/home"}) == "allow"
        assert verdict(rules, {**home, "home": "/root"}) == "deny"

    def test_without_any_workspace_it_is_the_current_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        work = tmp_path / "work"
        work.mkdir()
        monkeypatch.chdir(work)
        call = {"tool": "file_read", "input": {"path": str(work / "a")}, "workspace": None}
        record = decide(rules_in(tmp_path), call).record
        assert record["verdict"] == "allow"
        assert record["workspace"] == {"path": str(work), "from": "current folder"}
        outside = {**call, "input": {"path": "../a"}}
        assert verdict(tmp_path / "rules", outside) == "deny"

    def test_the_root_folder_is_never_the_workspace_of_a_call(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir("/")
        call = {"tool": "file_read", "input": {"path": "/etc/hostname"}, "workspace": None}
        record = decide(rules_in(tmp_path), call).record
        assert (record["verdict"], record["workspace"]) == ("deny", None)

    def test_a_removed_current_folder_is_no_workspace(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        rules = rules_in(tmp_path)
        monkeypatch.chdir(gone)
        gone.rmdir()
        call = {"tool": "file_read", "input": {"path": "a"}, "workspace": None}
        record = decide(rules, call).record
        assert (record["verdict"], record["workspace"]) == ("deny", None)

    def test_the_configured_workspace_stands_in(self, tmp_path: Path) -> None:
        rules = rules_in(tmp_path, placet__toml='[service]\nworkspace = "/srv/other"\n')
        call = {"tool": "file_read", "input": {"path": "/srv/other/a"}, "workspace": None}
        assert verdict(rules, call) == "allow"

    def test_the_clock_is_the_lines_own(self, tmp_path: Path) -> None:
        text = (
            "policy for every agent\ndefault deny\n"
            'x: allow list_tools when now < time("2026-11-21T20:00:00Z")\n'
        )
        rules = rules_in(tmp_path, text)
        call = {"tool": "list_tools"}
        assert verdict(rules, {**call, "now": "2026-11-21T20:59:59+01:00"}) == "allow"
        assert verdict(rules, {**call, "now": "2026-11-21T20:00:00Z"}) == "deny"
        assert verdict(rules, call) == "deny"

    def test_declared_context_is_seen(self, tmp_path: Path) -> None:
        text = (
            "policy for every agent\ndefault deny\nx: allow list_tools when context.calm == true\n"
        )
        rules = rules_in(tmp_path, text, placet__toml='[context]\ncalm = "boolean"\n')
        for given, expected in (({"calm": True}, "allow"), ({"calm": "yes"}, "deny"), ({}, "deny")):
            assert verdict(rules, {"tool": "list_tools", "facts": {"context": given}}) == expected

    @pytest.mark.parametrize(
        ("answers", "expected"),
        [
            ({"a.example.com": ["93.184.216.34"]}, "allow"),
            ({"a.example.com": ["93.184.216.34", "10.0.0.1"]}, "deny"),
            ({"a.example.com": ["::1", "fd00::1"]}, "deny"),
            ({"a.example.com": None}, "deny"),
            ({"a.example.com": []}, "deny"),
            ({"a.example.com": ["garbage"]}, "deny"),
            ({}, "deny"),
            (None, "allow"),
        ],
    )
    def test_addresses_come_from_the_resolver_given(
        self, tmp_path: Path, answers: dict[str, Any] | None, expected: str
    ) -> None:
        call = {"tool": "web_fetch", "input": {"url": "https://a.example.com/"}}
        assert verdict(rules_in(tmp_path), {**call, "facts": {"resolver": answers}}) == expected

    def test_earlier_calls_are_read(self, tmp_path: Path) -> None:
        past = {
            "tool": "web_fetch",
            "input": {},
            "result": {"text": ["x"], "n": 1.5},
            "at": "2026-11-21T19:59:00Z",
            "session": "s1",
            "agent": "coder",
            "user": "ada",
        }
        outcomes = ("ok", "failed", "timeout", "cancelled", "running")
        history = [{**past, "outcome": outcome} for outcome in outcomes] + [{"tool": "x"}]
        assert verdict(rules_in(tmp_path), {**READ, "history": history}) == "allow"

    def test_what_the_user_wrote_is_read(self, tmp_path: Path) -> None:
        call = {**READ, "said": ["read a.txt"]}
        assert verdict(rules_in(tmp_path), call) == "allow"

    def test_a_sandbox_makes_only_hold_and_the_answer_has_the_confinement(
        self, tmp_path: Path
    ) -> None:
        allow = 'tests: allow bash_exec when runs only "make *" and connects only to "a.test"\n'
        rules = rules_in(tmp_path, "policy for every agent\ndefault deny\n" + allow)
        call = {"tool": "bash_exec", "input": {"command": "make"}}
        assert verdict(rules, call) == "deny"
        confined = {**call, "facts": {"sandbox": {"tier": "mine", "enforces": ["connects"]}}}
        record = decide(rules, confined).record
        assert record["verdict"] == "allow"
        assert record["confinement"]["connects"]["within"] == [
            [{"rule": "tests", "items": ["a.test"]}]
        ]
        assert record["confinement"]["relied_on"] == ["connects"]


class TestLinks:
    def test_a_link_of_this_disk_is_followed_unless_lexical(self, tmp_path: Path) -> None:
        work = tmp_path / "work"
        work.mkdir()
        (work / "out").symlink_to("/etc")
        call = {**READ, "workspace": str(work), "input": {"path": "out/passwd"}}
        rules = rules_in(tmp_path)
        assert verdict(rules, call) == "deny"
        assert verdict(rules, call, "--lexical") == "allow"

    def test_a_loop_of_links_is_never_allowed(self, tmp_path: Path) -> None:
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        call = {**READ, "workspace": str(tmp_path), "input": {"path": "loop"}}
        assert verdict(rules_in(tmp_path), call) == "deny"


NO_CALLS: dict[str, tuple[bytes, str]] = {
    "no json": (b"file_read", "not-json"),
    "half of it": (b'{"tool": "file_read", ', "not-json"),
    "two values": (b'{"tool": "file_read"} {}', "not-json"),
    "a duplicate key": (b'{"tool": "list_tools", "tool": "file_read"}', "not-json"),
    "a duplicate key inside": (
        b'{"tool": "file_read", "input": {"path": 1, "path": 2}}',
        "not-json",
    ),
    "NaN": (b'{"tool": "file_read", "input": {"a": NaN}}', "not-json"),
    "Infinity": (b'{"tool": "file_read", "input": {"a": -Infinity}}', "not-json"),
    "1e999": (b'{"tool": "file_read", "input": {"a": 1e999}}', "not-json"),
    "a huge integer": (b'{"tool": "x", "input": {"a": ' + b"9" * 5000 + b"}}", "not-json"),
    "a huge exponent": (b'{"tool": "x", "input": {"a": 0e99999999999999999999}}', "not-json"),
    "latin-1": ('{"tool": "é"}'.encode("latin-1"), "not-json"),
    "utf-16": ('{"tool": "x"}'.encode("utf-16"), "not-json"),
    "a byte order mark": (b'\xef\xbb\xbf{"tool": "x"}', "not-json"),
    "a NUL": (b'{"tool": "file\x00read"}', "not-json"),
    "a lone surrogate": (b'{"tool": "\\ud800"}', "not-json"),
    "a deep list": (b"[" * 100_000, "not-json"),
    "a deep input": (b'{"tool": "x", "input": ' + b"[" * 65 + b"]" * 65 + b"}", "not-json"),
    "a list": (b'[{"tool": "file_read"}]', "not-a-call"),
    "a text": (b'"file_read"', "not-a-call"),
    "null": (b"null", "not-a-call"),
    "no tool": (b'{"input": {}}', "not-a-call"),
    "a tool that is not a string": (b'{"tool": ["file_read"]}', "not-a-call"),
    "an unknown key": (b'{"tool": "file_read", "inputs": {}}', "not-a-call"),
    "an id that is an object": (b'{"id": {}, "tool": "x"}', "not-a-call"),
    "an id that is true": (b'{"id": true, "tool": "x"}', "not-a-call"),
    "an id with a fraction": (b'{"id": 1.5, "tool": "x"}', "not-a-call"),
    "a relative folder": (b'{"tool": "x", "cwd": "../.."}', "not-a-call"),
    "a caller that is a text": (b'{"tool": "x", "caller": "owner"}', "not-a-call"),
    "an unknown key of the caller": (b'{"tool": "x", "caller": {"rol": "guest"}}', "not-a-call"),
    "groups that are a text": (b'{"tool": "x", "caller": {"groups": "ops"}}', "not-a-call"),
    "a time in words": (b'{"tool": "x", "now": "today"}', "not-a-call"),
    "a time as a number": (b'{"tool": "x", "now": 0}', "not-a-call"),
    "an unknown outcome": (
        b'{"tool": "x", "history": [{"tool": "y", "outcome": "so"}]}',
        "not-a-call",
    ),
    "an address that is a number": (
        b'{"tool": "x", "facts": {"resolver": {"a": [1]}}}',
        "not-a-call",
    ),
    "an unknown fact": (b'{"tool": "x", "facts": {"dns": {}}}', "not-a-call"),
}


@pytest.mark.parametrize(("line", "code"), NO_CALLS.values(), ids=NO_CALLS)
def test_a_line_that_is_no_call_gets_an_error_and_the_others_their_verdicts(
    tmp_path: Path, line: bytes, code: str
) -> None:
    text = "policy for every agent\ndefault allow\n"
    good = b'{"id": "good", "tool": "list_tools"}'
    ran = run("decide", rules_in(tmp_path, text), stdin=b"\n".join((good, line, good)))
    assert ran.code == 2
    first, error, last = ran.lines
    assert first == last
    assert first["verdict"] == "allow"
    assert set(error) == {"id", "error"}
    assert set(error["error"]) == {"code", "message"}
    assert error["error"]["code"] == code
    assert error["error"]["message"].isprintable()
    assert "pydantic" not in str(error)


def test_an_error_echoes_the_id_where_there_is_one(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    assert decide(rules, b'{"id": 7}').record == {
        "id": 7,
        "error": {"code": "not-a-call", "message": "`tool` is missing"},
    }
    wrong = decide(rules, b'{"id": "a", "tool": "x", "caller": {"usr": "ada"}}').record
    assert wrong["id"] == "a"
    assert (
        wrong["error"]["message"] == "`caller.usr` is not a field of a call: did you mean `user`?"
    )


@pytest.mark.parametrize(
    "call",
    [
        {"tool": "file_read"},
        {"tool": "file_read", "input": None},
        {"tool": "file_read", "input": []},
        {"tool": "file_read", "input": "not JSON"},
        {"tool": "file_read", "input": {"path": None}},
        {"tool": "file_read", "input": {"path": "a", "unknown": 1}},
        {"tool": "", "input": {}},
        {"tool": "\u202efile_read", "input": {"path": "a"}},
        {"tool": "no_such_tool", "input": {}},
        {"tool": "x" * 100_000, "input": {}},
    ],
)
def test_a_call_that_cannot_be_admitted_is_denied_by_schema(
    tmp_path: Path, call: dict[str, Any]
) -> None:
    rules = rules_in(tmp_path, "policy for every agent\ndefault allow\n")
    record = decide(rules, call).record
    assert record["verdict"] == "deny"
    assert [reason["rule"] for reason in record["reasons"]] == ["schema"]
    assert len(record["reasons"][0]["message"]) < 1000


@pytest.mark.parametrize(
    "path",
    ["a\0b", "/" + "a/" * 2000, "/" + "a/" * 500_000, "/" + "../" * 10_000 + "etc/passwd"],
    ids=["NUL", "two thousand folders", "a megabyte", "up and up"],
)
def test_a_path_beyond_all_bounds_is_denied(tmp_path: Path, path: str) -> None:
    assert verdict(rules_in(tmp_path), {"tool": "file_read", "input": {"path": path}}) == "deny"


def test_ten_megabytes_of_arguments_are_judged(tmp_path: Path) -> None:
    call = {"tool": "file_write", "input": {"path": "a", "content": "x" * 10_000_000}}
    assert verdict(rules_in(tmp_path), call) == "allow"


def test_a_line_beyond_the_limit_is_one_error(tmp_path: Path) -> None:
    read = json.dumps({"workspace": "/srv/work", **READ}).encode()
    for filler in (b"a", b" "):
        folder = tmp_path / filler.hex()
        folder.mkdir()
        long = filler * (17 * 1024 * 1024)
        ran = run("decide", rules_in(folder), stdin=long + read + b"\n" + read)
        assert ran.code == 2
        error, answer = ran.lines
        assert error["error"] == {"code": "not-json", "message": "more bytes than the limit"}
        assert answer["verdict"] == "allow"


def test_calls_are_read_from_a_file(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    calls = tmp_path / "calls.jsonl"
    calls.write_text(json.dumps({"id": 1, **READ}) + "\r\n" + json.dumps({"id": 2, **READ}))
    assert [record["id"] for record in run("decide", rules, "--call", calls).lines] == [1, 2]
    missing = run("decide", rules, "--call", tmp_path / "none")
    assert (missing.code, missing.out) == (2, "")
    folder = run("decide", rules, "--call", tmp_path)
    assert (folder.code, folder.out) == (2, "")


def test_nothing_is_answered_by_a_wrong_policy(tmp_path: Path) -> None:
    ran = decide(rules_in(tmp_path, POLICY + "x: alow y\n"), READ)
    assert (ran.code, ran.out) == (1, "")


class TestACatalogue:
    @pytest.mark.parametrize(
        ("server", "tool", "input"),
        [
            ("everything", "echo", {"message": "hi"}),
            ("filesystem", "read_text_file", {"path": "a"}),
            ("git", "git_status", {"repo_path": "/srv/work"}),
        ],
    )
    def test_an_answer_to_tools_list_adds_its_tools(
        self, tmp_path: Path, server: str, tool: str, input: dict[str, Any]
    ) -> None:
        rules = rules_in(tmp_path, "policy for every agent\ndefault allow\n")
        catalog = MCP_SERVERS / f"{server}.json"
        call = {"tool": tool, "input": input}
        assert verdict(rules, call, "--catalog", catalog) == "allow"
        assert verdict(rules, call) == "deny"
        wrong = {"tool": tool, "input": {**input, "nope": 1}}
        record = decide(rules, wrong, "--catalog", catalog).record
        assert record["reasons"][0]["rule"] == "schema"

    @pytest.mark.parametrize("key", ["inputSchema", "input_schema", "parameters"])
    def test_a_list_of_definitions_adds_and_replaces(self, tmp_path: Path, key: str) -> None:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        catalog = tmp_path / "tools.json"
        tools = [{"name": "greet", key: schema}, {"name": "file_read", key: schema}]
        catalog.write_text(json.dumps(tools))
        rules = rules_in(tmp_path, "policy for every agent\ndefault allow\n")
        for tool in ("greet", "file_read"):
            call = {"tool": tool, "input": {"name": "ada"}}
            assert verdict(rules, call, "--catalog", catalog) == "allow"

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"nope", "cannot be read as JSON"),
            (b"\xff\xfe", "cannot be read as JSON"),
            (b"", "cannot be read as JSON"),
            (b"{}", "this is neither a list of tools nor an answer to tools/list"),
            (b"[1]", "tool 1: it is not an object"),
            (b'[{"inputSchema": {}}]', "tool 1: `name` must be a string"),
            (b'[{"name": "a\\u202eb"}]', "tool 1: `name` must be a string"),
            (b'[{"name": "a"}, {"name": "a"}]', "tool 2: `a` is listed twice"),
            (b'[{"name": "a", "inputSchema": {"type": 5}}]', "tool 1: `a` cannot be called"),
            (b'[{"name": "a", "inputSchema": {"$ref": "http://x/"}}]', "tool 1: `a` cannot be"),
            (b'[{"name": "a", "name": "b"}]', "the key `name` occurs twice"),
            (b"[" + b" " * 17_000_000 + b"]", "more bytes than the limit"),
        ],
    )
    def test_a_broken_one_is_told_in_one_line(
        self, tmp_path: Path, content: bytes, told: str
    ) -> None:
        catalog = tmp_path / "tools.json"
        catalog.write_bytes(content)
        rules = rules_in(tmp_path)
        for command in ("check", "test", "decide", "explain"):
            options = ("--tool", "list_tools") if command == "explain" else ()
            ran = run(command, rules, "--catalog", catalog, *options)
            assert (ran.code, ran.out) == (2, "")
            (line,) = ran.err.splitlines()
            assert told in line


def test_a_policy_whose_tests_fail_decides_nothing_and_names_the_command_that_explains(
    tmp_path: Path,
) -> None:
    rules = rules_in(tmp_path)
    failing = POLICY + '  file_read {path: "b.txt"} -> deny\n'
    (rules / "global.policy").write_text(failing, "utf-8")
    ran = decide(rules, READ)
    assert (ran.code, ran.out) == (1, "")
    assert "error[failed-test]" in ran.err
    assert ran.err.endswith("`placet explain` shows what it would decide, and why\n")

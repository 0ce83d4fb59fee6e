"""`placet explain`: explains one decision to people."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.unit.cli.running import POLICY, decide, rules_in, run


def told(rules: Path, tool: str, input: object, *options: str) -> str:
    text = json.dumps(input)
    ran = run(
        "explain", rules, "--tool", tool, "--input", text, "--workspace", "/srv/work", *options
    )
    assert (ran.code, ran.err) == (0, "")
    return ran.out


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_the_verdict_stands_first_and_its_reasons_next(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    lines = told(rules, "file_read", {"path": ".ssh/id"}).splitlines()
    assert lines[0] == 'deny  file_read {"path": ".ssh/id", "encoding": "utf-8"}'
    assert lines[1:3] == ["", "because"]
    assert lines[3].startswith("  deny by keys")
    assert "    keys stay here" in lines


def test_the_whole_account_of_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    text = told(Path("rules"), "bash_exec", {"command": "git push", "timeout": 100})
    head, _, tail = text.partition("decided by the policy ")
    digest, where = tail.splitlines()
    assert digest.startswith("sha256:")
    assert where == "in the workspace /srv/work (as the call says)"
    assert head == (
        'deny  bash_exec {"command": "git push", "timeout": 60}\n'
        '      rewritten from {"command": "git push", "timeout": 100}\n'
        "\n"
        "because\n"
        "  deny by default (rules/global.policy:3)\n"
        "    default deny\n"
        "\n"
        "the call\n"
        "  `git push` reads /srv/work, spelled `.`\n"
        "  runs git push\n"
        "\n"
        "to be allowed\n"
        "  an `allow` must match\n"
        "  `look` allows it if `runs only look` (not true of `git push`)\n"
        "\n"
        "the layer for every agent, asked by agent default\n"
        "  allow look (rules/global.policy:9): does not match\n"
        "    ✗ when runs only look\n"
        "      ✗ git push: no pattern names `git push`\n"
        "  deny keys (rules/global.policy:12): does not match\n"
        '    ✗ when reads "**/.ssh/**"\n'
        "  deny inside (rules/global.policy:13): does not match\n"
        "    ✗ when connects to [private]\n"
        "  rewrite short (rules/global.policy:14): matches\n"
        "  default deny (rules/global.policy:3): counts\n"
        "\n"
    )


def test_an_allowed_call_needs_nothing(tmp_path: Path) -> None:
    text = told(rules_in(tmp_path), "file_read", {"path": "a"})
    assert text.startswith("allow  file_read ")
    assert "    ✓ when reads only workspace" in text
    assert "overridden by an allow" in text
    assert "to be allowed" not in text


def test_what_would_let_a_call_pass_is_told(tmp_path: Path) -> None:
    text = told(rules_in(tmp_path), "file_delete", {"path": "a"})
    assert text.startswith("ask  file_delete ")
    assert "to be allowed\n  `delete` must not match: `writes only workspace`\n" in text
    undecided = told(tmp_path / "rules", "bash_exec", {"command": "$X ls"})
    assert "now indeterminate: " in undecided


def test_a_clause_that_keeps_a_rule_from_matching_is_marked(tmp_path: Path) -> None:
    text = POLICY + 'guard: ask file_write unless input.content == "x"\n'
    said = told(rules_in(tmp_path, text), "file_write", {"path": "a", "content": "x"})
    assert '    ✗ unless input.content == "x"' in said
    assert "does not match" in said


def test_a_refused_call_has_no_rules_to_speak_of(tmp_path: Path) -> None:
    text = told(rules_in(tmp_path), "file_read", {"paths": "a"})
    assert text.startswith(
        'deny  file_read {"paths": "a"}\n\nbecause\n  deny by schema\n'
        "    `paths` is not a field of `file_read`; did you mean `path`?\n"
    )
    assert "layer" not in text


def test_lines_fit_the_terminal(tmp_path: Path) -> None:
    rules = Path(__file__).parents[3] / "rules"
    said = told(rules, "bash_exec", {"command": "git status; cat ~/.ssh/id_rsa; make -C / x"})
    assert max(map(len, said.splitlines())) <= 80 + len(str(rules))


def test_long_input_is_cut_and_nothing_in_it_is_hidden(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    content = "\u202eevil\x1b[31m\x07\u200b" + "x" * 1_000_000
    said = told(rules, "file_write", {"path": "a", "content": content})
    assert len(said) < 5000
    assert "\\u202e" in said or "\\u{202e}" in said
    assert not set("\u202e\x1b\x07\u200b") & set(said)
    assert "…[+" in said


def test_many_resources_are_cut(tmp_path: Path) -> None:
    command = " && ".join(f"cat {number}" for number in range(100))
    said = told(rules_in(tmp_path), "bash_exec", {"command": command})
    assert said.count("`cat` reads") == 20
    assert "  and 180 more" in said


def test_a_revision_is_a_tree_of_what_changed_and_a_file_of_that_name(tmp_path: Path) -> None:
    # Which of both it is, only the repository knows.
    said = told(rules_in(tmp_path), "bash_exec", {"command": "git show HEAD~3"})
    assert said.count("`git show` reads /srv/work/HEAD~3") == 2
    assert "HEAD~3 and all below" in said


def test_the_rules_of_another_agent_and_role_can_be_asked(tmp_path: Path) -> None:
    others = {"coder__policy": 'policy for agent "coder"\nno-writes: deny file_write\n'}
    rules = rules_in(tmp_path, **others)
    input = {"path": "a", "content": "x"}
    assert told(rules, "file_write", input).startswith("allow")
    coder = told(rules, "file_write", input, "--agent", "coder")
    assert coder.startswith("deny")
    assert 'the layer for agent "coder", asked by agent coder' in coder
    assert "`no-writes` denies every such call" in coder
    guest = told(rules, "file_write", input, "--role", "guest")
    assert guest.startswith("deny")
    assert "by scope" in guest


def test_it_judges_as_decide_does(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, placet__toml='[service]\nworkspace = "/srv/other"\n')
    call = b'{"id": 5, "tool": "file_read", "input": {"path": "/srv/other/a"}}'
    plain = decide(rules, call).record
    explained = run("explain", rules, "--format", "json", stdin=call).record
    assert {key: explained[key] for key in plain} == plain
    (layer,) = explained["layers"]
    assert layer["rules"][0]["outcome"] == "holds"
    assert explained["resources"] == [
        {"verb": "reads", "resource": "/srv/other/a", "argument": "input.path"}
    ]
    assert explained["needed"] == []


def test_the_workspace_is_the_current_folder_and_the_text_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = rules_in(tmp_path)
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    monkeypatch.chdir(work)
    call = ("--tool", "file_read", "--input", '{"path": "a"}')
    here = run("explain", rules, *call)
    assert here.out.startswith("allow")
    assert here.out.endswith(f"\nin the workspace {work} (the current folder)\n")
    below = run("explain", rules, *call, "--workspace", "sub")
    assert below.out.endswith(f"\nin the workspace {work}/sub (as the call says)\n")
    (rules / "placet.toml").write_text('[service]\nworkspace = "/srv/x"\n')
    configured = run("explain", rules, *call)
    assert configured.out.endswith("\nin the workspace /srv/x (as placet.toml says)\n")
    (rules / "placet.toml").unlink()
    monkeypatch.chdir("/")
    nowhere = run("explain", rules, *call)
    assert nowhere.out.startswith("deny")
    assert nowhere.out.endswith("\nwithout a workspace\n")


def test_the_parts_of_a_clause_are_data(tmp_path: Path) -> None:
    text = "policy for every agent\ndefault deny\n" + (
        'look: allow bash_exec when runs only ["ls *"] and (reads only workspace or not '
        "(input.timeout > 5))\n"
    )
    call = b'{"tool": "bash_exec", "input": {"command": "ls a | rm b", "timeout": 9}}'
    record = run("explain", rules_in(tmp_path, text), "--format", "json", stdin=call).record
    (clause,) = record["layers"][0]["rules"][0]["clauses"]
    assert (clause["keyword"], clause["outcome"], clause["operator"]) == ("when", "fails", "and")
    runs, either = clause["parts"]
    assert (runs["text"], runs["outcome"]) == ('runs only ["ls *"]', "fails")
    assert runs["resources"] == [
        {
            "resource": "rm b",
            "place": "second command",
            "why": "no pattern names `rm`",
            "unknown": None,
        }
    ]
    assert (either["operator"], either["outcome"]) == ("or", "holds")
    reads, below = either["parts"]
    assert (reads["outcome"], reads["resources"]) == ("holds", [])
    assert (below["operator"], below["outcome"], below["parts"]) == (None, "fails", [])


def test_a_script_of_many_commands_names_some_that_are_not_covered(tmp_path: Path) -> None:
    command = "; ".join(f"cat {number}" for number in range(500))
    call = json.dumps({"tool": "bash_exec", "input": {"command": command}})
    record = run("explain", rules_in(tmp_path), "--format", "json", stdin=call).record
    clauses = {rule["reason"]["rule"]: rule["clauses"] for rule in record["layers"][0]["rules"]}
    (look,) = clauses["look"]
    assert len(look["resources"]) == 20
    text = told(tmp_path / "rules", "bash_exec", {"command": command})
    assert "      ✗ cat 5, sixth command: no pattern names `cat`\n      and more\n" in text


def test_a_condition_of_many_parts_shows_some_of_them(tmp_path: Path) -> None:
    many = " or ".join(f'input.path == "{number}"' for number in range(100))
    rules = rules_in(
        tmp_path, f"policy for every agent\ndefault deny\na: allow file_read when {many}\n"
    )
    text = told(rules, "file_read", {"path": "a"})
    assert '      ✗ input.path == "11"\n      and 88 more\n' in text


def test_of_a_tree_the_file_that_is_in_the_set_is_named(tmp_path: Path) -> None:
    text = 'policy for every agent\ndefault allow\nkeys: deny * when reads "**/*.pem"\n'
    rules = rules_in(tmp_path, text)
    work = tmp_path / "work"
    (work / "deep" / "keys").mkdir(parents=True)
    (work / "deep" / "a.txt").write_text("x")
    (work / "deep" / "keys" / "b.pem").write_text("x")
    call = ("--tool", "bash_exec", "--workspace", str(work))
    found = run(
        "explain", rules, *call, "--input", '{"command": "grep -r x ."}', "--format", "json"
    )
    (clause,) = found.record["layers"][0]["rules"][0]["clauses"]
    assert clause["resources"] == [
        {
            "resource": f"{work} and all below",
            "place": "",
            "why": f"it contains {work}/deep/keys/b.pem",
            "unknown": None,
        }
    ]
    one = run("explain", rules, *call, "--input", '{"command": "cat deep/keys/b.pem"}').out
    assert f"      ✓ {work}/deep/keys/b.pem\n" in one.replace("\n        ", " ")


def test_all_rules_of_packs_are_listed_on_demand(tmp_path: Path) -> None:
    text = 'policy for every agent\nuse "placet:shell"\ndefault deny\nlook: allow bash_exec\n'
    rules = rules_in(tmp_path, text)
    short = told(rules, "bash_exec", {"command": "ls"})
    assert "(placet:shell:" not in short
    (line,) = [line for line in short.splitlines() if "rules of packs" in line]
    (number,) = re.findall(r"placet:shell (\d+); --all lists them", line)
    full = told(rules, "bash_exec", {"command": "ls"}, "--all")
    assert full.count("(placet:shell:") == int(number)
    assert "rules of packs" not in full
    call = b'{"tool": "bash_exec", "input": {"command": "ls"}}'
    record = run("explain", rules, "--format", "json", stdin=call).record
    assert len(record["layers"][0]["rules"]) == int(number) + 1


def test_of_many_allows_the_nearest_are_listed(tmp_path: Path) -> None:
    lines = "".join(f"a{n}: allow pay when input.amount == {n}\n" for n in range(50))
    rules = rules_in(tmp_path, f"policy for every agent\ndefault deny\n{lines}")
    catalog = tmp_path / "tools.json"
    catalog.write_text(
        '[{"name": "pay", "inputSchema": {"type": "object", "properties": {"amount": {}}}}]'
    )
    text = told(rules, "pay", {"amount": 99}, "--catalog", str(catalog))
    assert "  `a10` allows it if `input.amount == 10`\n  and 39 more\n" in text


def test_the_call_may_stand_in_a_file(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    (tmp_path / "call.json").write_text('{"tool": "list_tools"}')
    ran = run("explain", rules, "--call", tmp_path / "call.json")
    assert ran.code == 0
    assert ran.out.startswith("deny  list_tools {}")


@pytest.mark.parametrize(
    ("input", "said"),
    [
        ("", "--input cannot be read"),
        ("{", "--input cannot be read"),
        ('{"a": 1, "a": 2}', "--input cannot be read: the key `a` occurs twice"),
        ('{"a": NaN}', "--input cannot be read: NaN is not a JSON number"),
        ('{}, "workspace": "/"', "--input cannot be read"),
        ("[" * 100_000, "--input cannot be read: nested too deeply"),
        ('{"a": "\udcff"}', "--input cannot be read: not valid Unicode"),
    ],
)
def test_an_input_that_is_no_json_is_told(tmp_path: Path, input: str, said: str) -> None:
    ran = run("explain", rules_in(tmp_path), "--tool", "file_read", "--input", input)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_without_a_call_it_says_how_to_give_one(tmp_path: Path) -> None:
    ran = run("explain", rules_in(tmp_path), stdin="\n \n")
    assert (ran.code, ran.out) == (2, "")
    assert "give --tool, --call or a line on standard input" in ran.err


def test_a_line_that_is_no_call_is_told(tmp_path: Path) -> None:
    ran = run("explain", rules_in(tmp_path), stdin='{"tool": 5}')
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "placet: not a call: `tool` is not a string\n"


FAILING = POLICY + '  file_read {path: "/etc/hosts"} -> allow by read\n'


def failing_in(folder: Path) -> Path:
    rules = rules_in(folder)
    (rules / "global.policy").write_text(FAILING, "utf-8")
    return rules


@pytest.mark.parametrize("format", ["text", "json"])
def test_a_policy_with_a_failing_test_is_explained_as_one_that_is_not_in_force(
    tmp_path: Path, format: str
) -> None:
    asked = ("--tool", "file_read", "--input", '{"path": "/etc/hosts"}')
    ran = run("explain", failing_in(tmp_path), *asked, "--format", format)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("deny  file_read ")
    assert "✗ when reads only workspace" in ran.err
    assert "error[failed-test]" in ran.err
    *_, error, place, note = ran.err.splitlines()
    assert error == "error[failed-test]: this test fails: the verdict is deny, not allow"
    assert place == f" --> {tmp_path}/rules/global.policy:20:3"
    assert note == (
        "placet: this policy is not in force, because 1 test case fails: "
        f"`placet check {tmp_path}/rules` shows what to do"
    )


def test_a_policy_with_another_error_is_not_explained(tmp_path: Path) -> None:
    rules = failing_in(tmp_path)
    with (rules / "global.policy").open("a", encoding="utf-8") as file:
        file.write("wrong: deny file_raed\n")
    ran = run("explain", rules, "--command", "ls")
    assert (ran.code, ran.out) == (1, "")
    first, _, note = ran.err.splitlines()
    assert first == "error[unknown-tool]: no tool is called `file_raed`"
    assert note.startswith("placet: the policy has errors")
    assert f"`placet check {rules}`" in note


def test_many_errors_are_counted_where_a_call_is_explained(tmp_path: Path) -> None:
    rules = failing_in(tmp_path)
    with (rules / "global.policy").open("a", encoding="utf-8") as file:
        file.writelines(f"wrong-{number}: deny file_raed\n" for number in range(30))
    for more in ((), ("--hook", "claude-code")):
        lines = run("explain", rules, "--command", "ls", *more).err.splitlines()
        assert lines[:10:2] == ["error[unknown-tool]: no tool is called `file_raed`"] * 5
        assert lines[10] == "and 25 more errors"
        assert len(lines) == 12


@pytest.mark.parametrize(
    ("tool", "said"), [("pay", "placet catalog export"), ("Bash", "here that tool is `bash_exec`")]
)
def test_how_an_unknown_tool_gets_known(tmp_path: Path, tool: str, said: str) -> None:
    rules = rules_in(tmp_path)
    ran = run("explain", rules, "--tool", tool)
    assert (ran.code, ran.out.split()[:2]) == (0, ["deny", tool])
    assert said in ran.err
    for known in ("file_list", "FileList"):
        assert run("explain", rules, "--tool", known).err == ""


def test_a_command_is_explained_as_it_is_typed(tmp_path: Path) -> None:
    rules, script = rules_in(tmp_path), "echo 'a \"b\"' > c"
    input = json.dumps({"command": script})
    typed = run("explain", rules, "--command", script)
    assert typed.code == 0
    assert typed == run("explain", rules, "--tool", "bash_exec", "--input", input)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--command", "ls", "--tool", "bash_exec"), "--command is the whole call"),
        (("--input", "{}"), "--input needs --tool"),
        (("--agent", "coder"), "--agent needs --tool or --command"),
    ],
)
def test_options_that_would_count_for_nothing_are_refused(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    ran = run("explain", rules_in(tmp_path), *options, stdin='{"tool": "list_tools"}')
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_two_calls_are_refused(tmp_path: Path) -> None:
    call = tmp_path / "call.json"
    call.write_text('{"tool": "list_tools"}', "utf-8")
    ran = run("explain", rules_in(tmp_path), "--call", call, "--command", "ls")
    assert ran.code == 2
    assert "give one call" in ran.err


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("git push",), "--command 'git push'"),
        (("git", "push"), "--command 'git push'"),
        (("file_read",), "--tool file_read --input '{…}'"),
    ],
)
def test_a_call_as_an_operand_says_how_it_is_given(
    tmp_path: Path, words: tuple[str, ...], option: str
) -> None:
    rules = rules_in(tmp_path)
    found = run("explain", rules, *words)
    assert (found.code, found.out) == (2, "")
    assert f"the call is an option: placet explain {rules} {option}" in found.err


def test_a_path_with_nothing_there_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (("explain", "git push"), ("check",), ("test", "x")):
        found = run(*words)
        assert found.code == 2
        assert "name the folder of a policy, or write one with `placet init`" in found.err
        assert ("--command" in found.err) is (words[0] == "explain")


def test_what_code_may_touch_is_told_where_a_sandbox_is_configured(tmp_path: Path) -> None:
    rule = 'build: allow bash_exec when runs only "make *" and writes only "out/**"\n'
    keys = 'keys: deny * when reads "**/.env"\n'
    text = f"policy for every agent\ndefault deny\n{rule}{keys}"
    rules = rules_in(tmp_path, text, placet__toml='[sandbox]\ndriver = "bubblewrap"\n')
    out = told(rules, "bash_exec", {"command": "make"})
    assert out.startswith("allow")
    lines = out.partition("its code, by the rules\n")[2].splitlines()
    assert lines[:3] == [
        "  reads nothing of **/.env (keys)",
        "  writes only /srv/work/out/** (build); the call is allowed because of that",
        "  connects to anything",
    ]


def test_hosts_that_code_may_reach_read_as_a_rule_does(tmp_path: Path) -> None:
    for only, line in (
        ('"a.test"', "  connects only to a.test (build)"),
        ("nothing", "  connects to nothing (build)"),
    ):
        rule = f'build: allow bash_exec when runs only "make *" and connects only to {only}\n'
        folder = tmp_path / line.split()[-2]
        folder.mkdir()
        text = f"policy for every agent\ndefault deny\n{rule}"
        rules = rules_in(folder, text, placet__toml='[sandbox]\ndriver = "bubblewrap"\n')
        out = told(rules, "bash_exec", {"command": "make"})
        lines = out.partition("its code, by the rules\n")[2].splitlines()
        assert lines[2] == f"{line}; the call is allowed because of that"


def test_sets_within_sets_are_shown_as_their_items(tmp_path: Path) -> None:
    sets = 'paths a = "/srv/a/**"\npaths b = a, "/srv/b/**"\n'
    keys = 'paths k = "**/*.pem" except "**/ca.pem"\npaths keys = k\n'
    rule = 'build: allow bash_exec when runs only "make *" and reads only [b, workspace]\n'
    denied = "no-keys: deny * when reads keys\n"
    text = f"policy for every agent\ndefault deny\n{sets}{keys}{rule}{denied}"
    rules = rules_in(tmp_path, text, placet__toml='[sandbox]\ndriver = "bubblewrap"\n')
    out = told(rules, "bash_exec", {"command": "make"})
    said = " ".join(out.partition("its code, by the rules\n")[2].partition(" writes ")[0].split())
    assert said.startswith("reads only /srv/a/**, /srv/b/**, /srv/work/** (build)")
    assert "and nothing of **/*.pem except **/ca.pem (no-keys);" in said

"""Gemini CLI: the `BeforeTool` hook."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policy.daemon.agents.agent import Agent, HookCall, fitted, json_answer
from policy.daemon.agents.mapping import HookFields, OurCall, Row, Unmapped, words
from policy.daemon.agents.readers import (
    command,
    contents_searched,
    fetches,
    file_edited,
    file_read,
    file_written,
    folder_listed,
    names_searched,
)
from policy.daemon.request import HookAnswer
from policy.model import Outcome

# What JavaScript takes for white space: the words of a prompt are told apart by it.
_BLANKS = re.compile("[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")


def _pages_in_prompt(fields: HookFields) -> tuple[OurCall, ...]:
    """Return a fetch of every URL in a prompt: the tool takes no other argument."""
    direct = fields.optional("url")
    prompt = fields.optional("prompt") or ""
    urls = [word for word in _BLANKS.split(prompt) if "://" in word]
    if direct is not None:
        urls.append(direct)
    if not urls:
        raise Unmapped(f"{fields.tool} names no URL, so it cannot be judged")
    return tuple(fetches(url) for url in urls)


_SEARCH = Row(
    page="`bash_exec` of the `rg --hidden` command that it amounts to",
    calls=contents_searched("pattern", ("dir_path", "path"), globs=("include_pattern", "include")),
    ignored=words(
        "exclude_pattern names_only max_matches_per_file total_max_matches case_sensitive"
        " fixed_strings context after before"
    ),
)

ROWS = {
    "run_shell_command": Row(
        page="`bash_exec` of `command`, run in `dir_path`",
        calls=command(),
        ignored=words("description is_background"),
        back={"command": ("command", 1)},
        folder=("dir_path", "directory"),
    ),
    "read_file": Row(
        page="`file_read` of `file_path`",
        calls=file_read("file_path", "absolute_path", "path"),
        ignored=words("start_line end_line offset limit"),
    ),
    "write_file": Row(
        page="`file_write` of `file_path`",
        calls=file_written("file_path", "content"),
    ),
    "replace": Row(
        page="`file_read` and `file_write` of `file_path`",
        calls=file_edited("file_path", "new_string"),
        ignored=words("instruction old_string expected_replacements allow_multiple"),
    ),
    "list_directory": Row(
        page="`file_list` of `dir_path`",
        calls=folder_listed("dir_path", "path"),
        ignored=words("ignore respect_git_ignore file_filtering_options"),
    ),
    "glob": Row(
        page="`file_list` of the tree that `pattern` searches",
        calls=names_searched("pattern", "dir_path", "path"),
        ignored=words("case_sensitive respect_git_ignore respect_gemini_ignore"),
    ),
    "grep_search": _SEARCH,
    "search_file_content": _SEARCH,
    "web_fetch": Row(
        page="`web_fetch` of every URL in `prompt`",
        calls=_pages_in_prompt,
    ),
}


def _answer(decision: str, reason: str, updated: Mapping[str, Any] | None) -> HookAnswer:
    output: dict[str, Any] = {"decision": decision}
    if reason:
        output["reason"] = reason
    if decision == "ask":
        output["systemMessage"] = reason
    if updated is not None:
        output["hookSpecificOutput"] = {"hookEventName": "BeforeTool", "tool_input": updated}
    return json_answer(output)


def _can_always_ask(call: HookCall) -> str | None:
    return None


def _outcome(response: object) -> Outcome | None:
    if not isinstance(response, dict):
        return None
    return "failed" if response.get("error") is not None else "ok"


GEMINI_CLI = Agent(
    name="gemini-cli",
    event="BeforeTool",
    events={"SessionStart": "start", "BeforeAgent": "prompt", "AfterTool": "ended"},
    heard=json_answer({}),
    outcome=_outcome,
    rows=ROWS,
    allow=lambda reason, updated: _answer("allow", reason, updated),
    ask=lambda reason, updated: _answer("ask", fitted(reason), updated),
    deny=lambda reason, updated: _answer("deny", fitted(reason), None),
    cannot_ask=_can_always_ask,
    settings=("~/.gemini/settings.json", "./.gemini/settings.json"),
    own_tools={
        "activate_skill": "Load a skill of the user's.",
        "ask_user": "Ask the user a question.",
        "enter_plan_mode": "Plan before anything is changed.",
        "exit_plan_mode": "Show a plan to the user.",
        "google_web_search": "Search the web, by a service of the agent's maker.",
        "update_topic": "Say what the session is about.",
        "write_todos": "Keep a list of what is to be done.",
    },
    replaces_input=False,
)

"""Claude Code: the `PreToolUse` hook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.daemon.agents.agent import Agent, HookCall, fitted, json_answer
from policy.daemon.agents.mapping import Row, words
from policy.daemon.agents.readers import (
    command,
    contents_searched,
    file_edited,
    file_edited_often,
    file_read,
    file_written,
    folder_listed,
    names_searched,
    page_fetched,
    resource_read,
)
from policy.daemon.request import HookAnswer

ROWS = {
    "Bash": Row(
        page="`bash_exec` of `command`",
        calls=command(milliseconds="timeout", unconfined="dangerouslyDisableSandbox"),
        ignored=words("description run_in_background"),
        back={"command": ("command", 1), "timeout": ("timeout", 1000)},
    ),
    "Read": Row(
        page="`file_read` of `file_path`",
        calls=file_read("file_path"),
        ignored=words("offset limit pages"),
    ),
    "NotebookRead": Row(
        page="`file_read` of `notebook_path`",
        calls=file_read("notebook_path"),
        ignored=words("cell_id"),
    ),
    "Write": Row(
        page="`file_write` of `file_path`",
        calls=file_written("file_path", "content"),
    ),
    "Edit": Row(
        page="`file_read` and `file_write` of `file_path`",
        calls=file_edited("file_path", "new_string"),
        ignored=words("old_string replace_all"),
    ),
    "MultiEdit": Row(
        page="`file_read` and `file_write` of `file_path`",
        calls=file_edited_often("file_path", "edits", "new_string"),
    ),
    "NotebookEdit": Row(
        page="`file_read` and `file_write` of `notebook_path`",
        calls=file_edited("notebook_path", "new_source"),
        ignored=words("cell_id cell_type edit_mode"),
    ),
    "LS": Row(
        page="`file_list` of `path`",
        calls=folder_listed("path"),
        ignored=words("ignore"),
    ),
    "Glob": Row(
        page="`file_list` of the tree that `pattern` searches",
        calls=names_searched("pattern", "path"),
    ),
    "Grep": Row(
        page="`bash_exec` of the `rg --hidden` command that it amounts to",
        calls=contents_searched("pattern", ("path",), globs=("glob",), kind="type"),
        ignored=words("output_mode -A -B -C -n -i -o context head_limit offset multiline"),
    ),
    "WebFetch": Row(
        page="`web_fetch` of `url`",
        calls=page_fetched("url"),
        ignored=words("prompt"),
    ),
    "ReadMcpResourceTool": Row(
        page="`mcp_read_resource` of `server` and `uri`",
        calls=resource_read("server", "uri"),
    ),
}


def _answer(decision: str, reason: str, updated: Mapping[str, Any] | None) -> HookAnswer:
    output: dict[str, Any] = {"hookEventName": "PreToolUse", "permissionDecision": decision}
    if reason:
        output["permissionDecisionReason"] = reason
    if updated is not None:
        output["updatedInput"] = updated
    return json_answer({"hookSpecificOutput": output})


def _cannot_ask(call: HookCall) -> str | None:
    # In this mode an ask of a hook has been seen to pass without a question.
    if call.mode == "bypassPermissions":
        return "it needs a person's answer, and this session bypasses permissions"
    return None


# What Claude Code tells the main session of its own accord: that a task in the background ended.
_NOTIFICATION = "<task-notification>"


CLAUDE_CODE = Agent(
    name="claude-code",
    event="PreToolUse",
    events={
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PostToolUse": "ended",
        "PostToolUseFailure": "failed",
    },
    is_own_prompt=lambda prompt: prompt.lstrip().startswith(_NOTIFICATION),
    # These write prompts that arrive as the user's do.
    prompts=frozenset(
        {"CronCreate", "Monitor", "RemoteTrigger", "ScheduleWakeup", "SendMessage", "Workflow"}
    ),
    # A call that fails is told of by an event of its own.
    outcome=lambda response: "ok",
    rows=ROWS,
    allow=lambda reason, updated: _answer("allow", reason, updated),
    ask=lambda reason, updated: _answer("ask", fitted(reason), updated),
    deny=lambda reason, updated: _answer("deny", fitted(reason), None),
    cannot_ask=_cannot_ask,
    settings=(
        "~/.claude/settings.json",
        "./.claude/settings.json",
        "./.claude/settings.local.json",
    ),
    own_tools={
        "Agent": "Start a sub-agent; its own calls are judged like all others.",
        "AskUserQuestion": "Ask the user a question.",
        "BashOutput": "Read the output of a command in the background.",
        "CronCreate": "Schedule a prompt for later in the session.",
        "CronDelete": "Cancel a prompt that was scheduled.",
        "CronList": "Show the prompts that are scheduled.",
        "EnterPlanMode": "Plan before anything is changed.",
        "ExitPlanMode": "Show a plan to the user.",
        "KillShell": "End a command in the background.",
        "ListMcpResourcesTool": "List the resources of MCP servers; reading one is judged.",
        "Skill": "Load a skill of the user's.",
        "Task": "Start a sub-agent; its own calls are judged like all others.",
        "TaskCreate": "Add a task to the list of tasks.",
        "TaskGet": "Look at a task of the list.",
        "TaskList": "Show the list of tasks.",
        "TaskOutput": "Read the output of a background task.",
        "TaskStop": "End a background task.",
        "TaskUpdate": "Change a task of the list.",
        "TodoWrite": "Keep a list of what is to be done.",
        "ToolSearch": "Look for further tools.",
        "WebSearch": "Search the web, by a service of the agent's maker.",
    },
)

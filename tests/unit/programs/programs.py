"""Profiles of a few made-up programs for tests; each shows one feature of profiles."""

from __future__ import annotations

from textwrap import dedent

from policy.programs import Profiles

_TEXTS = {
    "environment.toml": """
            harmless = "TZ LC_*"
            command = "PAGER"
            code = "LD_PRELOAD PATH"
        """,
    "rm.toml": """
            flags = "-r|-R|--recursive -f|--force -v|--verbose -i|--interactive"
            operands = "write..."
        """,
    "sort.toml": """
            names = ["gsort"]
            flags = "-r|--reverse -u|--unique -n|--numeric-sort"
            values = "-k|--key -t|--field-separator"
            operands = "read..."
            [options]
            "-o|--output" = "write"
        """,
    "git.toml": """
            flags = "--no-pager"
            [options]
            "-c" = "config"
            "-C" = "folder"
            [sub.status]
            flags = "-s|--short"
            operands = "text..."
            [sub.diff]
            flags = "--stat --cached"
            values = "-U|--unified"
            operands = "read..."
            [sub.diff.options]
            "--output" = "write"
            "--ext-diff" = "flag hides"
            [sub.push]
            flags = "-f|--force -u|--set-upstream"
            operands = "text..."
            [sub.push.means]
            "+*" = "--force"
        """,
    "timeout.toml": """
            style = "posix"
            values = "-k|--kill-after"
            flags = "--foreground"
            operands = "text argv..."
            free = true
        """,
    "sudo.toml": """
            style = "posix"
            flags = "-n"
            guarded = "-u|--user?"
            operands = "env-argv..."
        """,
    "bash.toml": """
            style = "posix"
            operands = "script text..."
            stdin = "command"
            [options]
            "-c" = "command"
            [[variant]]
            given = "-c"
            operands = "text..."
            stdin = "text"
        """,
    "python.toml": """
            style = "posix"
            flags = "-B -u"
            operands = "script text..."
            stdin = "code"
            [options]
            "-c" = "code"
            [[variant]]
            given = "-c"
            operands = "text..."
            stdin = "text"
        """,
    "xargs.toml": """
            style = "posix"
            values = "-n|--max-args"
            operands = "argv-more..."
        """,
    "vim.toml": """
            operands = "read..."
            hides = true
        """,
    "awk.toml": """
            style = "posix"
            operands = "awk read..."
        """,
    "export.toml": """
            operands = "assignment..."
        """,
    "echo.toml": """
            operands = "text..."
        """,
    "pwd.toml": "free = true",
}
PROFILES = Profiles.of({name: dedent(text) for name, text in _TEXTS.items()})

"""Whether a word that is passed on to an unknown program may make it load code.

`npm test -- --watch` passes on a flag; `npm test -- --reporter=./evil.js` a file that runs.
"""

from __future__ import annotations

import re

from policy.shell import Word

# Names of options by which programs load code, or a configuration that may name code.
_LOADING = frozenset(
    """
    c config configuration configfile conf e eval exec execute import import-mode init init-file
    initfile initscript launcher loader load-plugin loadplugin m module o override-ini p plugin
    plugins preset presets print program r require reporter reporters resolver resolve-plugins-
    relative-to rcfile rulesdir runner script-shell shell setup setupfiles setupfilesafterenv
    globalsetup globalteardown testenvironment environment testrunner transform format formatter
    parser prefix project-config rootdir root d define system-properties init-script i
    """.split()
)
# Harmless values of such options: built-in reporters and formats.
_BUILT_IN = frozenset(
    """
    basic blob checkstyle cobertura compact default doc documentation dot dots false full github
    github-actions gitlab hanging-process html html-spa jsdom happy-dom json json-stream
    json-summary junit landing lcov line lcovonly list markdown min minimal nano node nyan
    pretty prettier progress quiet silent simple spec stylish summary tap tap-flat teamcity text
    text-summary true tty unix verbose visualstudio xml xunit
    """.split()
)
# Endings of the names of options whose value is a command, and clusters that end in `-e` or `-p`.
_COMMAND = re.compile(r"(exec|command|cmd|hooks?|onsuccess|onfailure|chooser)$")
_CLUSTER = re.compile(r"-[A-Za-z]{1,2}[ep]")
# Names of options whose value is written, and neither run nor read.
_OUTPUT = re.compile(
    r"out|out(?:put)?-?(?:file|dir|path|folder|directory)|output|dest|destination|(?:dist|report)-?dir"
)
_PATH = re.compile(r"/|\\|\.[A-Za-z]")
_LONG = 3


def may_load_code(word: Word, before: Word | None) -> bool:
    """Return whether a word may make the receiving program load code from a file.

    `before` is the word before it, of which it may be the value.
    """
    if not word.known:
        # An unknown word may be such an option; one that names files begins as they do.
        return word.text[:1] in ("", "-") or _is_loading(before)
    text = word.text
    if not text.startswith("-") or text in ("-", "--"):
        if before is not None and before.known and before.text == "-o":
            # The name of an output; a setting has a name and a value: `pytest -o addopts=…`.
            return "=" in text
        return _is_loading(before) and text.lower() not in _BUILT_IN
    name, equals, value = text.partition("=")
    if equals:
        if _loads(name):
            return value.lower() not in _BUILT_IN
        return not _is_output(name, value) and _PATH.search(value) is not None
    name, colon, value = text.partition(":")
    if colon and name.startswith("--"):
        return _PATH.search(value) is not None
    # A file may be glued to a one-letter option: `-r./evil.js`.
    return len(text) >= _LONG and not text.startswith("--") and "/" in text


def _is_output(option: str, value: str) -> bool:
    """Return whether an option names a file below the current folder that is written."""
    inside = not value.startswith(("/", "~", "\\")) and ".." not in re.split(r"[/\\]", value)
    return inside and _OUTPUT.fullmatch(option.lstrip("-").lower()) is not None


def _is_loading(word: Word | None) -> bool:
    return word is not None and (not word.known or _loads(word.text))


def names_command(option: str) -> bool:
    """Return whether the name of an option suggests that its value is a command: `-x`, `--exec`."""
    name = option.lstrip("-").lower().replace("-", "")
    short = len(option) == len("-x") and not option.startswith("--")
    return option.startswith("-") and (
        short or name in _LOADING or _COMMAND.search(name) is not None
    )


def _loads(option: str) -> bool:
    if not option.startswith("-"):
        return False
    name = option.lstrip("-").lower()
    if _CLUSTER.fullmatch(option) or _COMMAND.search(name.replace("-", "")):
        return True
    return (
        name in _LOADING or name.replace("-", "") in _LOADING or name.rpartition(".")[2] in _LOADING
    )

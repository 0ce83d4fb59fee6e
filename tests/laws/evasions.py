"""Draw scripts that do what a given command does: the ways to disguise a shell command.

`hidden` draws any of them, for commands that must not run; `plain` draws mere spellings, for those
that may.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.laws.spellings import Command, arranged, line, quoted, word_spelling

# Words in front of a command that run it. Each is a program, or a word of the shell.
_WRAPPERS = (
    ("command",),
    ("exec",),
    ("nohup",),
    ("nice",),
    ("nice", "-n", "5"),
    ("nice", "-5"),
    ("timeout", "5"),
    ("timeout", "-k", "1", "--signal=KILL", "5"),
    ("env",),
    ("env", "-u", "B", "A=1"),
    ("env", "-i", "--", "A=1"),
    ("sudo",),
    ("sudo", "-n", "-u", "root", "--"),
    ("doas", "-u", "root"),
    ("stdbuf", "-oL"),
    ("setsid", "-f"),
    ("ionice", "-c", "3"),
    ("builtin", "command"),
    ("time", "-p"),
    ("xargs",),
    ("xargs", "-n", "1", "--"),
    ("flock", "/tmp/x"),
    ("unshare",),
    ("chroot", "/"),
    ("busybox",),
    ("strace", "-f"),
    ("watch", "-n", "1"),
    ("script", "-qc"),
)
_JOINED = frozenset({"script"})


def _in_bash(script: str) -> str:
    return f"bash -c {quoted(script)}"


def _in_cluster(script: str) -> str:
    return f"sh -euc {quoted(script)} x y"


def _evaluated(script: str) -> str:
    return f"eval {quoted(script)}"


def _here_document(script: str) -> str:
    end = f"END{len(script)}"
    return f"bash <<'{end}'\n{script}\n{end}"


def _open_here_document(script: str) -> str:
    escaped = script.replace("\\", "\\\\").replace("$", "\\$").replace("`", "\\`")
    end = f"END{len(script)}"
    return f"sh -s <<{end}\n{escaped}\n{end}"


def _here_string(script: str) -> str:
    return f"bash <<< {quoted(script)}"


def _piped(script: str) -> str:
    return f"printf '%s\\n' {quoted(script)} | sh"


def _decoded(script: str) -> str:
    text = base64.b64encode(script.encode()).decode()
    return f"echo {text} | base64 -d | bash"


def _from_variable(script: str) -> str:
    return f'x={quoted(script)}; eval "$x"'


def _to_bash_from_variable(script: str) -> str:
    return f'x={quoted(script)} && bash -c "$x"'


def _sourced(script: str) -> str:
    return f"source <(printf %s {quoted(script)})"


def _found(script: str) -> str:
    return f"find . -maxdepth 0 -exec sh -c {quoted(script)} ';'"


def _trapped(script: str) -> str:
    return f"trap {quoted(script)} EXIT"


def _over_ssh(script: str) -> str:
    return f"ssh localhost {quoted(script)}"


def _in_pipe_of_a_trace(script: str) -> str:
    return f"strace -o {quoted('|' + script)} true"


def _aliased(script: str) -> str:
    return f"shopt -s expand_aliases; alias a={quoted(script)}\na"


def _in_subscript(script: str) -> str:
    return f"a=([{_substituted(script)}]=1)"


def _in_tested_name(script: str) -> str:
    return f"[[ -v {quoted('a[')}{_substituted(script)}] ]]"


def _in_compared_number(script: str) -> str:
    return f"x={quoted('a[')}{_substituted(script)}]; [[ 1 -eq x ]]"


def _in_name_given(script: str) -> str:
    return f'f() {{ printf -v "$1" x; }}; f a[{_substituted(script)}]'


def _in_list(script: str) -> str:
    return f"declare -a x='('{_substituted(script)}')'"


def _substituted(script: str) -> str:
    return quoted(f"$({script}\n)")


# Ways to have a script run that it is given as text.
_AS_TEXT: tuple[Callable[[str], str], ...] = (
    _in_bash,
    _in_cluster,
    _evaluated,
    _here_document,
    _open_here_document,
    _here_string,
    _piped,
    _decoded,
    _from_variable,
    _to_bash_from_variable,
    _sourced,
    _found,
    _trapped,
    _over_ssh,
    _in_pipe_of_a_trace,
    _aliased,
    _in_subscript,
    _in_tested_name,
    _in_compared_number,
    _in_name_given,
    _in_list,
)
# Places in a script where commands stand; `@` is where.
_PLACES = (
    "@",
    "(@)",
    "{ @\n}",
    "true && @",
    "false || @",
    "true; @",
    "true\n@",
    "@ &",
    "! @",
    "@ | cat",
    "echo x | @",
    "if true; then @\nfi",
    "if @\nthen true; fi",
    "while @\ndo break; done",
    "until @\ndo break; done",
    "for i in 1 2; do @\ndone",
    "case x in x) @\n;; esac",
    "f() { @\n}; f",
    "function f { @\n}\nf x",
    'echo "$(@\n)"',
    "echo $(@\n)",
    "cat <(@\n)",
    "echo x > >(@\n)",
    "x=$(@\n)",
    "a=($(@\n))",
    "echo ${x:-$(@\n)}",
    "cat <<END\n$(@\n)\nEND",
    "[[ -n $(@\n) ]]",
    "coproc @",
    "time @",
    "@ # harmless",
    "# harmless\n@",
    "cd /tmp; @",
    "select x in a; do @\ndone",
    "exec 3>&1; @",
)
_FIRST = ("2>/dev/null ", "A=1 ", "</dev/null ", "A=1 B=2 2>&1 ", "A+=x ")


@st.composite
def hidden(draw: DrawFn, command: Command, *, links: bool = True) -> str:
    """Draw a script that does, among other things, what the command does."""
    words = draw(arranged(command, links=links))
    script = draw(_written(words, command.redirection))
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            script = draw(st.sampled_from(_PLACES)).replace("@", script)
        else:
            script = draw(st.sampled_from(_AS_TEXT))(script)
    return script


@st.composite
def plain(draw: DrawFn, command: Command, *, links: bool = True) -> str:
    """Draw another spelling of the command."""
    words = draw(arranged(command, links=links))
    return draw(line(words, redirection=command.redirection, continued=False))


def _written(words: list[str], redirection: str) -> SearchStrategy[str]:
    """Return the ways to write down one command."""
    ways = [
        _simple(words, redirection),
        _simple(words, redirection),
        _wrapped(words, redirection),
        _name_in_variable(words, redirection),
        _name_from_command(words, redirection),
        _braces(words, redirection),
        _blanks_in_variable(words, redirection),
        _words_in_array(words, redirection),
        _options_in_variable(words, redirection),
        _found_by_pattern(words, redirection),
    ]
    return st.one_of(ways)


@st.composite
def _simple(draw: DrawFn, words: list[str], redirection: str) -> str:
    return draw(st.sampled_from(["", "", *_FIRST])) + draw(line(words, redirection=redirection))


@st.composite
def _wrapped(draw: DrawFn, words: list[str], redirection: str) -> str:
    for _ in range(draw(st.integers(1, 3))):
        wrapper = draw(st.sampled_from(_WRAPPERS))
        if wrapper[0] in _JOINED:
            words = [*wrapper, " ".join(map(quoted_word, words))]
        else:
            words = [*wrapper, *words]
    if words[0] == "time":
        # A word of the shell, and its option too, only where it is not quoted.
        return f"time -p {draw(line(words[2:], redirection=redirection))}"
    return draw(line(words, redirection=redirection))


def quoted_word(text: str) -> str:
    """Return a word as a shell reads it, `~` being the home folder."""
    return "~" + quoted(text[1:]) if text.startswith("~/") else quoted(text)


@st.composite
def _name_in_variable(draw: DrawFn, words: list[str], redirection: str) -> str:
    name = words[0]
    cut = draw(st.integers(0, len(name)))
    rest = " ".join(draw(word_spelling(word)) for word in words[1:])
    setting = f"x={quoted(name[:cut])} y={quoted(name[cut:])}"
    used = draw(st.sampled_from(["$x$y", '"$x$y"', '"${x}"$y', "${x#}${y%}", "${x}${y:-z}"]))
    between = draw(st.sampled_from(["; ", " && ", "\n"]))
    return f"{setting}{between}{used} {rest}{redirection}"


@st.composite
def _name_from_command(draw: DrawFn, words: list[str], redirection: str) -> str:
    rest = " ".join(draw(word_spelling(word)) for word in words[1:])
    name = quoted(words[0])
    way = draw(st.sampled_from(["$(echo @)", "$(printf %s @)", "`echo @`", "$(command -v @)"]))
    return f"{way.replace('@', name)} {rest}{redirection}"


@st.composite
def _braces(draw: DrawFn, words: list[str], redirection: str) -> str:
    if any(word.startswith("~") or not word for word in words) or len(words) < 2:
        return draw(line(words, redirection=redirection))
    escaped = ["".join("\\" + char for char in word) for word in words]
    return "{" + ",".join(escaped) + "}" + redirection


@st.composite
def _blanks_in_variable(draw: DrawFn, words: list[str], redirection: str) -> str:
    spelled = [draw(word_spelling(word)) for word in words]
    return "${IFS}".join(spelled) + redirection


@st.composite
def _words_in_array(draw: DrawFn, words: list[str], redirection: str) -> str:
    spelled = " ".join([draw(word_spelling(word)) for word in words])
    way = draw(
        st.sampled_from(
            [
                'a=(@); "${a[@]}"',
                'set -- @; "$@"',
                'f() { "$@"; }; f @',
                'for a in 1; do b=(@); "${b[@]}"; done',
            ]
        )
    )
    return way.replace("(@)", f"({spelled})").replace(" @", f" {spelled}") + redirection


@st.composite
def _options_in_variable(draw: DrawFn, words: list[str], redirection: str) -> str:
    if any(word.startswith("~") for word in words):
        return draw(line(words, redirection=redirection))
    name = draw(word_spelling(words[0]))
    rest = " ".join(words[1:])
    return f"o={quoted(rest)}; {name} $o{redirection}"


@st.composite
def _found_by_pattern(draw: DrawFn, words: list[str], redirection: str) -> str:
    name = words[0].rpartition("/")[2]
    place = draw(st.integers(0, len(name) - 1))
    glob = name[:place] + draw(st.sampled_from(["?", "*", f"[{name[place]}]"])) + name[place + 1 :]
    rest = " ".join(draw(word_spelling(word)) for word in words[1:])
    return f"/bin/{glob} {rest}{redirection}"

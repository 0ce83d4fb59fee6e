"""Whether one pattern matches one command's own words.

None: unknown, or only a pattern that spells more would match. `coverage` handles nested commands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from policy.programs.invocation import GivenOperand, GivenOption, Invocation
from policy.programs.patterns.implied_options import implied_options
from policy.programs.patterns.other_names import by_usual_names
from policy.programs.patterns.pattern import COMMAND_LINES, CommandPattern, option_of
from policy.programs.patterns.wildcards import has_placeholder, shown
from policy.programs.patterns.word_match import (
    fixed_prefix,
    is_same_file,
    operands_match,
    script_matches,
    word_matches,
    workspace_files,
)
from policy.programs.profiles.profile import MANY_WORDS
from policy.programs.profiles.registry import Profiles
from policy.programs.profiles.variables import listed_folders
from policy.programs.standard_folders import STANDARD_PLACES
from policy.programs.words.forwarded import may_load_code
from policy.programs.words.possible_code import is_prose, may_be_code
from policy.programs.words.separated_parts import SETTING
from policy.shell import Assignment, Redirection, Word
from policy.values import PathPattern, any_of, both, compile_name_glob

_DESCRIPTORS = (">&", "<&")
_NO_VALUE = Word("")
_WILDCARDS = re.compile(r"[*?\[]")
_SWITCH = re.compile(r"[0-9]{1,9}|true|false|yes|no|on|off", re.IGNORECASE)


def matches_command(
    invocation: Invocation, pattern: CommandPattern, *, redirections_covered: bool = False
) -> bool | None:
    """Return whether a pattern covers one command, without its nested commands.

    With `redirections_covered`, another clause of the rule covers the `uncovered_redirections`.
    """
    answer = _matches_spelled(invocation, pattern, redirections_covered=redirections_covered)
    if answer is True:
        return True
    alike = by_usual_names(invocation, pattern)
    if alike is None:
        return answer
    other = _matches_spelled(*alike, redirections_covered=redirections_covered)
    return any_of((answer, other))


def _matches_spelled(
    invocation: Invocation, pattern: CommandPattern, *, redirections_covered: bool
) -> bool | None:
    answer = matches_program(invocation, pattern)
    if answer is False:
        return False
    if pattern.any_program:
        return _matches_any_program(invocation, pattern, covered=redirections_covered)
    pattern = pattern.narrowed(invocation.program)
    answer = both(answer, matches_words(invocation, pattern))
    command = invocation.command
    if answer is not False and (command.assignments or pattern.assignments):
        answer = both(answer, _matches_assignments(invocation, pattern))
    if answer is not False and (command.redirections or pattern.redirections):
        covered = redirections_covered
        answer = both(answer, _matches_redirections(invocation, pattern, others_covered=covered))
    return answer


def _matches_any_program(
    invocation: Invocation, pattern: CommandPattern, *, covered: bool
) -> bool | None:
    """Return whether a pattern of any program covers a command: not what is set or redirected."""
    known = bool(invocation.program) and not invocation.command.assignments
    if uncovered_redirections(invocation, pattern) and not covered:
        return None
    return True if known else None


def matches_program(invocation: Invocation, pattern: CommandPattern) -> bool | None:
    """Return whether a command's program is the pattern's."""
    if invocation.program and pattern.program is not None:
        if invocation.program[0] != pattern.program[0]:
            return False
        return _same_place(invocation, pattern)
    if not invocation.command.words:
        return False
    if pattern.program is None:
        if pattern.files is None:
            return True
        return is_one_of(invocation, pattern.files)
    return None


def is_one_of(invocation: Invocation, files: PathPattern) -> bool | None:
    """Return whether the program is spelled as the path of one of these files, links followed."""
    if invocation.command.words[0].known and not invocation.place:
        return False  # found in PATH, or a function
    return None if invocation.file is None else invocation.file.is_in(files)


def matches_words(invocation: Invocation, pattern: CommandPattern) -> bool | None:
    """Return whether the words after the program match the pattern."""
    program = pattern.program
    if pattern.files is not None and program is None:
        return _matches_words_of_file(invocation, pattern)
    if program is None:
        return operands_match(pattern.steps, _words_of_any(invocation, pattern.profiles))
    if not invocation.program:
        return None
    shared = min(len(program), len(invocation.program))
    if invocation.program[:shared] != program[:shared]:
        return False
    if len(program) > len(invocation.program):
        # The subcommand is missing or unknown.
        first = invocation.operands[0].word if invocation.operands else None
        unclear = first is not None and not first.known
        return None if unclear or any(one.unknown for one in invocation.options) else False
    if not invocation.profiled:
        return _matches_unprofiled(invocation, pattern)
    answer = _matches_options(invocation, pattern)
    if answer is False:
        return False
    operands = invocation.operands
    if shared < len(invocation.program):
        subcommands = (GivenOperand(word=Word(name)) for name in invocation.program[shared:])
        operands = (*subcommands, *operands)
    if _runs_elsewhere(invocation, pattern):
        answer = both(answer, None)
    found = operands_match(pattern.steps, operands)
    if found is False and _may_be_script(invocation, pattern):
        found = None
    return both(answer, found)


def _may_be_script(invocation: Invocation, pattern: CommandPattern) -> bool:
    """Return whether an input file is the script that the pattern names: `bash < deploy.sh`."""
    if invocation.operands or not invocation.unseen:
        return False
    steps = [step for step in pattern.steps[:1] if step is not None]
    files = [one.target for one in invocation.command.redirections if one.op.startswith("<")]
    return any(is_same_file(GivenOperand(word=file), step) for file in files for step in steps)


def _runs_elsewhere(invocation: Invocation, pattern: CommandPattern) -> bool:
    """Return whether a relative file of code that the pattern names is in another folder.

    After a `cd`, `python3 tools/x.py` is another program than the intended one.
    """
    if invocation.command.folders == () or not invocation.unseen:
        return False
    steps = [step for step in pattern.steps if step is not None]
    spelled = {step.text for step in steps if step.known}
    for operand in invocation.operands:
        text = operand.word.text
        if text.startswith(("/", "~")):
            continue
        if text in spelled and ("/" in text or "." in text):
            return True
        located = operand.file is not None
        globs = (step for step in steps if not (located and workspace_files(step)))
        if operand.script and any(script_matches(operand.word, step) for step in globs):
            return True
    return False


def is_harmless_redirection(redirection: Redirection) -> bool:
    """Return whether a redirection only copies a descriptor or is from or to /dev/null."""
    return redirection.op in _DESCRIPTORS or (
        redirection.target.known and redirection.target.text == "/dev/null"
    )


def is_harmless_assignment(
    assignment: Assignment, invocation: Invocation, profiles: Profiles
) -> bool:
    """Return whether setting a variable for a command does no more than the command itself.

    It only affects language, time zone or appearance, or it adds folders of the project to the code
    of a program that runs such code, or is a plain setting of such code.
    """
    role = profiles.variable_set(assignment, unseen=invocation.only_unseen)
    if role == "folders":
        runs_code = invocation.unseen or bool(invocation.inline_code)
        return runs_code and listed_folders(assignment.value) is not None
    # Of the script's private variables only those matter that some program is known to use.
    return role == "harmless" or (role is None and assignment.kept)


def uncovered_redirections(
    invocation: Invocation, pattern: CommandPattern | None = None
) -> tuple[Redirection, ...]:
    """Return the redirections that are neither harmless nor spelled by the pattern."""
    spelled = pattern.redirections if pattern is not None else ()
    return tuple(
        item
        for item in invocation.command.redirections
        if not is_harmless_redirection(item)
        and not any(_same_redirection(item, each) for each in spelled)
    )


def uncovered_options(invocation: Invocation, pattern: CommandPattern) -> tuple[GivenOption, ...]:
    """Return the options that the pattern neither spells nor covers with a `*`."""
    return tuple(
        given
        for given in invocation.options
        if (_is_guarded(given) or not pattern.rest)
        and not spells_option(given, invocation, pattern)
    )


def _is_guarded(given: GivenOption) -> bool:
    """Return whether only a pattern that spells an option covers it.

    A command that the option's words spell is compared with the patterns by itself.
    """
    return given.unknown or (given.guarded and not given.runs_words)


def spells_option(given: GivenOption, invocation: Invocation, pattern: CommandPattern) -> bool:
    """Return whether the pattern spells this option of a command."""
    return any(_same_option(given, wanted, invocation, pattern) for wanted in pattern.options)


def spells_redirects(invocation: Invocation, pattern: CommandPattern) -> bool:
    """Return whether a pattern that covers a command spells the options that enable redirects."""
    by = {name for effect in invocation.effects if effect.redirected for name in effect.by}
    spelled = (pattern, *pattern.inner)
    return any(
        matches_command(invocation, each, redirections_covered=True) is True
        and any(option.name in by for option in each.options)
        for each in spelled
    )


# ------------------------------------------------------------------ the program


def _same_place(invocation: Invocation, pattern: CommandPattern) -> bool | None:
    given, wanted = invocation.place, pattern.place
    if given in STANDARD_PLACES:
        return wanted in STANDARD_PLACES
    if given == wanted:
        if given.startswith("/") or invocation.command.folders == ():
            return True
        # A relative path means another file in another folder, except where a `cd` led back.
        if pattern.files is not None and invocation.file is not None:
            return True if invocation.file.is_in(pattern.files) else None
    return None


# ------------------------------------------------------------------ options


def _matches_options(invocation: Invocation, pattern: CommandPattern) -> bool | None:
    answer: bool | None = True
    for wanted in pattern.options:
        found: bool | None = False
        for given in invocation.options:
            same = _same_option(given, wanted, invocation, pattern)
            if same and given.unsure:
                same = None
            found = same if found is False else found or same
        if found is False and (
            _may_hold(invocation, wanted) or _implies(invocation, wanted, pattern)
        ):
            found = None
        answer = both(answer, found)
        if answer is False:
            return False
    return both(answer, None) if uncovered_options(invocation, pattern) else answer


def _implies(invocation: Invocation, wanted: GivenOption, pattern: CommandPattern) -> bool:
    """Return whether the options of a command do what the wanted one does.

    They are other options, so that this never makes a match certain: no `allow` covers them.
    """
    implied = implied_options(invocation.program, invocation.options, pattern.profiles)
    return any(_same_option(one, wanted, invocation, pattern) is not False for one in implied)


def _same_option(
    given: GivenOption, wanted: GivenOption, invocation: Invocation, pattern: CommandPattern
) -> bool | None:
    if not _same_name(given, wanted):
        return False
    if wanted.value is None:
        if given.off:
            return None
        harmless = given.value is None or (pattern.rest and not given.guarded)
        return True if harmless else None
    if pattern.inner and _is_command_line(given, invocation, pattern):
        return True  # compared command by command
    return word_matches(given.value or _NO_VALUE, wanted.value, parts=given.parts)


def _same_name(given: GivenOption, wanted: GivenOption) -> bool:
    if given.name == wanted.name:
        return True
    if not wanted.unknown or not has_placeholder(wanted.name):
        return False
    return compile_name_glob(shown(Word(wanted.name)).text)(given.spelled)


def _is_command_line(given: GivenOption, invocation: Invocation, pattern: CommandPattern) -> bool:
    known = option_of(given.name, invocation.program, pattern.profiles)
    return known is not None and (known.role in COMMAND_LINES or known.role in MANY_WORDS)


def _may_hold(invocation: Invocation, wanted: GivenOption) -> bool:
    """Return whether an unknown word may be, or contain, an option."""
    spellings = (wanted.name, wanted.spelled)
    operands = (one for one in invocation.operands if not one.no_option)
    unclear = [one.word for one in operands if not one.word.known]
    unclear += [one.value for one in invocation.options if one.value and one.value.many]
    # No number is an option.
    unclear = [word for word in unclear if not word.number]
    # A file name from a glob begins as the glob does; `a$x` may be split into words.
    split = any(word.many and word.shape == "opaque" for word in unclear)
    if split or any(_begins(word, spellings) for word in unclear):
        return True
    return any(
        one.unknown and any(spelling.startswith(before) for spelling in spellings)
        for one in invocation.options
        # `-*` may be the name of a file that is spelled like an option.
        for before in [_WILDCARDS.split(one.name, 1)[0]]
    )


def _begins(word: Word, spellings: tuple[str, ...]) -> bool:
    return any(spelling.startswith(fixed_prefix(word)) for spelling in spellings)


# ------------------------------------------------------------------ without a profile


def is_option_like(word: Word) -> bool:
    """Return whether a word may be an option of an unknown program.

    `-` and `--` are not; `+x` and `:x` are options of some programs. `a$x` may be split into a word
    and an option.
    """
    if word.many and word.shape == "opaque" and not word.number:
        return True
    before = fixed_prefix(word)
    if not before:
        return not (word.known or word.number)
    return before[0] in "-+:" and not (word.known and before in ("-", "--", ":", "+"))


def _matches_unprofiled(invocation: Invocation, pattern: CommandPattern) -> bool | None:
    words = [one.word for one in invocation.operands]
    answer = operands_match(pattern.steps, _with_doubt(words, pattern.profiles))
    if answer is not False or not any(map(is_option_like, words)):
        return answer
    # An option of the command may be another spelling of one in the pattern.
    asked = [step for step in pattern.steps if step and step.known and not is_option_like(step)]
    return None if all(step in words for step in asked) else False


def _matches_words_of_file(invocation: Invocation, pattern: CommandPattern) -> bool | None:
    """Compare the words after a program of the workspace, whose code is not known.

    A `*` covers its options too, as those that `npm run x --` passes on: but none that loads code.
    The name may be that of a known program: then no option may be guarded by its profile.
    """
    words = invocation.command.words[1:]
    if invocation.profiled:
        answer = operands_match(pattern.steps, [GivenOperand(word=word) for word in words])
        return answer if _is_harmless(invocation) else both(answer, None)
    operands = [
        GivenOperand(
            word=word,
            guarded=may_load_code(word, before),
            aside=is_option_like(word),
            parts=SETTING,
        )
        for word, before in zip(words, (None, *words), strict=False)
    ]
    return operands_match(pattern.steps, operands)


def _is_harmless(invocation: Invocation) -> bool:
    return not (
        any(one.guarded or one.unknown for one in invocation.options)
        or any(one.guarded or one.may_be_option for one in invocation.operands)
    )


def _words_of_any(invocation: Invocation, profiles: Profiles) -> list[GivenOperand]:
    """Return all words of a command, including its program's name."""
    words = invocation.command.words
    if invocation.profiled and _is_harmless(invocation):
        return [GivenOperand(word=word) for word in words]
    return [GivenOperand(word=words[0]), *_with_doubt(words[1:], profiles)]


def _with_doubt(words: Sequence[Word], profiles: Profiles) -> list[GivenOperand]:
    def is_program(name: str) -> bool:
        return profiles.profile(name) is not None

    return [
        GivenOperand(
            word=word,
            guarded=may_be_code(word, before) and not is_prose(word, before, is_program),
            may_be_option=is_option_like(word),
            parts=SETTING,
        )
        for word, before in zip(words, (None, *words), strict=False)
    ]


# ------------------------------------------------------------------ variables, redirections


def _matches_assignments(invocation: Invocation, pattern: CommandPattern) -> bool | None:
    answer: bool | None = True
    for wanted in pattern.assignments:
        given = [one for one in invocation.command.assignments if one.name == wanted.name]
        found = any_of(_same_value(one, wanted) for one in given)
        answer = both(answer, found)
    spelled = {wanted.name for wanted in pattern.assignments}
    for one in invocation.command.assignments:
        harmless = is_harmless_assignment(one, invocation, pattern.profiles)
        harmless = harmless or (pattern.files is not None and _is_switch(one, pattern.profiles))
        if one.name not in spelled and not harmless:
            answer = both(answer, None)
    return answer


def _is_switch(assignment: Assignment, profiles: Profiles) -> bool:
    """Return whether a variable that no known program reads is a number, or turned on or off.

    Of a program of the workspace the code is not known; such a value names no file and no program.
    """
    value = assignment.value
    unknown = profiles.variable(assignment.name) is None and not assignment.appends
    return unknown and value.known and _SWITCH.fullmatch(value.text) is not None


def _same_value(given: Assignment, wanted: Assignment) -> bool | None:
    answer = word_matches(given.value, wanted.value)
    return both(answer, None) if given.appends and not wanted.appends else answer


def _matches_redirections(
    invocation: Invocation, pattern: CommandPattern, *, others_covered: bool
) -> bool | None:
    answer: bool | None = True
    for wanted in pattern.redirections:
        given = invocation.command.redirections
        answer = both(answer, any_of(_same_redirection(one, wanted) for one in given))
    uncovered = uncovered_redirections(invocation, pattern)
    if uncovered and (answer is False or not others_covered or _is_script(invocation, uncovered)):
        # It may be another spelling of the pattern's.
        return None
    return answer


def _is_script(invocation: Invocation, redirections: tuple[Redirection, ...]) -> bool:
    """Return whether an input file may be the code that runs: `bash < x`."""
    reads = any(one.op.startswith("<") for one in redirections)
    return reads and invocation.unseen and not invocation.operands


def _same_redirection(given: Redirection, wanted: Redirection) -> bool | None:
    if _operation(given) != _operation(wanted):
        return False
    # A target with `..` is not the one that the pattern spelled.
    if not wanted.target.known and ".." in given.target.text.split("/"):
        return False
    return word_matches(given.target, wanted.target)


def _operation(redirection: Redirection) -> tuple[str, int | None]:
    """Return what a redirection does, and to which descriptor."""
    op = ">" if redirection.op == ">|" else redirection.op
    if redirection.fd is not None or op.startswith("&"):
        return op, redirection.fd
    return op, 0 if op.startswith("<") else 1

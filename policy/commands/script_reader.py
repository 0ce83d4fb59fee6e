"""The lists, pipelines and compound commands of a script as spelled in, its findings out."""

from __future__ import annotations

import re
from dataclasses import replace

from policy.commands.cursor import Cursor
from policy.commands.expansions import Expansions
from policy.commands.pieces import to_word, to_words
from policy.commands.redirections import Redirected, read_pending, read_redirection
from policy.commands.refusal import NotReadable
from policy.commands.script import SimpleCommand
from policy.commands.shell import Shell
from policy.commands.shell_builtins import is_relied_on
from policy.commands.simple_reader import SimpleReader
from policy.commands.word import Word
from policy.commands.word_reader import WordReader

_RESERVED = re.compile(r"(?:[a-z]+|[{}!]|\[\[|\]\])(?=[\s;&|()<>]|\Z)")
_CLOSING = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}", "]]"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?=[\s;&|()<>]|\Z)")
_FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:+@-]*(?=[\s(]|\Z)")
_PARENTHESES = re.compile(r"[ \t]*(?:\([ \t]*\))?")
# The name of a coprocess stands only before a compound command.
_COPROCESS = re.compile(
    r"([A-Za-z_][A-Za-z0-9_]*)[ \t]*(?=\(|(?:\{|\[\[|if|case|for|while|until|select)[\s(])"
)
_CASE_END = re.compile(r";;&|;;|;&")
_NUMBER_TEST = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_ALIAS = 2_000


class ScriptReader:
    """Reads all commands at a cursor, in one shell."""

    def __init__(self, cursor: Cursor, shell: Shell, inside: tuple[str, ...]) -> None:
        self.cursor = cursor
        self.shell = shell
        self.findings = cursor.findings
        self.inside = inside
        self.expansions = Expansions(cursor, shell, read_inside=self._read_inside)
        self.words = WordReader(cursor, self.expansions)
        self.simple = SimpleReader(self.words, self.expansions, inside)

    def read(self) -> None:
        """Read all of the text."""
        self._list()
        if self.cursor.place < len(self.cursor.text):
            raise NotReadable("something closes that was not opened")
        if self.cursor.pending:
            raise NotReadable("a here-document without its end")

    def _read_inside(self, cursor: Cursor, inside: str) -> None:
        """Read what stands in a substitution: back-ticks have a text of their own."""
        self.findings.enter()
        shell = self.shell.fork()
        shell.piped = shell.piped or inside.startswith(">")
        reader = ScriptReader(cursor, shell, (*self.inside, inside))
        if inside == "`…`":
            reader.read()
        else:
            reader._list()
            reader._close(")")
        self.findings.leave()

    # --- lists and pipelines

    def _list(self) -> None:
        """Read commands up to the end, a `)` or a word that closes a compound command."""
        moves = self.shell.moves
        while True:
            self._new_lines()
            if self._at_end():
                return
            if self.shell.moves != moves:
                # Whether an earlier change of folder worked is not known.
                self.shell.folders = None
            before = self.shell.fork()
            self._chain(before)
            self.cursor.skip_blanks()
            char = self.cursor.peek()
            if char == "&":
                self._operator("&")
                self.shell.become(before)
            elif char == ";" and not _CASE_END.match(self.cursor.text, self.cursor.place):
                self._operator(";")
            elif char == "#" or char == "\n":
                continue
            else:
                return

    def _at_end(self) -> bool:
        cursor = self.cursor
        char = cursor.peek()
        if not char or char in ");":
            return True
        word = _RESERVED.match(cursor.text, cursor.place)
        return word is not None and word[0] in _CLOSING

    def _new_lines(self) -> None:
        """Skip blanks, comments and new lines, and read the here-documents that begin at one."""
        cursor = self.cursor
        while True:
            cursor.skip_blanks()
            char = cursor.peek()
            if char == "#":
                end = cursor.text.find("\n", cursor.place)
                cursor.place = len(cursor.text) if end < 0 else end
            elif char == "\n":
                cursor.place += 1
                if cursor.pending:
                    read_pending(cursor, self.expansions)
            else:
                return

    def _chain(self, before: Shell) -> None:
        """Read what `&&` and `||` join."""
        shell, cursor = self.shell, self.cursor
        start, conditional, sure = shell.moves, shell.conditional, True
        while True:
            moves = shell.moves
            self._pipeline(before, sure=sure)
            if shell.moves != moves and not sure:
                shell.folders = None
            cursor.skip_blanks()
            if cursor.looking_at("&&"):
                self._operator("&&")
            elif cursor.looking_at("||"):
                self._operator("||")
                sure = False
                if shell.moves != start:
                    shell.folders = None
            else:
                shell.conditional = conditional
                return
            shell.conditional = conditional + 1
            before = shell.fork()
            self._new_lines()
            if self._at_end():
                raise NotReadable("nothing follows the last `&&` or `||`")

    def _operator(self, operator: str) -> None:
        cursor = self.cursor
        cursor.place += len(operator)
        if cursor.looking_at("\\\n"):
            cursor.skip_blanks()
            if cursor.peek() and cursor.peek() in "&|;>":
                raise NotReadable("an operator that is spelled over two lines")

    def _pipeline(self, before: Shell, *, sure: bool) -> None:
        """Read what `|` joins: each of them runs in a shell of its own."""
        shell, cursor = self.shell, self.cursor
        moves = shell.moves
        negated = self._prefixes()
        self._command(sure=sure)
        if negated and shell.moves != moves:
            shell.folders = None
        joined = False
        while True:
            cursor.skip_blanks()
            if cursor.peek() != "|" or cursor.peek(1) == "|":
                break
            # What `|&` adds is a copy of a descriptor, which touches nothing.
            self._operator("|&" if cursor.peek(1) == "&" else "|")
            self._new_lines()
            if self._at_end():
                raise NotReadable("nothing follows the last `|`")
            conditional = shell.conditional
            shell.become(before)
            shell.conditional = conditional
            shell.piped, shell.stdin = True, None
            joined = True
            self._command(sure=False)
        if joined:
            conditional = shell.conditional
            shell.become(before)
            shell.conditional = conditional

    def _prefixes(self) -> bool:
        """Skip `!` and `time`; tell whether one of them negates."""
        cursor = self.cursor
        negated = False
        while True:
            word = _RESERVED.match(cursor.text, cursor.place)
            if word is None or word[0] not in ("!", "time"):
                return negated
            cursor.place = word.end()
            cursor.skip_blanks()
            negated = negated or word[0] == "!"
            if word[0] == "time":
                options = re.compile(r"(?:-p(?=\s)|--(?=\s)|[ \t])*").match(
                    cursor.text, cursor.place
                )
                assert options is not None
                cursor.place = options.end()
                if cursor.peek() in ("-", "", "\n", ";"):
                    raise NotReadable("a `time` that could not be read")

    # --- commands

    def _command(self, *, sure: bool) -> None:
        cursor, shell = self.cursor, self.shell
        if cursor.peek() == "(":
            self._compound("((" if cursor.looking_at("((") else "(")
            return
        word = _RESERVED.match(cursor.text, cursor.place)
        if word is not None and word[0] in _COMPOUND:
            self._compound(word[0])
        elif word is not None and word[0] == "function":
            cursor.place = word.end()
            self._function_definition()
        elif word is not None and word[0] == "coproc":
            cursor.place = word.end()
            self._coprocess()
        else:
            self.simple.read(sure=sure, function=self._function, alias=self._alias)

    def _coprocess(self) -> None:
        cursor, shell = self.cursor, self.shell
        cursor.skip_blanks()
        named = _COPROCESS.match(cursor.text, cursor.place)
        if named is not None and named[1] not in _COMPOUND:
            cursor.place = named.end()
            shell.set_unknown(named[1])
        before = shell.fork()
        shell.piped = True
        self._command(sure=False)
        shell.become(before)

    def _compound(self, kind: str) -> None:
        """Read a compound command with the redirections behind it."""
        findings, cursor, shell = self.findings, self.cursor, self.shell
        findings.enter()
        first, start = len(findings.commands), cursor.place
        cursor.place += len(kind)
        if kind == "(":
            before = shell.fork()
            self._list()
            self._close(")")
            shell.become(before)
        elif kind == "{":
            self._list()
            self._close("}")
        elif kind == "((":
            self.expansions.arithmetic("))")
        elif kind == "[[":
            self._test(start)
        else:
            self._conditional(kind)
        findings.leave()
        end = cursor.place
        self._redirections(first, cursor.text[start:end])

    def _redirections(self, first: int, text: str) -> None:
        """Read the redirections of a compound command, as a command without words."""
        cursor, findings = self.cursor, self.findings
        given = Redirected()
        start = cursor.place
        while True:
            cursor.skip_blanks()
            char = cursor.peek()
            if not char or not read_redirection(self.words, given, self.shell):
                break
        if not given.redirections and not given.inputs:
            return
        if given.inputs:
            for place in range(first, len(findings.commands)):
                if findings.commands[place].stdin is None:
                    findings.commands[place] = replace(findings.commands[place], piped=True)
        findings.commands.append(
            SimpleCommand(
                redirections=tuple(given.redirections),
                folders=self.shell.folders,
                stdin=given.stdin,
                text=cursor.text[start : cursor.place].strip(),
                number=len(findings.commands) + 1,
                inside=self.inside,
            )
        )
        for document in given.texts:
            document.commands.append(len(findings.commands) - 1)

    def _conditional(self, kind: str) -> None:
        """Read a compound command whose parts may run once, not at all or many times."""
        shell, commands = self.shell, self.findings.commands
        first, moves, carried = len(commands), shell.moves, shell.carried
        shell.conditional += 1
        loops = kind not in ("if", "case")
        if loops:
            shell.forget_values()
        match kind:
            case "if":
                self._if()
            case "case":
                self._case()
            case "while" | "until":
                self._list()
                self._group("do", "done")
            case _:
                self._for(kind)
        shell.conditional -= 1
        if loops:
            shell.forget_values()
        if shell.moves != moves:
            shell.folders = None
        if not loops:
            return
        later = shell.carried[len(carried) :]
        for place in range(first, len(commands)):
            command = commands[place]
            if shell.moves != moves:
                command = replace(command, folders=None)
            if later and command.words:
                command = replace(command, assignments=(*later, *command.assignments))
            commands[place] = command

    def _group(self, first: str, last: str) -> None:
        self._close(first)
        self._list()
        self._close(last)

    def _close(self, word: str) -> None:
        """Take the word that has to stand here."""
        cursor = self.cursor
        cursor.skip_blanks()
        if word == ")":
            found = cursor.looking_at(")")
        else:
            match = _RESERVED.match(cursor.text, cursor.place)
            found = match is not None and match[0] == word
        if not found:
            raise NotReadable(f"a `{word}` is missing")
        cursor.place += len(word)

    def _if(self) -> None:
        shell = self.shell
        moves = shell.moves
        self._list()
        self._close("then")
        self._list()
        while True:
            word = _RESERVED.match(self.cursor.text, self.cursor.place)
            if shell.moves != moves:
                shell.folders = None
            if word is None or word[0] not in ("elif", "else"):
                break
            self.cursor.place = word.end()
            self._list()
            if word[0] == "elif":
                self._close("then")
                self._list()
        self._close("fi")

    def _case(self) -> None:
        cursor, shell = self.cursor, self.shell
        moves = shell.moves
        cursor.skip_blanks()
        self._word()
        self._new_lines()
        self._close("in")
        while True:
            self._new_lines()
            word = _RESERVED.match(cursor.text, cursor.place)
            if word is not None and word[0] == "esac":
                cursor.place = word.end()
                return
            if shell.moves != moves:
                shell.folders = None
            if cursor.looking_at("("):
                cursor.place += 1
            while True:
                cursor.skip_blanks()
                self._word()
                cursor.skip_blanks()
                if not cursor.looking_at("|"):
                    break
                cursor.place += 1
            self._close(")")
            self._list()
            end = _CASE_END.match(cursor.text, cursor.place)
            if end is not None:
                cursor.place = end.end()
            else:
                self._close("esac")
                return

    def _for(self, kind: str) -> None:
        cursor = self.cursor
        cursor.skip_blanks()
        if kind == "for" and cursor.looking_at("(("):
            cursor.place += 2
            for end in (";", ";", "))"):
                self.expansions.arithmetic(end)
            cursor.skip_blanks()
            if cursor.looking_at(";"):
                cursor.place += 1
        else:
            self._named_for()
        self._new_lines()
        if cursor.looking_at("{"):
            self._group("{", "}")
        else:
            self._group("do", "done")

    def _named_for(self) -> None:
        """Read `NAME in …;` of a loop."""
        cursor = self.cursor
        name = _NAME.match(cursor.text, cursor.place)
        if name is None:
            raise NotReadable("a loop that could not be read")
        cursor.place = name.end()
        self._new_lines()
        values: list[Word] = []
        word = _RESERVED.match(cursor.text, cursor.place)
        if word is not None and word[0] == "in":
            cursor.place = word.end()
            while True:
                cursor.skip_blanks()
                if cursor.peek() in ("", ";", "\n", "#"):
                    break
                values += self._word()
            if not cursor.peek():
                raise NotReadable("a loop that could not be read")
        if cursor.looking_at(";"):
            cursor.place += 1
        if values and all(each.known and each.text.isdecimal() for each in values):
            self.shell.set_number(name[0])
        else:
            self.shell.set_unknown(name[0])

    def _word(self) -> list[Word]:
        """Read one word that has to stand here."""
        start = self.cursor.place
        pieces = self.words.pieces()
        if self.cursor.place == start:
            raise NotReadable("a word is missing")
        self.findings.count_word()
        return to_words(pieces)

    def _test(self, start: int) -> None:
        """Read `[[ … ]]`, whose words are neither split nor replaced by file names."""
        cursor, findings = self.cursor, self.findings
        place = len(findings.commands)
        findings.commands.append(SimpleCommand())
        words = [Word("[[")]
        numbers = False
        spelled: list[str] = []
        while words[-1].text != "]]":
            self._new_lines()
            before = cursor.place
            sign = re.compile(r"&&|\|\||[()<>]").match(cursor.text, before)
            if sign is not None and not cursor.text.startswith("(", before + 1):
                cursor.place = sign.end()
                words.append(Word(sign[0]))
                continue
            pattern = words[-1].text in ("=~", "==", "=", "!=")
            pieces = self.words.pieces(pattern=pattern)
            if cursor.place == before:
                raise NotReadable("a `[[` that could not be read")
            findings.count_word()
            spelled.append(cursor.text[before : cursor.place])
            words.append(replace(to_word(pieces), many=False))
            numbers = numbers or words[-1].text in _NUMBER_TEST
        if numbers:
            self._numbers(" ".join(spelled))
        findings.commands[place] = SimpleCommand(
            words=tuple(words),
            assignments=self.shell.carried,
            folders=self.shell.folders,
            text=cursor.text[start : cursor.place],
            number=place + 1,
            inside=self.inside,
        )

    def _numbers(self, spelled: str) -> None:
        """Note what a test of numbers computes with."""
        if "$(" in spelled or "`" in spelled:
            self.findings.gap("arithmetic with the output of a command")
        self.findings.computed |= set(_IDENTIFIER.findall(spelled))

    # --- functions and aliases

    def _function_definition(self) -> None:
        cursor = self.cursor
        cursor.skip_blanks()
        name = _FUNCTION_NAME.match(cursor.text, cursor.place)
        if name is None:
            raise NotReadable("a function whose name could not be read")
        after = _PARENTHESES.match(cursor.text, name.end())
        assert after is not None
        cursor.place = after.end()
        self._function(name[0])

    def _function(self, name: str) -> None:
        """Read the body of a function, which runs wherever it is called."""
        shell, findings = self.shell, self.findings
        if not _FUNCTION_NAME.fullmatch(name):
            raise NotReadable("a function whose name could not be read")
        if is_relied_on(name):
            findings.gap("a function by the name of a command of the shell")
        self._new_lines()
        first, before = len(findings.commands), shell.fork()
        shell.conditional += 1
        shell.values, shell.folders, shell.piped = None, None, True
        if self.cursor.peek() != "(":
            word = _RESERVED.match(self.cursor.text, self.cursor.place)
            if word is None or word[0] not in _COMPOUND:
                raise NotReadable("a function whose body could not be read")
        self._command(sure=False)
        findings.bodies += range(first, len(findings.commands))
        moved, carried = shell.moves != before.moves, shell.carried
        shell.become(before)
        shell.carried, shell.values = carried, None
        if moved:
            shell.lose_folder()
        if not shell.conditional:
            shell.functions |= {name}

    def _alias(self, name: str, rest: str) -> None:
        """Read what an alias means here, in case the shell replaces it."""
        body = self.shell.aliases[name]
        if len(body) > _LONGEST_ALIAS:
            raise NotReadable("an alias that is too long")
        self.findings.enter()
        shell = self.shell.fork()
        shell.aliases = {each: text for each, text in shell.aliases.items() if each != name}
        try:
            ScriptReader(Cursor(f"{body} {rest}", self.findings), shell, self.inside).read()
        except NotReadable as problem:
            self.findings.gap(f"an alias that could not be read: {problem}")
        self.findings.leave()


_COMPOUND = frozenset({"{", "if", "while", "until", "for", "case", "select", "[["})

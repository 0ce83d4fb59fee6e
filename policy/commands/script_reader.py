"""The lists and pipelines of a script as spelled in, its findings out."""

from __future__ import annotations

from policy import later
from policy.commands.compound_reader import CASE_END, CompoundReader
from policy.commands.cursor import Cursor
from policy.commands.definitions import Definitions
from policy.commands.expansions import Expansions
from policy.commands.redirections import read_pending
from policy.commands.refusal import NotReadable
from policy.commands.reserved import CLOSING, COMPOUND, reserved_word
from policy.commands.shell import Shell
from policy.commands.simple_reader import SimpleReader
from policy.commands.word_reader import WordReader

_TIME_OPTIONS = later.pattern(r"(?:-p(?=\s)|--(?=\s)|[ \t])*")


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
        self.compound = CompoundReader(self)
        self.definitions = Definitions(self, read_text=self._read_alias)

    def read(self) -> None:
        """Read all of the text."""
        self.read_list()
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
            reader.read_list()
            reader.close(")")
        self.findings.leave()

    def read_list(self) -> None:
        """Read commands up to the end, a `)` or a word that closes a compound command."""
        moves = self.shell.moves
        while True:
            self.new_lines()
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
            elif char == ";" and not CASE_END.match(self.cursor.text, self.cursor.place):
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
        return reserved_word(cursor) in CLOSING

    def new_lines(self) -> None:
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
            self.new_lines()
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
        self.command(sure=sure)
        if negated and shell.moves != moves:
            shell.folders = None
        joined = False
        while True:
            cursor.skip_blanks()
            if cursor.peek() != "|" or cursor.peek(1) == "|":
                break
            # What `|&` adds is a copy of a descriptor, which touches nothing.
            self._operator("|&" if cursor.peek(1) == "&" else "|")
            self.new_lines()
            if self._at_end():
                raise NotReadable("nothing follows the last `|`")
            conditional = shell.conditional
            shell.become(before)
            shell.conditional = conditional
            shell.piped, shell.stdin = True, None
            joined = True
            self.command(sure=False)
        if joined:
            conditional = shell.conditional
            shell.become(before)
            shell.conditional = conditional

    def _prefixes(self) -> bool:
        """Skip `!` and `time`; tell whether one of them negates."""
        cursor = self.cursor
        negated = False
        while True:
            word = reserved_word(cursor)
            if word not in ("!", "time"):
                return negated
            cursor.findings.count_part()
            cursor.place += len(word)
            negated = negated or word == "!"
            cursor.skip_blanks()
            if word == "time":
                options = _TIME_OPTIONS.match(cursor.text, cursor.place)
                assert options is not None
                cursor.place = options.end()
                if cursor.peek() in ("-", "", "\n", ";"):
                    raise NotReadable("a `time` that could not be read")

    def command(self, *, sure: bool) -> None:
        """Read one command, of any kind."""
        cursor = self.cursor
        if cursor.peek() == "(":
            self.compound.read("((" if cursor.looking_at("((") else "(")
            return
        word = reserved_word(cursor)
        if word in COMPOUND:
            self.compound.read(word)
        elif word == "function":
            self.definitions.read_function()
        elif word == "coproc":
            self.definitions.read_coprocess()
        else:
            self.simple.read(
                sure=sure, function=self.definitions.body, alias=self.definitions.alias
            )

    def _read_alias(self, text: str, shell: Shell) -> None:
        ScriptReader(Cursor(text, self.findings), shell, self.inside).read()

    def close(self, word: str) -> None:
        """Take the word that has to stand here."""
        cursor = self.cursor
        cursor.skip_blanks()
        if not (cursor.looking_at(")") if word == ")" else reserved_word(cursor) == word):
            raise NotReadable(f"a `{word}` is missing")
        cursor.place += len(word)

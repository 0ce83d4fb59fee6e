"""Mistakes in definitions: sets, `let` and parameters."""

from __future__ import annotations

from policy.syntax.mistakes.mistake import Mistake, one_of

_SETS = "paths|hosts|commands|strings|numbers|addresses|tools"

DEFINITIONS: tuple[Mistake, ...] = (
    Mistake(
        example='«let» paths work = "/srv/**"',
        before=rf"\A(?P<at>let)[ \t]+(?:{_SETS})[ \t]+",
        found=r"(?=\w)",
        message="a set is defined without `let`",
        help="remove it",
    ),
    Mistake(
        example="let «=» now within 08:00..18:00",
        before=r"\Alet[ \t]+",
        found=r"[=:]",
        message="the name is missing",
        help="write `let NAME = …`",
    ),
    Mistake(
        example="let office«:» now within 08:00..18:00",
        before=r"\Alet[ \t]+\w+[ \t]*",
        found=r":=|:|==",
        expected=one_of("_EQUALS"),
        message="the name and what it stands for are separated by `=`",
        help="write `let NAME = …`",
    ),
    Mistake(
        example="let office «now» within 08:00..18:00",
        before=r"\Alet[ \t]+\w+[ \t]*",
        found=r'"[^"\n]*"?|[^\s]+',
        expected=one_of("_EQUALS"),
        message="`=` is missing before `{}`",
        help="write `let NAME = …`",
    ),
    Mistake(
        example="param home: «str»",
        before=r"\Aparam[ \t]+\w+[ \t]*:[ \t]*",
        found=r"\w+",
        expected=one_of("KIND"),
        message="`{}` is not a type of parameters",
        help="types are `string`, `number`, `duration`, `path`, `host`, and those of sets: "
        "`paths`, `hosts`, `commands`, `strings`, `numbers`, `addresses`, `tools`",
        near_to=("string", "number", "duration", "path", "host", "paths", "hosts", "commands"),
    ),
    Mistake(
        example='paths «my-project» = "/srv/**"',
        before=rf"\A(?:{_SETS}|let|data|param)[ \t]+(?P<at>[A-Za-z_]\w*)",
        found=r"(?:-\w+)+",
        message="`{}` is not a valid name",
        help="a name consists of letters, digits and `_`",
    ),
    Mistake(
        example='paths «=» "/srv/**"',
        before=rf"\A(?:{_SETS})[ \t]+",
        found=r"[=:]",
        message="the name is missing",
        help='write `paths NAME = "…"`',
    ),
    Mistake(
        example='paths project«:» "/srv/**"',
        before=rf"\A(?:{_SETS})[ \t]+\w+[ \t]*",
        found=r":=|:|==",
        expected=one_of("_EQUALS"),
        message="the name and what it stands for are separated by `=`",
        help='write `paths NAME = "…"`',
    ),
    Mistake(
        example='paths project «"/srv/**"»',
        before=rf"\A(?:{_SETS})[ \t]+\w+[ \t]*",
        found=r'"[^"\n]*"?|[^\s]+',
        expected=one_of("_EQUALS"),
        message="`=` is missing before `{}`",
        help='write `paths NAME = "…"`',
    ),
    Mistake(
        example='paths project = «[»"/a", "/b"]',
        before=rf"\A(?:{_SETS})[ \t]+\w+[ \t]*=[^\n]*",
        found=r"\[",
        message="the items of a set are listed without brackets",
        help='write `= "a", "b"`',
    ),
    Mistake(
        example="commands look = «coding.look»",
        before=r"\Acommands[ \t]+\w+[ \t]*=(?:[^\n]*[,\s])?(?P<at>[A-Za-z]\w*)",
        found=r"\.[A-Za-z]\w*(?=[,\s]|\Z)",
        message="`{}` is a set of a pack, which a set of yours cannot contain",
        help="list it where it is used: `runs only [{}, \"make *\"]`, or in `allowed = [{}, …]`",
    ),
    Mistake(
        example="hosts corp = «corp.example»",
        before=rf"\A(?:{_SETS})[ \t]+\w+[ \t]*=(?:[^\n]*[,\s])?(?P<at>[\w*-]+)",
        found=r"[.*/@:-][^\s,\"]*",
        message="`{}` needs double quotes here",
        help='write `"{}"`',
    ),
    Mistake(
        example="commands look = «git» status",
        before=r"\Acommands[ \t]+\w+[ \t]*=\s*(?:[^\n]*,\s*)?(?P<at>\w+)[ \t]+",
        found=r"(?=[^\s,])",
        message="a command is written in double quotes",
        help='write `"git status"`',
    ),
    Mistake(
        example='paths project = "/a" «"/b"»',
        before=rf"\A(?:{_SETS})[ \t]+\w+[ \t]*=[^\n]*[\w\"]\s+",
        found=r'"[^"\n]*"?|[\w*?]+',
        expected=one_of("COMMA"),
        message="a comma is missing before `{}`",
        help="put commas between the items",
    ),
    Mistake(
        example='paths project = "/a"«,»',
        before=r"(?P<at>,)",
        found=r"\s*\Z",
        message="the list ends with a comma",
        help="remove it, or continue the list on an indented line",
    ),
    Mistake(
        example="paths project «=»",
        before=rf"\A(?:{_SETS}|let)[ \t]+\w+[ \t]*(?P<at>=)",
        found=r"\s*\Z",
        message="nothing follows the `=`",
        help="write what the name stands for behind the `=`, or on indented lines below it",
    ),
    Mistake(
        example="param home «string»",
        before=r"\Aparam[ \t]+\w+[ \t]+",
        found=r"\w+",
        expected=one_of("COLON"),
        message="a colon is missing before the type",
        help="write `param NAME: {}`",
    ),
)  # fmt: skip

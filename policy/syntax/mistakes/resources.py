"""Mistakes in conditions about resources: `reads`, `writes`, `runs`, `connects` and `sends`."""

from __future__ import annotations

from policy.syntax.mistakes.mistake import Mistake, one_of

_VERB = "reads|writes|runs|connects|sends"

RESOURCES: tuple[Mistake, ...] = (
    Mistake(
        example="deny * when «in» workspace",
        before=r"\b(?:when|unless|and|or|not)\s+(?P<at>in|inside|within|under)\s+",
        found=r"(?=\S)",
        message="a verb is missing before `{}`",
        help="write `reads only …` or `writes only …` in an `allow`, `reads …` elsewhere",
    ),
    Mistake(
        example='deny * when connects to «not» "a.example"',
        before=rf"\b(?:{_VERB})(?:\s+(?:any|only|to))*\s+(?P<at>not)\s+",
        found=r"(?=\S)",
        message="a test of resources is negated by `outside`",
        help="write `connects outside …`, which holds if one resource is not in the set",
    ),
    Mistake(
        example="allow bash_exec when runs only «git *»",
        before=r"\bruns(?:\s+(?:any|only|outside))*\s+(?P<at>[\w./-]+)\s+",
        found=r"(?!(?:and|or|unless|when|because|with|by|audit|two|remember|except|for)\b)[\w*./-]+",
        message="a command is written in double quotes",
        help='write the whole pattern in quotes: `runs only "git *"`',
    ),
    Mistake(
        example="deny * when «only» workspace",
        before=r"\b(?:when|unless|and|or|not)\s+(?P<at>only|outside)\s+",
        found=r"(?=\S)",
        message="a verb is missing before `{}`",
        help="write `reads {} …`, `writes {} …` or `runs {} …`",
    ),
    Mistake(
        example="deny * when reads only «unless» input.a",
        before=rf"\b(?:{_VERB})(?:\s+(?:any|only|outside|to))*\s+"
        r"(?P<at>unless|when|because|with|by|and|or)\s+",
        found=r"(?=\S)",
        message="a set or a pattern is missing before `{}`",
        help='write one after the verb, such as `reads "src/**"`',
    ),
    Mistake(
        example='deny * when reads "a"«,» "b"',
        before=rf"\b(?:{_VERB})(?:\s+(?:any|only|outside|to))*\s+(?:\"[^\"\n]*\"|[\w.]+)\s*",
        found=r",",
        message="several items are listed in brackets",
        help='write them as a list: `["a", "b"]`, or name a set of them',
    ),
    Mistake(
        example="deny * when connects to «only» corp",
        before=r"\b(?:connects|sends)\s+to\s+(?P<at>only|any|outside)\s+",
        found=r"(?=\S)",
        message="`{}` comes directly after the verb",
        help="write `connects only to …`, `sends only to …`, or `connects outside …`",
    ),
    Mistake(
        example="deny web_fetch when connects «corp»",
        before=r"\b(?:connects|sends)(?:\s+(?:any|only))?\s+",
        found=r"[^\s]+",
        expected=one_of("_TO"),
        message="`to` is missing",
        help="write `connects to …`, `connects only to …`, `sends to …`; `outside` takes no `to`",
    ),
    Mistake(
        example='deny * when connects outside «to» "corp.example"',
        before=r"\b(?:connects|sends)\s+outside\s+(?P<at>to)\s+",
        found=r"(?=\S)",
        message="`outside` is not followed by `to`",
        help="remove it",
    ),
    Mistake(
        example="deny * when reads «from» workspace",
        before=rf"\b(?:{_VERB})(?:\s+(?:any|only|outside|to))*\s+"
        r"(?P<at>from|of|on|inside|within|under|below|into|the|all|every|files?|folders?)\s+",
        found=r"(?=\S)",
        message="`{}` is not needed after the verb",
        help="remove it; in an `allow` write `reads only …`",
    ),
    Mistake(
        example='deny * when reads «in» "/srv/**"',
        before=rf"\b(?:{_VERB})(?:\s+(?:any|only|outside|to))*\s+(?P<at>in)\s+",
        found=r"(?=\S)",
        message="`{}` is not needed after the verb",
        help="remove it",
    ),
    Mistake(
        example="deny bash_exec when runs «/rm .*/»",
        before=r"\bruns(?:\s+(?:any|only|outside))?\s+",
        found=r"/[^/\n]*/(?![\w*])",
        message="a command is described by a pattern, not by a regular expression",
        help='write a pattern in double quotes, such as `"git diff *"`',
    ),
    Mistake(
        example="deny * when reads «/.*[.]pem/»",
        before=rf"(?:{_VERB})(?:\s+(?:any|only|outside|to))*\s+",
        found=r"/[^/\s]*(?:[.]\*|[.]\+|\\|\[|\$|\^|\|)[^/\s]*/(?![\w*])",
        message="a resource is described by a pattern, not by a regular expression",
        help='write a pattern in double quotes, such as `"**/*.pem"` or `"git diff *"`',
    ),
    Mistake(
        example="deny * when reads «~/.ssh/**»",
        before=rf"(?:(?<![=!<>])=|,|\[|\b(?:{_VERB})(?:\s+(?:any|only|outside|to))*|except)\s*",
        found=r"(?:~|\.{1,2}(?=/)|/(?=[\w.*/])|\*)[^\s,\"\])]*",
        expected=one_of("STRING"),
        message="a path, host or command is written in double quotes",
        help='write `"{}"`',
    ),
    Mistake(
        example="deny * when reads «src/**»",
        before=rf"\b(?:{_VERB})(?:\s+(?:any|only|outside|to))*\s+(?P<at>[\w-]+)",
        found=r"[.*/@:-][^\s,\"\])]*",
        message="`{}` needs double quotes here, unless it is the name of a set",
        help='write `"{}"`; the name of a set has no hyphens',
    ),
)  # fmt: skip

"""Files that a program writes beside the one it is given.

`gzip a` writes `a.gz`, `gunzip a.gz` writes `a`; which of the two depends on options, so both
count.
"""

from __future__ import annotations

_SUFFIXES = {
    "gzip": ("gz",),
    "gunzip": ("gz",),
    "bzip2": ("bz2",),
    "bunzip2": ("bz2",),
    "xz": ("xz", "lzma"),
    "unxz": ("xz", "lzma"),
    "lzma": ("lzma",),
    "unlzma": ("lzma",),
    "zstd": ("zst", "gz", "xz", "lzma", "lz4"),
    "unzstd": ("zst",),
    "lz4": ("lz4",),
    "unlz4": ("lz4",),
    "compress": ("Z",),
    "uncompress": ("Z",),
    "gpg": ("gpg", "asc", "sig"),
}
_EVERY = tuple(dict.fromkeys(suffix for listed in _SUFFIXES.values() for suffix in listed))
# Replacements for suffixes that are removed.
_INSTEAD = {"tgz": ".tar", "taz": ".tar", "tbz": ".tar", "tbz2": ".tar", "txz": ".tar",
            "tlz": ".tar", "tzst": ".tar", "tlz4": ".tar", "z": "", "pgp": ""}  # fmt: skip


def sibling_files(program: str, name: str) -> tuple[str, ...]:
    """Return the names of the files that may be written for a file."""
    made = tuple(f"{name}.{suffix}" for suffix in _SUFFIXES.get(program, _EVERY))
    stem, dot, suffix = name.rpartition(".")
    if dot and suffix in _INSTEAD:
        return (*made, stem + _INSTEAD[suffix])
    known = dot and suffix in (*_EVERY, "out")
    return (*made, stem) if known else (*made, *_without_dot(program, name))


def _without_dot(program: str, name: str) -> tuple[str, ...]:
    """Return the name that bzip2 derives from a name with an unknown ending."""
    return (f"{name}.out",) if program in ("bzip2", "bunzip2") else ()

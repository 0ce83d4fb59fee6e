"""Types of files that `rg -t` knows, with all names that it searches for them, in any version.

A type that is not listed may stand for any name, such as `sh` for `.profile`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ENDINGS = {
    "py|python": "py pyi",
    "js": "js jsx vue cjs mjs",
    "ts|typescript": "ts tsx cts mts",
    "rust": "rs",
    "go": "go",
    "java": "java jsp jspx properties",
    "kotlin": "kt kts",
    "swift": "swift",
    "cs|csharp": "cs",
    "php": "php php3 php4 php5 php7 php8 pht phtml",
    "scala": "scala sbt",
    "css": "css scss",
    "html": "htm html ejs",
    "md|markdown": "md mdx mdwn mdown mkd mkdn markdown",
    "yaml": "yml yaml",
    "c": "c h H c.in h.in H.in cats",
    "cpp": "C h H C.in h.in H.in cpp hpp cpp.in hpp.in cxx hxx cxx.in hxx.in cc hh cc.in hh.in inl",
    "json": "json sarif",
    "toml": "toml",
    "txt": "txt",
    "sql": "sql psql",
    "tf": "tf tfvars hcl",
}
_MORE = {"json": ("composer.lock",), "toml": ("Cargo.lock",)}

FILE_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        name: (*(f"*.{ending}" for ending in endings.split()), *_MORE.get(name, ()))
        for names, endings in _ENDINGS.items()
        for name in names.split("|")
    }
)

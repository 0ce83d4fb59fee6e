"""The name of a module of this package in; the module, from its bytecode where that is, out.

Python looks for a module in many ways, one after the other, which takes longer than most of our
modules do when they run. In a process of our own, the bytecode that Python keeps beside each source
is looked for at once, and read if it was made of that very source by this very Python: what Python
itself demands of it. Everything else is left to Python: where there is no bytecode, or an older
one, or one that tells its source by a digest, and all modules of others.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, spec_from_file_location
from types import CodeType, ModuleType

__all__ = ["at_once"]

_OURS = f"{__name__.partition('.')[0]}."
# Before the code stand how it was made, that its source is told by time and size, and those.
_MADE = MAGIC_NUMBER + bytes(4)
_HEADER = len(_MADE) + 8


class _Loader(SourceFileLoader):
    """What Python's own loader is, of a module whose code is known already."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module that says of itself at once what Python would fill in bit by bit."""
        module = ModuleType(spec.name)
        said: dict[str, object] = vars(module)
        said["__loader__"] = self
        said["__package__"] = spec.parent
        said["__file__"] = spec.origin
        said["__cached__"] = spec.cached
        if spec.submodule_search_locations is not None:
            said["__path__"] = spec.submodule_search_locations
        return module

    def get_code(self, fullname: str) -> CodeType:
        """Return the code that was found."""
        return self._code


class _Finder:
    """Finds modules of ours of which there is bytecode."""

    def __init__(self, cached: str) -> None:
        self._cached = cached

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what Python needs to know to import a module; None: it is to look itself."""
        if not path or not name.startswith(_OURS):
            return None
        tail = name.rpartition(".")[2]
        # No module of ours is called like a package beside it.
        return self._found(name, path[0], tail) or self._found(name, f"{path[0]}/{tail}")

    def _found(self, name: str, folder: str, tail: str = "__init__") -> ModuleSpec | None:
        cached = f"{folder}/{self._cached.format(tail)}"
        source = f"{folder}/{tail}.py"
        code = _code(cached, source)
        if code is None:
            return None
        loader = _Loader(name, source, code)
        within = [folder] if tail == "__init__" else None
        spec = spec_from_file_location(
            name, source, loader=loader, submodule_search_locations=within
        )
        if spec is not None:
            spec.cached = cached
        return spec


def at_once(environment: Mapping[str, str]) -> None:
    """Find modules of ours at once from here on, if bytecode is where it usually is.

    Python finds all of them where any quick way is switched off, as with the words of a command.
    """
    is_kept_here = sys.pycache_prefix is None and sys.implementation.cache_tag is not None
    if os.name == "posix" and is_kept_here and "PLACET_NO_FAST" not in environment:
        sys.meta_path.insert(0, _Finder(cache_from_source("{}.py")))


def _code(cached: str, source: str) -> CodeType | None:
    """Return the code in a file if it was made of a source; None where that is not plain."""
    try:
        said = os.stat(source)
        kept = _read(cached)
        made_of = int(said.st_mtime) & 0xFFFFFFFF | (said.st_size & 0xFFFFFFFF) << 32
        if not kept.startswith(_MADE + made_of.to_bytes(8, "little")):
            return None
        code = marshal.loads(memoryview(kept)[_HEADER:])  # noqa: S302 — as Python reads it
    except (OSError, EOFError, ValueError, TypeError):
        return None
    # Of a folder that was moved, Python sets right where its code says that it stands.
    return code if isinstance(code, CodeType) and code.co_filename == source else None


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, os.fstat(file).st_size)
    finally:
        os.close(file)

"""What an argument that is a URI names: the scheme decides between a file and a host.

What a URI of any other scheme names only its server knows. No `only` test covers it, and no other
test finds a file or host in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy.catalog import Verb
from policy.evaluation.accesses import Access
from policy.values import DEFAULT_PORTS, is_encodable, is_ordinary, quote

# A single letter would be a drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_UNCLEAR = re.compile(r"[\x00-\x20\x7f-\xa0\\]|\s")
_FILE_VERBS = ("reads", "writes")


def uri_accesses(verb: Verb, text: str, *, steps: tuple[str, ...]) -> Iterator[Access]:
    """Yield how a URI is accessed with a verb; nothing if its scheme names something else.

    A text without a scheme may be a path, or something that only its server knows.
    """
    if _UNCLEAR.search(text) or not is_encodable(text) or not is_ordinary(text):
        why = f"white space, a backslash or a hidden character in a URI: {quote(text)}"
        yield Access(verb, None, why=why)
        return
    found = _SCHEME.match(text)
    scheme = "" if found is None else found[1].lower()
    if scheme == "file" or not scheme:
        if verb in _FILE_VERBS:
            yield Access(verb, text, steps=steps)
    elif scheme in DEFAULT_PORTS:
        if verb == "connects":
            yield Access(verb, text, steps=steps)
        return
    if scheme != "file":
        kind = f"the scheme {quote(scheme)}" if scheme else "no scheme"
        why = f"only its server knows what a URI with {kind} names"
        yield Access(verb, None, unseen=True, why=why)

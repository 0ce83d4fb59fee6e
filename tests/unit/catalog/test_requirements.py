"""Requirements of Python packages: names with versions, in one spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import name_in, package_name, read_requirement


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("numpy", "numpy"),
        (" Zope.Interface_X ", "zope-interface-x"),
        ("numpy >= 2.1 , < 3", "numpy>=2.1,<3"),
        ("numpy==2.*", "numpy==2.*"),
        ("a~=1!2.0rc1.post2.dev3+local.1", "a~=1!2.0rc1.post2.dev3+local.1"),
        ("evil.zip", "evil-zip"),
    ],
)
def test_a_requirement_has_one_spelling(written: str, read: str) -> None:
    assert read_requirement(written) == read
    assert read_requirement(read) == read
    assert name_in(read) == package_name(name_in(read))


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("https://x.test/a-1.0-py3-none-any.whl", "not from a URL, a path or a repository"),
        ("a @ https://x.test/a.whl", "not from a URL, a path or a repository"),
        ("git+https://x.test/a", "not from a URL, a path or a repository"),
        ("./a", "not from a URL, a path or a repository"),
        ("a.whl/", "not from a URL, a path or a repository"),
        ("-r requirements.txt", "options"),
        ("--index-url=http:x.test", "options"),
        ("-e a", "options"),
        ("a; sys_platform == 'linux'", "markers"),
        ("a[all]", "extras"),
        ("a\n--no-index", "one line"),
        ("a\r-r x", "one line"),
        ("a --hash=sha256:00", "name, and versions"),
        ("a b", "name, and versions"),
        ("a==1 --pre", "no bound"),
        ("a===1", "`===`"),
        ("a>1.*", "no bound"),
        ("a==", "no bound"),
        ("a,b", "name, and versions"),
        ("", "name, and versions"),
        ("\u0430", "ASCII"),
    ],
)
def test_everything_else_is_refused(requirement: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_requirement(requirement)


@given(st.text(alphabet="aA1.-_ =<>!~*,;[]@/+\\\n\té", max_size=12))
def test_whatever_is_read_is_one_word_that_no_installer_takes_for_anything_else(text: str) -> None:
    try:
        read = read_requirement(text)
    except ValueError:
        return
    assert read_requirement(read) == read
    assert read[0].isalnum() and read.isascii()
    assert not set(read) & set(" ;[]@/\\\n\t")
    assert "." not in name_in(read)

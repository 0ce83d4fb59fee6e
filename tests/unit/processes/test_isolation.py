"""The options that keep an agent from choosing which modules our own processes import."""

from __future__ import annotations

import os
import site

import pytest

import policy
from policy.processes import isolated

PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(policy.__file__)))


@pytest.mark.parametrize(
    ("users_packages", "options"),
    [
        (PACKAGES, ["-E", "-P"]),
        ("/home/ada/.local/lib/python3.11/site-packages", ["-I"]),
        # Like a folder on another drive: nothing in common with the package.
        ("site-packages", ["-I"]),
    ],
)
def test_the_users_own_packages_count_where_placet_is_among_them(
    users_packages: str, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "getusersitepackages", lambda: users_packages)
    assert isolated() == options

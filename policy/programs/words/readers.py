"""The function that reads words in each role."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from policy.programs.embedded.embedded_program import ProgramEffects
from policy.programs.words.addresses import (
    read_database,
    read_image,
    read_inventory,
    read_repository,
    read_url_or_name,
)
from policy.programs.words.remotes import read_module, read_user_at_host
from policy.programs.words.special_forms import (
    read_client_variable,
    read_clock,
    read_filter_rule,
    read_library,
    read_listing_format,
    read_mailbox,
    read_name_or_file,
    read_name_or_script,
    read_page,
    read_password_source,
)
from policy.shell import Word

WORD_READERS: Mapping[str, Callable[[Word], ProgramEffects]] = {
    "database": read_database,
    "image": read_image,
    "repository": read_repository,
    "inventory": read_inventory,
    "url": read_url_or_name,
    "module": read_module,
    "user-at-host": read_user_at_host,
    "client-variable": read_client_variable,
    "clock": read_clock,
    "filter-rule": read_filter_rule,
    "listing-format": read_listing_format,
    "mailbox": read_mailbox,
    "page": read_page,
    "name-or-read": read_name_or_file,
    "library": read_library,
    "ran-module": read_module,
    "name-or-script": read_name_or_script,
    "password": read_password_source,
}

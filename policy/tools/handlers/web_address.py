"""The address that `web_fetch` connects to: the one that was judged."""

from __future__ import annotations

from dataclasses import dataclass

import ada_url

from policy.environment import JudgedHosts, look_up_host
from policy.model import ResolveHost
from policy.tools.handlers.judged_path import unquoted
from policy.values import Endpoint, Unreadable, is_localhost, read_endpoint

_PORTS = {"http": 80, "https": 443}
_LOCALHOST = ("127.0.0.1", "::1")
# Of a name with more addresses than this, the first ones are tried.
_MOST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAddress:
    """An http or https URL: its endpoint as rules read it, and the request target.

    `target` is path and query, `text` the whole URL without its fragment.
    """

    endpoint: Endpoint
    target: str
    text: str

    @property
    def authority(self) -> str:
        """The host as requests name it, with its port unless that is the scheme's default."""
        host = _in_url(self.endpoint.host)
        usual = self.endpoint.port == _PORTS[self.endpoint.scheme]
        return host if usual else f"{host}:{self.endpoint.port}"

    def at(self, address: str) -> str:
        """Return the URL that leads to one address, whatever its host resolves to."""
        endpoint = self.endpoint
        return f"{endpoint.scheme}://{_in_url(address)}:{endpoint.port}{self.target}"


def read_web_address(text: str) -> WebAddress | Unreadable:
    """Read a URL as the policy does, and reject one that browsers would not simply request."""
    endpoint = read_endpoint(text)
    if isinstance(endpoint, Unreadable):
        return Unreadable(reason=f"the URL cannot be used{unquoted(endpoint)}")
    if endpoint.scheme not in _PORTS or not text.lower().startswith(f"{endpoint.scheme}://"):
        return Unreadable(reason="only http and https URLs can be fetched")
    try:
        url = ada_url.URL(text)
    except (ValueError, UnicodeError):
        return Unreadable(reason="the URL cannot be used")
    if url.username or url.password:
        return Unreadable(reason="a URL with a user name cannot be fetched")
    url.hash = ""
    return WebAddress(endpoint=endpoint, target=url.pathname + url.search, text=url.href)


async def addresses_of(endpoint: Endpoint, judged: ResolveHost | None) -> tuple[str, ...]:
    """Return the addresses to connect to: the judged ones, if the policy looked the name up."""
    name = endpoint.host
    if endpoint.address is not None:
        return (name,)
    if is_localhost(name):
        return _LOCALHOST
    if isinstance(judged, JudgedHosts):
        found = await judged.addresses(name)
    else:
        # The policy looked up nothing, so no judged address can differ.
        found = (judged and judged(name)) or await look_up_host(name)
    return (found or ())[:_MOST]


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host

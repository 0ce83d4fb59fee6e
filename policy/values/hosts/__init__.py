"""Hosts, addresses, endpoints and URLs, with the patterns that rules write for them."""

"""The network of a confined program: one proxy, which connects to the hosts that are permitted."""

"""Words of a command by their roles: the files, hosts and commands that each names."""

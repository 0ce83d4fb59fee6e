"""Options and operands of a command, by the profile of its program."""

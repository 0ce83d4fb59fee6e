"""Which system calls a confined program may make: the filter, and what it refuses."""

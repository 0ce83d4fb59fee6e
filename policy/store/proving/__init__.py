"""Proves claims of a policy that is in force already, in a process of their own."""

"""Proves claims of edits and compares edits with what is in force, in a process of their own."""

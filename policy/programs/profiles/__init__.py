"""Profiles of programs: how each file of a profile is read, merged and looked up."""

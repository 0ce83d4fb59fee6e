"""Measurements of Placet beside other engines: `make bench`, or `python -m bench`."""

"""Commands: the text of a script in, what it runs, reads, writes and connects to out."""

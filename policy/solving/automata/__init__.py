"""Languages of strings as automata: what is in some of them and not in others."""

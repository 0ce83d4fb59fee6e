"""Regular expressions of RE2, and the string methods that some of them are equal to."""

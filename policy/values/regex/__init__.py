"""RE2 regular expressions, and string methods that are equivalent to some of them."""

"""Which inequalities between sums and products of numbers may hold at once."""

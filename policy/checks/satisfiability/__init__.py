"""Whether a condition can hold at all, and what no value can satisfy."""

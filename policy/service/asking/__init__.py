"""A judgement that asks: who must answer, what they are shown, and what answers leave to run."""

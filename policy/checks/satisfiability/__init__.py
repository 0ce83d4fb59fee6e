"""Find conditions that can never hold."""

"""The tools that come with Placet, and what runs them."""

"""What is kept and published of a call: its audit record, events and session trace."""

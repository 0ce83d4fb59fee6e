"""What a user wrote, and which values stand in it as whole words."""

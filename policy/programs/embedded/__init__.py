"""Programs inside arguments: awk, jq, sed and SQL, and what their texts do."""

"""SQL scripts: the tables that their statements read and write."""

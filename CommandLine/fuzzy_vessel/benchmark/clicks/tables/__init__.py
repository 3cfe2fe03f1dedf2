"""The click tables, each one a file; `table_parts` has what they share."""

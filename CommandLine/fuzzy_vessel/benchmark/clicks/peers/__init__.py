"""Other methods that get the same clicks."""

"""Several vessels in one run: known vessels, other ways to divide, a person, and the table."""

"""A synthetic contrast CT of a liver with known vessels and centrelines."""

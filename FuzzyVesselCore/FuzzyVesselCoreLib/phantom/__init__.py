"""A synthetic contrast CT of a liver with known vessels: `liver.liver_phantom`."""

"""Files of others that may be damaged or hostile, checked before a library opens them; names."""

"""Files of others that may be damaged or hostile: what is checked before a library opens them."""

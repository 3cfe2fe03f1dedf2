"""Results as files (`files`), in a folder that is complete or absent (`folder`)."""

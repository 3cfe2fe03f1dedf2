"""Folders that runs work in, and files of others, checked before a library opens them."""

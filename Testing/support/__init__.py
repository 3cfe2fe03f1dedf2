"""Volumes, scenes and files that several tests use."""

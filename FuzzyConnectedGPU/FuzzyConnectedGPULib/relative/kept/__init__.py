"""Owners by iterative relative connectedness that are kept while points and voxels change.

`kept_owners` (entry) -> `changed_levels` -> `changed_owners`; `bucket_queue` is the order of both.
"""

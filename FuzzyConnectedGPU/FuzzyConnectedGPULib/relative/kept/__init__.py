"""Owners by iterative relative connectedness that are kept while points and voxels change.

`kept_owners` (entry) -> `changed_levels` -> `changed_owners`; both go from one of the `plateaus` to
the next, in the order of a `bucket_queue`.
"""

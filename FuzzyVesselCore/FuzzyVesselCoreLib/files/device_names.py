"""Names of `folder_lock`."""

from .folder_lock import is_device_name  # noqa: F401

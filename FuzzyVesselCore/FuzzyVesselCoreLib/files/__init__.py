"""Files of others that may be damaged or hostile, checked before a library opens them; names.

Folders of long runs: `step_folder` keeps what steps have found, `folder_lock` one run at a time.
"""

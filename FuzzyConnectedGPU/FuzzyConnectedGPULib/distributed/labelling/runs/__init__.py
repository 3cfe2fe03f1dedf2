"""A run that makes labels: what it is given, needs and keeps, and what it writes.

`label_options` and `label_inputs` (checked), `label_needs` (memory and space), `label_folder` (what
its steps have found), `label_image` (the target), and `label_job`, which all of its steps share.
"""

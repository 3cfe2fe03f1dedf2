"""The panel of Potential-Field Skeleton (GPU); it needs Slicer with its user interface.

`skeleton_panel` has the vessels and Apply, `result_section` what was found, in words, in the table
and in the views; `branch_tools` the tools, those that wait for clicks in `branch_clicks`.
"""

"""The panel of Potential-Field Skeleton (GPU); it needs Slicer with its user interface.

`skeleton_panel` holds the sections: `vessels_section`, `result_section` (what was found, in words,
in the table and in the views) and `branch_tools`, those that wait for clicks in `branch_clicks`.
"""

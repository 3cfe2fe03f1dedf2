"""The panel of Potential-Field Skeleton (GPU); it needs Slicer with its user interface.

`skeleton_panel` holds the sections: `vessels_section`, `result_section` (list of branches, plot,
legend, files), `branch_tools`; `views` is what is shown in slices and in 3D, `sentences` the words.
"""

"""Results to a folder that is there as a whole or not at all (private to the command line).

`output_folder` is the folder; `nodes`, `slicer_scene` and `report_file` fill it; `completeness`
tells whether a file was written to its end.
"""

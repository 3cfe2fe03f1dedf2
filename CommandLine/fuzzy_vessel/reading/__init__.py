"""Image, point and scene files to MRML nodes: `volumes` and `points` are what the jobs call.

`itk_files` lets the process `itk_child` read by SimpleITK; `stacks` reads OME-Zarr and TIFF.
"""

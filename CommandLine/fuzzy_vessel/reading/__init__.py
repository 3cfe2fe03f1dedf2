"""Image and point files to MRML nodes: `volumes` is what the jobs call.

`process` reads risky files in a child, by SimpleITK (`itk`), zarr and tifffile (`stacks`).
"""

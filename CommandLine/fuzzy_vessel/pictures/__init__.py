"""Pictures of results (private to the command line).

`subject` holds the arrays that are shown. `segmentation_picture` and `skeleton_picture` compose a
page with matplotlib (`page`, `slices`, `grey_window`, `colour_map`). 3D views are VTK: `views`
chooses sides and frames, `surface_view` and `tube_view` hand a task to `offscreen`, which runs
`vtk_scene` with the actors of `vtk_actors` in a `vtk_window`, in a child process. pyvista would add
18 packages and spare none of the window's two layers, the shader of the wall, or the child process.
"""

"""Pictures of results (private to the command line).

`subject` holds the arrays that are shown. `segmentation_picture` and `skeleton_picture` compose a
page with matplotlib (`page`, `slices`, `colour_map`). 3D views are plain VTK: `views` chooses sides
and frames, `surface_view` and `tube_view` hand a task to `offscreen`, which runs `vtk_scene` with
the actors of `vtk_actors` in a `vtk_window`, in a child process. pyvista was tried on paper only: the two-layer
window, the shader of the vessel wall and the child process would stay as they are.
"""

"""The wheel slicer-core as a host for MRML, without the application (private to the command line).

`headless.start()` makes the `application` with its `scene`; `headless_files` and `file_types` read
and write for `slicer.util`; `vtk_messages` keeps VTK quiet; `slicer_parts` has the base classes of
scripted modules that the wheel leaves out.
"""

"""Both jobs as Slicer CLI modules: `FuzzyVesselSegment` and `FuzzyVesselSkeleton`.

Each executable prints its description (Slicer Execution Model, XML) on `--xml`, and takes files and
points as Slicer's CLI panel and slicer_cli_web give them. `description` has the records that XML
and arguments are made of, `modules` those of the two jobs, `programs` runs them; `wrappers` makes
a folder that Slicer can be given as a module path.
"""

"""From the fuzzy scene to labels.

`thresholds` chooses the threshold of a run (from the scene's histogram and the background seeds)
and has `binarize` and `volume_curve`; `gaps` fills what noise left out.
"""

"""From the fuzzy scene to labels.

`choice` decides on the threshold of a run, between `automatic` and the background seeds
(`thresholds`, which also has `binarize` and `volume_curve`); `gaps` fills what noise left out.
"""

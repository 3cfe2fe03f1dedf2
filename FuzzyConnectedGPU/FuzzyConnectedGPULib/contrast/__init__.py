"""The default object model: contrast to the local background, connected from the clicks.

Data flow: volume -> `tissue`, `filters`, `background` -> `evidence` (contrast and noise) ->
`clicks` (thresholds of the clicks, `widest_paths`, `corrections`) -> fuzzy scene, whose labels are
its voxels of at least 0.5. `segmenting` is the entry.

Without a click: `automatic_seeds` (entry) -> evidence -> `tubes`, where the contrast is tubular.
"""

from .segmenting import CONTRAST_THRESHOLD, ContrastThreshold, contrast_connectedness

__all__ = ["CONTRAST_THRESHOLD", "ContrastThreshold", "contrast_connectedness"]

"""The default object model: contrast to the local background, connected from the clicks.

Data flow: volume -> `evidence` (denoised, background, contrast, noise) -> `clicks` (thresholds of the
clicks, `widest_paths`, `corrections`) -> fuzzy scene, whose labels are its voxels of at least 0.5.
"""

from .clicks import CONTRAST_THRESHOLD, contrast_scene
from .evidence import Evidence, vessel_evidence

__all__ = ["CONTRAST_THRESHOLD", "Evidence", "contrast_scene", "vessel_evidence"]

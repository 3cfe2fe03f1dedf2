"""The default object model: contrast to the local background, connected from the clicks.

Entry: `contrast_model`; `checked_clicks` validates the clicks. Stages, with CPU and CUDA (`cuda_*`)
side by side:

1. `evidence/`: contrast and noise of each voxel. `tissue` (statistics of the background tissue) ->
   `denoising/` -> `background` (local background) -> `own_background` -> `vessel_evidence` ->
   `Evidence`. `kept_evidence` keeps the last one from click to click, on its device.
2. `paths/`: `widest_paths` from the clicks through the contrast; a list of `Reached` voxels.
3. `clicks/`: `click_scene` -> `main_object` (threshold and paths of the clicks with contrast) ->
   `faint_clicks` -> `corrections` (background clicks) -> `borders`. The result is a fuzzy scene;
   labels are its voxels of at least 0.5 (`contrast_threshold`).

While a click is dragged: `live/`, labels of one position after the other on evidence that is kept.

Without a click: `automatic/`: `automatic_seeds` (entry) -> `first_seed` -> evidence -> `tubes`,
which ranks candidates by `tubularity`.
"""

from .contrast_model import contrast_connectedness
from .contrast_threshold import CONTRAST_THRESHOLD, ContrastThreshold

__all__ = ["CONTRAST_THRESHOLD", "ContrastThreshold", "contrast_connectedness"]

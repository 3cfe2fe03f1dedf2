"""The default object model: contrast to the local background, connected from the clicks.

`contrast_connectedness` (entry) -> `contrast_map` (`tissue`, `filters`, `background`; `cached_map`
caches it) -> `click_scene` (`main_object` and its `widest_paths`, `faint_clicks`, `corrections`,
`borders`). Without a click: `automatic_seeds` (`first_seed`, `tubes`).
"""

from .contrast_model import contrast_connectedness
from .contrast_threshold import CONTRAST_THRESHOLD, ContrastThreshold

__all__ = ["CONTRAST_THRESHOLD", "ContrastThreshold", "contrast_connectedness"]

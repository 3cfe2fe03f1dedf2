"""The default object model: contrast to the local background, connected from the clicks.

`contrast_model` (entry, and the cache of the last map) -> `contrast_map` (`filters`; `tissue` and
the local background) -> `click_scene` (`main_object` and its `widest_paths`; faint clicks,
background clicks, borders). Without a click: `automatic_seeds` (`tubes`).
"""

from .contrast_model import CONTRAST_THRESHOLD, ContrastThreshold, contrast_connectedness

__all__ = ["CONTRAST_THRESHOLD", "ContrastThreshold", "contrast_connectedness"]

"""The default object model: contrast to the local background, connected from the clicks.

`contrast_model` (entry) -> `contrast_map`, cached from click to click (`filters`; `background`: the
clicked tissue and the local background) -> `click_scene` (the main object by `widest_paths`;
`local_clicks`). What they share is in `clicks`. Without a click: `automatic_seeds` (`tubes`).
"""

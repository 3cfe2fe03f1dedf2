"""Stage 3: from clicks and evidence to the fuzzy scene.

`click_scene` (entry) -> `main_object` -> `faint_clicks` -> `corrections` -> `borders`; `membership`
maps contrast to 0..1 and has the threshold of a click.
"""

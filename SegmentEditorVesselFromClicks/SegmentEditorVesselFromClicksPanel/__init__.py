"""The effect: its points (`segment_points`), its runs (`editor_run`), and `live_vessel`."""

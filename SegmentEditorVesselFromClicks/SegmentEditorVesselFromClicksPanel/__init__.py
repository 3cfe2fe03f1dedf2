"""The effect: its points and its runs (`editor_run`), and `effect_panel`."""

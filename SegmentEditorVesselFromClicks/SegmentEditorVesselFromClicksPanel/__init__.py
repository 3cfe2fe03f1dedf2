"""The effect at work: `clicks` are its points, `editor_run` computes, `live_vessel` shows."""

"""Names for `several.live`, until it goes."""

from .relative_connectedness import STEPS, steps_of_noise

__all__ = ["STEPS", "steps_of_noise"]

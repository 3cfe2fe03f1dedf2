"""What is done with the branches of a skeleton: edits, measures, divisions; arrays only."""
# ruff: noqa: F401

from .dividing import Territories, branch_labels, dense_points, inherited_names, territories
from .editing import Edit, PruneStep, Step, edited, pruned, replayed, steps_of_text, steps_text
from .measuring import (
    NarrowestPlace,
    TreeDistance,
    checked_branch,
    distance_between,
    narrowest_place,
    nearest_place,
    percent_stenosis,
)
from .naming import ANATOMIES, LIVER_SEGMENT, PROPOSED, propose_names
from .sections import CrossSections, cross_sections, section_at, section_measures
from .straightening import StraightenedFrames, straightened_frames

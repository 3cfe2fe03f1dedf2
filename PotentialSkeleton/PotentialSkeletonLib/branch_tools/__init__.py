"""What is done with the branches of a skeleton: edits, measures, divisions; arrays only."""

from .dividing import Territories, branch_labels, dense_points, inherited_names, territories
from .editing import Edit, PruneStep, Step, edited, pruned, replayed, steps_of_text, steps_text
from .measuring import (
    CrossSections,
    NarrowestPlace,
    TreeDistance,
    cross_sections,
    distance_between,
    narrowest_place,
    nearest_place,
    percent_stenosis,
    section_measures,
)

__all__ = [
    "CrossSections",
    "Edit",
    "NarrowestPlace",
    "PruneStep",
    "Step",
    "Territories",
    "TreeDistance",
    "branch_labels",
    "cross_sections",
    "dense_points",
    "distance_between",
    "edited",
    "inherited_names",
    "narrowest_place",
    "nearest_place",
    "percent_stenosis",
    "pruned",
    "replayed",
    "section_measures",
    "steps_of_text",
    "steps_text",
    "territories",
]

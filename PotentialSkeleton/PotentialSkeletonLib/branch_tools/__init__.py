"""What is done with the branches of a skeleton: pruning, splitting, measuring; arrays only."""

from .along_the_tree import TreeDistance, distance_between
from .cross_sections import CrossSections, cross_sections
from .edits import Edit, edited
from .naming import inherited_names
from .nearest_branch import branch_labels
from .pruning import PruneStep, pruned
from .section_measures import section_measures
from .stenosis import NarrowestPlace, narrowest_place, percent_stenosis
from .step_list import Step, replayed, steps_of_text, steps_text
from .territories import Territories, territories

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
    "distance_between",
    "edited",
    "inherited_names",
    "narrowest_place",
    "percent_stenosis",
    "pruned",
    "replayed",
    "section_measures",
    "steps_of_text",
    "steps_text",
    "territories",
]

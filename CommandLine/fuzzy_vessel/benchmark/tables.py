"""The tables by name, in the order in which they run."""

from collections.abc import Callable

from .blocks import block_table, label_table, prediction_table
from .clicks.tables import (
    click_table,
    confidence_table,
    radius_table,
    random_table,
    reference_table,
)
from .connectedness import (
    connectedness_goals,
    connectedness_on_cpu,
    papers,
    papers_directions,
    peers,
    relative_goals,
    segment_goals,
)
from .drag.drag_table import by_drag
from .first_use import first_use_table
from .results import Table
from .setting import Setting
from .several.several_table import by_vessels
from .skeleton import field_sizes, field_threads, skeleton_goals
from .whole_steps import program_table

TABLES: dict[str, Callable[[Setting], Table]] = {
    "connectedness-cpu": connectedness_on_cpu.on_cpu,
    "connectedness": connectedness_goals.on_gpu,
    "blocks": block_table.over_blocks,
    "blocks-1e10": block_table.over_blocks_of_the_largest,
    "blocks-model": prediction_table.predicted,
    "labels-cpu": label_table.labels_and_skeletons,
    "relative-cpu": relative_goals.on_cpu,
    "relative": relative_goals.on_gpu,
    "segment-cpu": segment_goals.on_cpu,
    "segment": segment_goals.on_gpu,
    "skeleton-cpu": skeleton_goals.on_cpu,
    "skeleton": skeleton_goals.on_gpu,
    "first-use-cpu": first_use_table.first_use,
    "compilation-cpu": first_use_table.compilation,
    "kfoe-english": papers.english,
    "kfoe-chinese": papers.chinese,
    "kfoe-directions": papers_directions.directions,
    "field-sizes": field_sizes.sizes,
    "field-threads": field_threads.threads,
    "peers": peers.peers,
    "peers-steps": program_table.by_programs,
    "clicks": click_table.by_clicks,
    "clicks-random": random_table.by_first_click,
    "clicks-radius": radius_table.by_radius,
    "vessels": by_vessels,
    "drag": by_drag,
    "clicks-confidence": confidence_table.by_confidence,
    "clicks-references": reference_table.by_reference,
}

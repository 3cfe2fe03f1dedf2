"""The tables by name, in the order in which they run."""

from .clicks import click_table, radius_table, random_table
from .connectedness import connectedness_goals, papers, peers, relative_goals, segment_goals
from .skeleton import field, skeleton_goals

TABLES = {
    "connectedness-cpu": connectedness_goals.on_cpu,
    "connectedness": connectedness_goals.on_card,
    "relative-cpu": relative_goals.on_cpu,
    "relative": relative_goals.on_card,
    "segment-cpu": segment_goals.on_cpu,
    "segment": segment_goals.on_card,
    "skeleton-cpu": skeleton_goals.on_cpu,
    "skeleton": skeleton_goals.on_card,
    "kfoe-english": papers.english,
    "kfoe-chinese": papers.chinese,
    "kfoe-directions": papers.directions,
    "field-sizes": field.sizes,
    "field-threads": field.threads,
    "peers": peers.peers,
    "clicks": click_table.by_clicks,
    "clicks-random": random_table.by_first_click,
    "clicks-radius": radius_table.by_radius,
}

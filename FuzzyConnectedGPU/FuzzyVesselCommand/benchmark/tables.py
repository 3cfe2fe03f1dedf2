"""The tables by name, in the order in which they run."""

from . import connectedness_goals, field, papers, peers, skeleton_goals
from .clicks import table as clicks

TABLES = {
    "connectedness-cpu": connectedness_goals.on_cpu,
    "connectedness": connectedness_goals.on_card,
    "skeleton-cpu": skeleton_goals.on_cpu,
    "skeleton": skeleton_goals.on_card,
    "kfoe-english": papers.english,
    "kfoe-chinese": papers.chinese,
    "kfoe-directions": papers.directions,
    "field-sizes": field.sizes,
    "field-threads": field.threads,
    "peers": peers.peers,
    "clicks": clicks.clicks,
    "clicks-random": clicks.random_clicks,
    "clicks-radius": clicks.by_radius,
}

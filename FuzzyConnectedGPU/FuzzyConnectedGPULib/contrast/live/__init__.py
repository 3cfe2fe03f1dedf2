"""Clicks that move: labels of each position, from what the positions before have found.

`live_labels` (entry): evidence is kept and the clicks' rules (`clicks/`) run as they always do, on
a `LiveEvidence` whose paths come from `live_paths`. That keeps the paths of all other objects
(bone, metal) in a `max_tree`, so that a step follows only the paths of the clicks themselves, and
only as far as the threshold: labels are the same bit for bit, fainter connectedness is left out.
"""

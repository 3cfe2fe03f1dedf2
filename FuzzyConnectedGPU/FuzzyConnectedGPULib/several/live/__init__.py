"""Several vessels while a point moves: labels of each position, as a whole run would give them.

`live_vessels` (entry): the scene of all points comes from `contrast.live`, on kept evidence and
paths; `kept_division` divides its voxels, which are a list, among the vessels, and `kept_labels`
writes their labels. From step to step only what changes is done again.
"""

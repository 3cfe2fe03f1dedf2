"""Several vessels on the scene: a list of points each, one segmentation with one segment each.

`vessel_list` (which lists are the vessels), `vessel_kinds` (their terminology and colours),
`hand_overs` (points that give a branch to their vessel), `segmenting_several` (a run, and another
threshold) -> `vessel_inputs` -> `FuzzyConnectedGPULib.several` -> `vessel_outputs`;
`vessel_result` is what scripts get. `switching` moves points between lists; `click_history` takes
all clicks back.
"""

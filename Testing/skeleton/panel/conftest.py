"""The skeleton's panel, whose runs handle events after every step, and slice views."""

import pytest


@pytest.fixture
def skeleton_panel(slicer_scene, open_panel, monkeypatch):
    panel = open_panel("PotentialSkeleton")
    import FuzzyVesselCoreLib.widgets.run

    monkeypatch.setattr(FuzzyVesselCoreLib.widgets.run, "ROUND", 0)
    return panel


@pytest.fixture
def slices(slicer_scene):
    """Two views: of each the slice node and its composite node."""
    import slicer

    added = []
    for name in ("Green", "Yellow"):
        for kind in ("vtkMRMLSliceNode", "vtkMRMLSliceCompositeNode"):
            node = getattr(slicer, kind)()
            node.SetLayoutName(name)
            node.SetSingletonTag(name)
            added.append(slicer_scene.AddNode(node))
    yield added
    for node in added:  # clearing the scene would keep them
        slicer_scene.RemoveNode(node)

"""Pictures of the skeleton panel in eight states, as in a window of 1600 x 1000 pixels.

    python Testing/panel_pictures_skeleton.py FOLDER

Empty, one segment, running, good, changed settings, leaking, error, advanced. See `panel_pictures`.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import tutorial_pictures

SIZE = 128  # voxels of the phantom, along each axis
NAME = "PotentialSkeleton"
RED = (0.85, 0.25, 0.2)


def leaky(mask: np.ndarray) -> np.ndarray:
    """Vessels that leaked into the tissue around them, with holes and specks."""
    from scipy import ndimage

    noise = np.random.default_rng(3).random(mask.shape)
    blobs = ndimage.gaussian_filter(noise, 1.6)
    near = ndimage.binary_dilation(mask, iterations=5)
    rough = near & (blobs > np.quantile(blobs, 0.62))
    specks = noise > 0.9995
    return ((mask > 0) | rough | specks).astype(np.uint8)


def add_segments(phantom: Any, masks: dict[str, tuple], empty: str = "") -> Any:
    """A segmentation of the phantom: name to mask and colour, and an empty segment."""
    import slicer

    from FuzzyVesselCoreLib.mrml.phantom_nodes import add_phantom_labelmap

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Liver vessels")
    node.CreateDefaultDisplayNodes()
    segmentation = node.GetSegmentation()
    for name, (mask, color) in masks.items():
        labelmap = add_phantom_labelmap(phantom)
        slicer.util.updateVolumeFromArray(labelmap, mask.astype(np.uint8))
        slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, node)
        slicer.mrmlScene.RemoveNode(labelmap)
        segment = segmentation.GetNthSegment(segmentation.GetNumberOfSegments() - 1)
        segment.SetName(name)
        segment.SetColor(*color)
    if empty:
        segmentation.AddEmptySegment("", empty)
    node.CreateClosedSurfaceRepresentation()
    return node


def window_of_phantom(folder: Path, empty_picture: str = "") -> tuple[Any, Any]:
    """The panel beside the views, which show the phantom; and the phantom.

    With `empty_picture`, a picture of that name is made before there is a volume.
    """
    from emulators.qt.application import install

    install()
    import slicer

    import support.slice_view as slice_view
    from FuzzyVesselCoreLib.mrml.phantom_nodes import add_phantom
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom
    from panel_pictures import Window

    slicer.mrmlScene.RegisterNodeClass(slicer.vtkMRMLColorLegendDisplayNode())
    slice_view.MANAGERS_3D += ("vtkMRMLColorLegendDisplayableManager",)
    window = Window(folder, NAME, "nextLabel")
    if empty_picture:
        window.save(empty_picture)
    phantom = liver_phantom((SIZE,) * 3)
    volume, seeds, background = add_phantom(phantom)
    for node in (seeds, background):
        node.GetDisplayNode().SetVisibility(False)
    for view in window.workplace.slices:
        view.show(volume)
    return window, phantom


def main() -> None:
    """Make the six pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd()
    folder.mkdir(parents=True, exist_ok=True)
    window, phantom = window_of_phantom(folder, "skeleton-1-empty")
    from panel_pictures import during_a_run

    panel, parameters, in_3d = window.panel, window.panel.parameters, window.workplace.in_3d
    masks = {"Portal vein": (phantom.mask, RED), "Portal vein 2": (leaky(phantom.mask), RED)}
    segmentation = add_segments(phantom, masks, empty="Hepatic veins")
    good, leaking, empty = segmentation.GetSegmentation().GetSegmentIDs()
    display = segmentation.GetDisplayNode()
    display.SetSegmentVisibility(leaking, False)
    panel.window.exit()
    panel.window.enter()
    panel.process_events()
    in_3d.look()
    window.save("skeleton-2-one-segment")

    parameters.tubes = parameters.curves = False
    during_a_run(window, lambda: window.save("skeleton-3-running"))
    panel.ui.branchTable.sortByColumn(2, tutorial_pictures.panel_descending())
    panel.ui.branchTable.selectRow(2)
    panel.process_events()
    window.save("skeleton-4-good")

    parameters.strength = 8
    panel.process_events()
    window.save("skeleton-5-changed-settings")
    parameters.strength = 6

    panel.ui.branchTable.clearSelection()
    display.SetSegmentVisibility(good, False)
    display.SetSegmentVisibility(leaking, True)
    parameters.segment = leaking
    panel.click("applyButton")
    window.save("skeleton-6-leaking")

    parameters.segment = empty
    panel.process_events()
    panel.click("applyButton")
    window.save("skeleton-7-error")

    panel.ui.advancedSection.collapsed = False
    panel.process_events()
    window.save("skeleton-8-advanced")


if __name__ == "__main__":
    sys.path[:0] = [str(tutorial_pictures.ROOT / name) for name in tutorial_pictures.PLACES]
    main()

"""Pictures of the branch tools, in the skeleton panel beside the views, on the liver phantom.

    python Testing/branch_tool_pictures.py FOLDER

Several segments, the section, a name and the narrowest place, pruning, a distance, a cut, the gap
bridged, split vessels, a group of branches, territories. See `panel_pictures_skeleton`.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import tutorial_pictures
from panel_pictures_skeleton import RED, add_segments, window_of_phantom

STEP = 4  # of the pictures' colours


def add_trees(phantom: Any) -> Any:
    """A segmentation of the phantom: the two largest trees, and the liver, which is hidden."""
    from scipy import ndimage

    parts, _count = ndimage.label(phantom.mask > 0, np.ones((3, 3, 3)))
    order = np.argsort(-np.bincount(parts.reshape(-1))[1:]) + 1
    masks = {
        "Portal vein": (parts == order[0], (0.25, 0.5, 0.9)),
        "Hepatic veins": (parts == order[1], RED),
        "Liver": (phantom.liver > 0, (0.87, 0.72, 0.5)),
    }
    node = add_segments(phantom, masks)
    node.GetDisplayNode().SetSegmentVisibility(node.GetSegmentation().GetNthSegmentID(2), False)
    return node


def main() -> None:
    """Make the pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd()
    folder.mkdir(parents=True, exist_ok=True)
    window, phantom = window_of_phantom(folder)
    import slicer

    from PotentialSkeletonPanel.branch_tools import GROUPS

    panel, parameters = window.panel, window.panel.parameters
    tools = panel.widget.panel.tools
    segmentation = add_trees(phantom)
    display = segmentation.GetDisplayNode()
    parameters.input = segmentation
    panel.process_events()
    panel.ui.severalCheckBox.click()
    panel.click("applyButton")
    window.workplace.in_3d.look()
    panel.process_events()
    save(window, "branches-1-several-trees")

    panel.ui.severalCheckBox.click()
    parameters.segment = segmentation.GetSegmentation().GetNthSegmentID(0)
    display.SetSegmentVisibility(segmentation.GetSegmentation().GetNthSegmentID(1), False)
    for model in slicer.util.getNodesByClass("vtkMRMLModelNode"):
        if model.GetName().startswith("Hepatic"):
            model.GetDisplayNode().SetVisibility(False)
    panel.process_events()
    model = panel.widget.panel.result.models[0]
    tree = panel.widget.logic.tree(model)
    lengths = tree.table()["length_mm"]
    longest = int(np.argmax(lengths))
    panel.ui.branchToolsSection.collapsed = False
    panel.widget.panel.result.choose([(model, longest)])
    tools.ui.nameEdit.text = "Right portal vein"
    tools.ui.nameEdit.editingFinished.emit()
    panel.process_events()
    tools.ui.narrowestButton.click()
    tools.ui.referenceSpinBox.value = 6
    panel.process_events()
    scroll(window)
    save(window, "branches-2-narrowest-place")

    tools.ui.pruneSpinBox.value = 25
    tools.ui.pruneButton.click()
    panel.process_events()
    scroll(window)
    save(window, "branches-3-pruned")

    way = tree.skeleton.branches
    first, last = way[0].points[5], way[-1].points[-5]
    tools.ui.distanceButton.click()
    for place in (first, last):
        tools.ui.clickPlaceWidget.currentNode().AddControlPointWorld(place[::-1].tolist())
    panel.process_events()
    scroll(window)
    save(window, "branches-4-distance")

    thickest = max(way, key=lambda branch: branch.radius.mean())
    middle = thickest.points[len(thickest.points) // 2]
    click(window, "cutButton", middle, "branches-5-cut-asks")
    save(window, "branches-6-cut")
    click(window, "bridgeButton", middle, "branches-7-bridge-asks")
    save(window, "branches-8-bridged")

    panel.ui.branchTable.clearSelection()
    segmentation.GetDisplayNode().SetVisibility(False)
    tools.ui.splitButton.click()
    panel.process_events()
    show_surface(slicer)
    scroll(window)
    save(window, "branches-9-split")

    for node in slicer.util.getNodesByClass("vtkMRMLSegmentationNode"):
        node.GetDisplayNode().SetVisibility(False)
    result, table = panel.widget.panel.result, tree.table()
    heads = np.flatnonzero(np.array(table["generation"]) == 2).tolist()
    for name, some in (("Group A", heads[::2]), ("Group B", heads[1::2])):
        result.choose((model, branch) for branch in some)
        panel.process_events()
        tools.ui.nameEdit.text = name
        tools.ui.nameEdit.editingFinished.emit()
        panel.process_events()
    scroll(window)
    save(window, "branches-10-group")
    panel.ui.branchTable.clearSelection()
    tools.ui.organSelector.setCurrentNode(segmentation)
    panel.process_events()
    tools.ui.organSegmentSelector.setCurrentSegmentID(
        segmentation.GetSegmentation().GetNthSegmentID(2)
    )
    tools.ui.groupComboBox.currentIndex = list(GROUPS).index("subtree")
    tools.ui.organButton.click()
    panel.process_events()
    show_surface(slicer, 0.6)
    scroll(window)
    save(window, "branches-11-territories")


def click(window: Any, button: str, position: np.ndarray, name: str) -> None:
    """Press the button of a tool, keep the picture of its question, and click a place S, A, R."""
    ui = window.panel.widget.panel.tools.ui
    getattr(ui, button).click()
    window.panel.process_events()
    scroll(window)
    save(window, name)
    ui.clickPlaceWidget.currentNode().AddControlPointWorld(position[::-1].tolist())
    window.panel.process_events()
    scroll(window)


def show_surface(slicer: Any, opacity: float = 1.0) -> None:
    """Give the newest segmentation a surface, as a person does by Show 3D."""
    node = slicer.util.getNodesByClass("vtkMRMLSegmentationNode")[-1]
    node.CreateClosedSurfaceRepresentation()
    node.GetDisplayNode().SetOpacity3D(opacity)


def save(window: Any, name: str) -> None:
    """Write the window as it is now, its colours in steps of 4: half the size, and no banding."""
    from PIL import Image

    window.save(name)
    path = window.folder / f"{name}.png"
    with Image.open(path) as picture:
        small = picture.convert("RGB").point(lambda value: value // STEP * STEP)
    small.save(path, optimize=True)


def scroll(window: Any) -> None:
    """Scroll the panel to the tools."""
    bar = window._area.verticalScrollBar()
    place = window.panel.ui.branchToolsSection.pos.y()
    bar.setValue(max(place - 8, 0))
    window.panel.process_events()


if __name__ == "__main__":
    sys.path[:0] = [str(tutorial_pictures.ROOT / name) for name in tutorial_pictures.PLACES]
    main()

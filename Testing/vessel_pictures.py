"""Pictures of three vessels: in slices and 3D, where they are disputed, and in the Segment Editor.

    python Testing/vessel_pictures.py FOLDER [--data DATA_FOLDER]

Of the liver CT in DATA_FOLDER, whose licence keeps its pictures out of the project; without one of
the liver phantom, as in Resources/Screenshots. Drawn off screen, as those of `panel_pictures`.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tutorial_pictures
from tutorial_pictures import GAP, PAPER

CT = "ircadb01_01_ct.nrrd"
KINDS = ("portal vein", "hepatic vein", "artery")
# Of expert masks: name, and whether it counts inside the liver alone.
MASKS = {"portalvein": True, "venoussystem": True, "artery": False}
CT_BACKGROUND = (212, 150, 98)  # I, J, K in liver tissue
CLICKS = 3  # for each vessel
CT_WINDOW = (350, 130)  # width and level
CLOSE = 6.0  # how much the disputed voxels are enlarged
AROUND = 9  # voxels, among which disputed ones are counted
FRAME = (420, 330)  # pixels of the effect's options


@dataclass(frozen=True)
class Case:
    """A volume node, voxels (K, J, I) clicked for each vessel and for none, and the spacing."""

    volume: Any
    points: list[np.ndarray]
    background: np.ndarray


def case_of(folder: Path | None) -> Case:
    """The scan, clicked at the deepest voxels of its expert masks, or the phantom."""
    import slicer

    if folder is None:
        return _phantom()
    from Benchmarks.clicks import clicks_inside
    from Benchmarks.volumes import read as read_voxels

    voxels, (k, j, i) = read_voxels(folder / CT)
    node = slicer.util.addVolumeFromArray(voxels, np.diag([-i, -j, k, 1.0]), "Liver CT")
    node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetAutoWindowLevel(False)
    display.SetWindowLevel(*CT_WINDOW)
    liver = read_voxels(folder / CT.replace("_ct", "_liver"))[0] > 0
    points = []
    for name, inside in MASKS.items():
        mask = read_voxels(folder / CT.replace("_ct", f"_{name}"))[0] > 0
        points.append(np.array(clicks_inside(mask & liver if inside else mask, CLICKS, (k, j, i))))
    return Case(node, points, np.array([CT_BACKGROUND[::-1]]))


def _phantom() -> Case:
    import slicer

    from Benchmarks.clicks import clicks_inside
    from Benchmarks.volumes import known_vessels
    from FuzzyVesselCoreLib.mrml.phantom_nodes import add_phantom
    from FuzzyVesselCoreLib.phantom.image import Grid, tubes
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    phantom = liver_phantom()
    volume, *lists = add_phantom(phantom)
    for node in lists:
        slicer.mrmlScene.RemoveNode(node)
    volume.GetDisplayNode().AutoWindowLevelOff()
    volume.GetDisplayNode().SetWindowLevelMinMax(-60, 300)  # as the sample data is shown
    *_, (_, _, (cava,)), (_, _, (aorta,)) = tubes(Grid(phantom.volume.shape, phantom.spacing))
    vessels = known_vessels(phantom).values()
    points = [np.array(clicks_inside(mask, CLICKS, phantom.spacing)) for mask in vessels]
    points.append(aorta.points[[3, 5, 7]].round().astype(int))
    return Case(volume, points, cava.points[[3]].round().astype(int))


def click(window: Any, case: Case) -> None:
    """Place the points of all vessels, say what they are, and press Apply."""
    from FuzzyConnectedGPUMRML.vessels import vessels_of
    from FuzzyConnectedGPUPanel.placing import new_list
    from FuzzyVesselCoreLib.mrml.new_points import world_points

    panel, parameters = window.panel, window.panel.parameters
    parameters.inputVolume = case.volume
    for number, voxels in enumerate(case.points):
        if number:
            panel.click("addVesselButton")
        else:
            parameters.seeds = new_list("seeds")
        for position in world_points(voxels, case.volume):
            parameters.seeds.AddControlPointWorld(position)
        panel.process_events()
    parameters.backgroundSeeds = new_list("backgroundSeeds")
    for position in world_points(case.background, case.volume):
        parameters.backgroundSeeds.AddControlPointWorld(position)
    for node, kind in zip(vessels_of(parameters), KINDS, strict=True):
        panel.widget.panel.vessels.change_kind(node, kind)
    parameters.showDisputed = True
    panel.process_events()
    panel.click("applyButton")
    window.surface()


def show_points(parameters: Any, visible: bool) -> None:
    """Show or hide the points of all lists."""
    from FuzzyConnectedGPUMRML.vessels import vessels_of

    for node in (*vessels_of(parameters), parameters.backgroundSeeds):
        node.GetDisplayNode().SetVisibility(visible)


def most_disputed(parameters: Any) -> np.ndarray:
    """K, J, I of the place with the most disputed voxels around it."""
    import slicer
    from scipy import ndimage

    from FuzzyConnectedGPUMRML.segmenting import disputed_segment

    node, volume_node = parameters.segmentation, parameters.inputVolume
    segment_id = disputed_segment(node, volume_node)
    disputed = slicer.util.arrayFromSegmentBinaryLabelmap(node, segment_id, volume_node) > 0
    around = ndimage.uniform_filter(disputed.astype(np.float32), AROUND) * disputed
    return np.array(np.unravel_index(around.argmax(), around.shape))


def row_of(pictures: list[np.ndarray]) -> Any:
    """Pictures of views side by side (PIL image)."""
    from PIL import Image

    height, width = pictures[0].shape[:2]
    page = Image.new("RGB", (len(pictures) * (width + GAP) - GAP, height), PAPER)
    for number, pixels in enumerate(pictures):
        page.paste(Image.fromarray(pixels), (number * (width + GAP), 0))
    return page


def three_vessels(window: Any, case: Case) -> None:
    """The panel beside slices through the first point and the surfaces; then a disputed place."""

    from FuzzyVesselCoreLib.mrml.new_points import world_points

    for view in window.workplace.slices:
        view.show(case.volume)
    click(window, case)
    parameters = window.panel.parameters
    first = world_points(case.points[0][:1], case.volume)[0]
    window.workplace.zoom(1.3, first)
    show_points(parameters, False)
    window.workplace.in_3d.look()
    window.workplace.in_3d.renderer.GetActiveCamera().Zoom(1.35)
    window.save("vessels-three")
    place = most_disputed(parameters)
    window.workplace.zoom(CLOSE, world_points(place[None], case.volume)[0])
    page = row_of([view.pixels() for view in window.workplace.slices])
    tutorial_pictures.save(page, window.folder / "vessels-disputed.png")


def segment_editor(folder: Path, case: Case) -> None:
    """The effect's options beside the views: one vessel was applied, the next is a preview."""
    import slicer
    from PIL import Image

    from emulators.qt.segment_editor import Editor
    from FuzzyConnectedGPUMRML.vessels import KINDS as LOOKS
    from FuzzyVesselCoreLib.mrml.new_points import world_points

    workplace = tutorial_pictures.Workplace(case.volume)
    segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Vessels")
    segmentation.CreateDefaultDisplayNodes()
    segmentation.SetReferenceImageGeometryParameterFromVolumeNode(case.volume)
    for kind in KINDS[:2]:
        inner = segmentation.GetSegmentation()
        inner.GetSegment(inner.AddEmptySegment(kind, kind.capitalize())).SetColor(LOOKS[kind].color)
    editor = Editor(_registered(), segmentation, case.volume)
    frame, live = editor.effect.optionsFrame(), editor.effect.self().live
    editor.select(KINDS[0])
    editor.effect.activate()
    for number, kind in enumerate(KINDS[:2]):
        editor.select(kind)
        for voxels, background in ((case.points[number], False), (case.background, True)):
            for position in world_points(voxels, case.volume):
                live.click(position, background)
                _wait(live)
    live.cancel()
    editor.select(KINDS[0])  # the points of both are there now
    live.apply()
    _wait(live)
    editor.select(KINDS[1])
    live.more.value = 0.01  # its preview
    _wait(live)
    segmentation.CreateClosedSurfaceRepresentation()
    workplace.zoom(1.3, world_points(case.points[1][:1], case.volume)[0])
    workplace.in_3d.look()
    frame.setFixedSize(*FRAME)
    path = folder / "panel.tmp.png"
    frame.grab().save(str(path))
    views = workplace.layout()
    page = Image.new("RGB", (FRAME[0] + GAP + views.width, views.height), PAPER)
    with Image.open(path) as picture:
        page.paste(picture.convert("RGB"), (0, 0))
    path.unlink()
    page.paste(views, (FRAME[0] + GAP, 0))
    tutorial_pictures.save(page, folder / "vessels-segment-editor.png")
    editor.close()
    workplace.close()


def _registered() -> str:
    """Register the effect as Slicer does at its start; its name."""
    import types

    from emulators.qt import application
    from SegmentEditorVesselFromClicks import SegmentEditorVesselFromClicks

    folder = tutorial_pictures.ROOT / "SegmentEditorVesselFromClicks"
    path = str(folder / "SegmentEditorVesselFromClicks.py")
    application.started.clear()
    SegmentEditorVesselFromClicks(types.SimpleNamespace(path=path))
    for start in application.started:
        start()
    return "Vessel from clicks"


def _wait(live: Any) -> None:
    """Let the effect's run end."""
    import slicer

    while live._run.pending:
        slicer.app.processEvents()


def main() -> None:
    """Make the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="for the pictures")
    parser.add_argument("--data", type=Path, help=f"with {CT}")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    from emulators.qt.application import install

    install()
    import slicer

    from panel_pictures import Window

    window = Window(options.folder)
    three_vessels(window, case_of(options.data))
    window.panel.close()
    window.workplace.close()
    slicer.mrmlScene.Clear()
    segment_editor(options.folder, case_of(options.data))


if __name__ == "__main__":
    places = (*tutorial_pictures.PLACES, "SegmentEditorVesselFromClicks")
    sys.path[:0] = [str(tutorial_pictures.ROOT / name) for name in places]
    main()

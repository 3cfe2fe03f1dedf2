"""Draws the documents' pictures: `python Testing/pictures.py [tutorial vessels branches minute]`.

Real slice and 3D views of Slicer beside the project's own panels, off screen (stand-ins for
Slicer's widgets: `emulators.qt`). The pictures go into Resources/Screenshots, or into the folder
that --folder names; `./demo.sh` draws those of the phantom.
"""

import argparse
import contextlib
import sys
import types
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import slicer
from PIL import Image, ImageDraw, ImageFont, ImageQt
from scipy import ndimage

from support.places import PACKAGE_FOLDERS, ROOT

sys.path.extend([*map(str, PACKAGE_FOLDERS), str(ROOT)])

from Benchmarks.clicks import clicks_inside
from Benchmarks.volumes import known_vessels
from emulators.qt import application
from emulators.qt.panel import Panel
from FuzzyConnectedGPUMRML import segmenting
from FuzzyConnectedGPUMRML.vessel_lists import KINDS as LOOKS
from FuzzyConnectedGPUMRML.vessel_lists import vessels_of
from FuzzyVesselCoreLib.mrml.points import add_phantom, world_points
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras
from FuzzyVesselCoreLib.phantom.liver import Grid, liver_phantom, tubes
from support import slice_view
from support.vessel_scene import add_segmentation

VIEW, SMALL_VIEW, GAP, PAPER = (430, 430), (300, 300), 6, 236
ICONS = ROOT / "FuzzyConnectedGPU" / "Resources" / "Icons"
PANEL = 420  # pixels, the width of a module's panel
KINDS = ("portal vein", "hepatic vein", "artery")
RED, BLUE = (0.85, 0.25, 0.2), (0.25, 0.5, 0.9)


class Window:
    """A module's panel beside three slice views and a 3D view, as in Slicer's usual layout."""

    def __init__(self, folder: Path, module: str = "FuzzyConnectedGPU", size=VIEW) -> None:
        self.folder, self.size = folder, size
        names = {"Red": "Axial", "Green": "Coronal", "Yellow": "Sagittal"}
        self.slices = [slice_view.SliceView(*each, size) for each in names.items()]
        self.in_3d = slice_view.View3D(size=size)
        self.in_3d.renderer.UseFXAAOn()
        self.panel = None
        self.open(module)

    def open(self, module: str) -> None:
        """Show a module's panel instead of the one before."""
        import qt

        if self.panel is not None:
            self.panel.close()
        self.panel, self.area = Panel(module, []), qt.QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setWidget(self.panel.window)
        self.area.resize(PANEL, 2 * self.size[1] + GAP)
        self.area.show()
        self.panel.process_events()

    def show(self, volume: Any, factor: float = 1.0, world: Any = None) -> None:
        """Show a volume in the slices, enlarged, with a point of the world in the middle."""
        for view in self.slices:
            view.show(volume)
            field = view.node.GetFieldOfView()
            view.node.SetFieldOfView(field[0] / factor, field[1] / factor, field[2])
        if world is not None:
            centred = slicer.vtkMRMLSliceNode.CenteredJumpSlice
            slicer.vtkMRMLSliceNode.JumpAllSlices(slicer.mrmlScene, *world, centred)

    def apply(self) -> None:
        """Press Apply, wait for the surface, and look at all of it."""
        self.panel.click("applyButton")
        segmentation = getattr(self.panel.parameters, "segmentation", None)
        while segmentation and not segmentation.GetSegmentation().ContainsRepresentation(
            "Closed surface"
        ):
            self.panel.process_events()
        self.in_3d.look()

    def picture(self, widget: Any = None) -> np.ndarray:
        """The panel, or another widget, beside the views."""
        panel = np.asarray(ImageQt.fromqpixmap((widget or self.area).grab()).convert("RGB"))
        axial, coronal, sagittal, in_3d = (view.pixels() for view in (*self.slices, self.in_3d))
        return joined(1, panel, joined(0, joined(1, axial, in_3d), joined(1, coronal, sagittal)))

    def save(self, name: str, widget: Any = None) -> None:
        """Write the window as it is now."""
        self.panel.process_events()
        write(self.picture(widget), self.folder / f"{name}.png")

    def close(self) -> None:
        """End the panel and the views."""
        self.panel.close()
        for view in (*self.slices, self.in_3d):
            view.close()
        slicer.mrmlScene.Clear()


def joined(axis: int, *pictures: np.ndarray) -> np.ndarray:
    """Pictures one below the other (axis 0) or side by side (1), with a gap between them."""
    size, parts = max(each.shape[1 - axis] for each in pictures), []
    for each in pictures:
        room = [(0, 0)] * 3
        room[axis], room[1 - axis] = (0, GAP), (0, size - each.shape[1 - axis])
        parts.append(np.pad(each, room, constant_values=PAPER))
    page = np.concatenate(parts, axis)
    return page[:-GAP] if axis == 0 else page[:, :-GAP]


def write(picture: np.ndarray, path: Path) -> None:
    Image.fromarray(picture).save(path, optimize=True)
    print(path, picture.shape)


def put(voxels: np.ndarray, volume: Any, node: Any) -> None:
    """Add points at the centres of a volume's voxels."""
    for position in world_points(voxels, volume):
        node.AddControlPointWorld(position)


def phantom_scene() -> tuple[Any, Any, Any]:
    """The sample phantom, and its points in vessels and beside them."""
    from FuzzyConnectedGPU import addPhantomWithSeeds

    (volume,) = addPhantomWithSeeds()
    seeds, background = (slicer.util.getNode(name) for name in ("Vessels", "Background"))
    background.GetDisplayNode().SetVisibility(False)
    return volume, seeds, background


def tutorial(folder: Path) -> None:
    """Seeds, result, threshold, branches, and the whole panel."""
    volume, seeds, _ = phantom_scene()
    window = Window(folder)
    panel, parameters = window.panel, window.panel.parameters
    parameters.inputVolume, parameters.seeds = volume, seeds
    window.show(volume, 1.4, seeds.GetNthControlPointPositionWorld(2))
    window.in_3d.look()
    window.save("tutorial-seeds")
    window.apply()
    parameters.seeds.GetDisplayNode().SetVisibility(False)
    panel.ui.advancedCollapsibleButton.collapsed = False
    panel.process_events()
    panel.grab(folder / "panel-connectedness.png")
    panel.ui.advancedCollapsibleButton.collapsed = True
    window.save("tutorial-result")
    thumbnail = Image.fromarray(window.in_3d.pixels())  # of the module Sample Data
    left = (thumbnail.width - thumbnail.height * 260 // 280) // 2
    thumbnail = thumbnail.crop((left, 0, thumbnail.width - left, thumbnail.height))
    write(np.array(thumbnail.resize((260, 280), Image.LANCZOS)), ICONS / "LiverPhantom.png")
    before = window.slices[0].pixels()
    panel.ui.thresholdSlider.valueIsChanging.emit(0.72 * parameters.threshold)
    write(joined(1, before, window.slices[0].pixels()), folder / "tutorial-threshold.png")
    panel.widget.panel.threshold.end_preview()
    labelmap = parameters.labelmap
    parameters.segmentation.GetDisplayNode().SetOpacity3D(0.3)
    window.open("PotentialSkeleton")
    window.panel.parameters.input = labelmap
    window.panel.process_events()
    window.apply()
    window.panel.ui.branchTable.selectRow(0)
    window.save("tutorial-branches")
    window.close()


def clicked_vessels() -> tuple[Any, list, np.ndarray]:
    """A phantom, and voxels in portal and hepatic veins and artery, and in the vena cava."""
    phantom = liver_phantom()
    volume, *lists = add_phantom(phantom)
    for node in lists:
        slicer.mrmlScene.RemoveNode(node)
    volume.GetDisplayNode().AutoWindowLevelOff()
    volume.GetDisplayNode().SetWindowLevelMinMax(-60, 300)
    *_, (_, _, (cava,)), (_, _, (aorta,)) = tubes(Grid(phantom.volume.shape))
    vessels = known_vessels(phantom).values()
    points = [np.array(clicks_inside(mask, 3, phantom.spacing)) for mask in vessels]
    points.append(aorta.points[[3, 5, 7]].round().astype(int))
    return volume, points, cava.points[[3]].round().astype(int)


def vessels(folder: Path) -> None:
    """Three vessels in the panel, where they are disputed, and two in the Segment Editor."""
    from FuzzyConnectedGPUMRML.vessel_lists import new_list

    volume, points, background = clicked_vessels()
    window = Window(folder)
    panel, parameters = window.panel, window.panel.parameters
    parameters.inputVolume = volume
    for number, voxels in enumerate(points):
        if number:
            panel.click("addVesselButton")
        else:
            parameters.seeds = new_list("seeds")
        put(voxels, volume, parameters.seeds)
        panel.process_events()
    parameters.backgroundSeeds = new_list("backgroundSeeds")
    put(background, volume, parameters.backgroundSeeds)
    for node, kind in zip(vessels_of(parameters), KINDS, strict=True):
        panel.widget.panel.vessels.change_kind(node, kind)
    parameters.showDisputed = True
    panel.process_events()
    window.show(volume, 1.3, world_points(points[0][:1], volume)[0])
    window.apply()
    for node in (*vessels_of(parameters), parameters.backgroundSeeds):
        node.GetDisplayNode().SetVisibility(False)
    window.in_3d.renderer.GetActiveCamera().Zoom(1.35)
    window.save("vessels-three")
    segmentation = parameters.segmentation
    segment = segmenting.segments.result_segment(segmentation, segmenting.DISPUTED, volume)
    disputed = slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, segment, volume) > 0
    around = ndimage.uniform_filter(disputed.astype(np.float32), 9) * disputed
    place = np.array(np.unravel_index(around.argmax(), around.shape))
    window.show(volume, 6, world_points(place[None], volume)[0])
    write(joined(1, *[view.pixels() for view in window.slices]), folder / "vessels-disputed.png")
    window.close()
    segment_editor(folder)


def segment_editor(folder: Path) -> None:
    """The effect's options beside the views: two vessels were applied, more of one is a preview."""
    from emulators.qt.segment_editor import Editor
    from SegmentEditorVesselFromClicks import SegmentEditorVesselFromClicks

    path = str(ROOT / "SegmentEditorVesselFromClicks" / "SegmentEditorVesselFromClicks.py")
    application.started.clear()
    SegmentEditorVesselFromClicks(types.SimpleNamespace(path=path))
    for start in application.started:
        start()
    volume, points, background = clicked_vessels()
    window = Window(folder)
    segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Vessels")
    segmentation.CreateDefaultDisplayNodes()
    segmentation.SetReferenceImageGeometryParameterFromVolumeNode(volume)
    inner = segmentation.GetSegmentation()
    for kind in KINDS[:2]:
        inner.GetSegment(inner.AddEmptySegment(kind, kind.capitalize())).SetColor(LOOKS[kind][1])
    with contextlib.closing(Editor("Vessel from clicks", segmentation, volume)) as editor:
        frame, panel = editor.effect.optionsFrame(), editor.effect.self().panel

        def wait() -> None:
            while panel.run.pending:
                slicer.app.processEvents()

        editor.select(KINDS[0])
        editor.effect.activate()
        for number, kind in enumerate(KINDS[:2]):
            editor.select(kind)
            for voxels, is_background in ((points[number], False), (background, True)):
                for position in world_points(voxels, volume):
                    panel.click(position, is_background)
                    wait()
        panel.apply()
        panel.ui.moreSlider.value = 0.3
        wait()
        segmentation.CreateClosedSurfaceRepresentation()
        window.show(volume, 1.3, world_points(points[1][:1], volume)[0])
        window.in_3d.look()
        frame.setFixedSize(PANEL, 330)
        window.save("vessels-segment-editor", frame)
    window.close()


def branches(folder: Path) -> None:
    """The branch tools on the two largest trees of the phantom, and on its liver."""
    phantom = liver_phantom((128,) * 3)
    volume, *lists = add_phantom(phantom)
    for node in lists:
        node.GetDisplayNode().SetVisibility(False)
    parts, _ = ndimage.label(phantom.mask > 0, np.ones((3, 3, 3)))
    order = np.argsort(-np.bincount(parts.ravel())[1:]) + 1
    masks = {
        "Portal vein": parts == order[0],
        "Hepatic veins": parts == order[1],
        "Liver": phantom.liver > 0,
    }
    segmentation = add_segmentation(masks, ijk_to_ras(volume), name="Liver vessels")
    inner, display = segmentation.GetSegmentation(), segmentation.GetDisplayNode()
    portal, hepatic, liver = inner.GetSegmentIDs()
    for segment, color in ((portal, BLUE), (hepatic, RED), (liver, (0.87, 0.72, 0.5))):
        inner.GetSegment(segment).SetColor(*color)
    display.SetSegmentVisibility(liver, False)
    segmentation.CreateClosedSurfaceRepresentation()
    window = Window(folder, "PotentialSkeleton")
    panel, parameters = window.panel, window.panel.parameters
    window.show(volume)
    parameters.input = segmentation
    panel.process_events()
    panel.ui.severalCheckBox.click()
    window.apply()
    window.save("branches-1-several-trees")

    panel.ui.severalCheckBox.click()
    parameters.segment = portal
    display.SetSegmentVisibility(hepatic, False)
    for model in slicer.util.getNodesByClass("vtkMRMLModelNode"):
        if model.GetName().startswith("Hepatic"):
            model.GetDisplayNode().SetVisibility(False)
    panel.process_events()
    result, tools = panel.widget.panel.result, panel.widget.panel.tools
    tree = panel.widget.logic.tree(result.models[0])
    panel.ui.branchToolsSection.collapsed = False

    def save(name: str) -> None:
        panel.process_events()
        window.area.verticalScrollBar().setValue(max(panel.ui.branchToolsSection.pos.y() - 8, 0))
        window.save(name)

    def click(button: str, *places: Any) -> None:
        getattr(tools.ui, button).click()
        for place in places:  # K, J, I order of mm: S, A, R
            tools.ui.clickPlaceWidget.currentNode().AddControlPointWorld(place[::-1].tolist())
            panel.process_events()

    result.choose([(result.models[0], int(np.argmax(tree.table()["length_mm"])))])
    tools.ui.nameEdit.text = "Right portal vein"
    tools.ui.nameEdit.editingFinished.emit()
    tools.ui.narrowestButton.click()
    tools.ui.referenceSpinBox.value = 6
    save("branches-2-narrowest-place")
    tools.ui.pruneSpinBox.value = 25
    tools.ui.pruneButton.click()
    save("branches-3-pruned")
    way = tree.skeleton.branches
    click("distanceButton", way[0].points[5], way[-1].points[-5])
    save("branches-4-distance")
    click("straightenButton", way[0].points[5], way[-1].points[-5])
    save("branches-5-straightened")
    tools.ui.closeButton.click()
    thickest = max(way, key=lambda branch: branch.radius.mean())
    middle = thickest.points[len(thickest.points) // 2]
    click("cutButton", middle)
    click("bridgeButton", middle)
    save("branches-8-bridged")
    panel.ui.branchTable.clearSelection()
    display.SetVisibility(False)

    def surface(opacity: float) -> None:
        newest = slicer.util.getNodesByClass("vtkMRMLSegmentationNode")[-1]
        newest.CreateClosedSurfaceRepresentation()
        newest.GetDisplayNode().SetOpacity3D(opacity)

    tools.ui.splitButton.click()
    panel.process_events()
    surface(1.0)
    save("branches-9-split")
    slicer.util.getNodesByClass("vtkMRMLSegmentationNode")[-1].GetDisplayNode().SetVisibility(False)
    tools.ui.organSelector.setCurrentNode(segmentation)
    panel.process_events()
    tools.ui.organSegmentSelector.setCurrentSegmentID(liver)
    tools.ui.organButton.click()
    panel.process_events()
    surface(0.6)
    save("branches-11-territories")
    window.close()


class Film:
    """Frames of the window below a caption, and how long each is shown."""

    def __init__(self, window: Window) -> None:
        self.window, self.frames, self.times = window, [], []

    def shot(self, caption: str, milliseconds: int) -> None:
        """Add a frame."""
        picture = self.window.picture()
        page = Image.fromarray(np.pad(picture, [(46, 0), (0, 0), (0, 0)]))
        draw = ImageDraw.Draw(page)
        draw.rectangle((0, 0, page.width, 46), fill=(32, 44, 60))
        file = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
        font = ImageFont.truetype(str(file), 24)
        draw.text((14, 23), caption, fill=(255, 255, 255), font=font, anchor="lm")
        self.frames.append(page)
        self.times.append(milliseconds)

    def turn(self, caption: str) -> None:
        """Turn the 3D view once."""
        for _ in range(14):
            self.window.in_3d.renderer.GetActiveCamera().Azimuth(360 / 14)
            self.window.in_3d.renderer.ResetCameraClippingRange()
            self.shot(caption, 160)


def minute(folder: Path) -> None:
    """The animation of the README: click, tree, threshold, centrelines, table."""
    from FuzzyConnectedGPUMRML.vessel_lists import new_list

    volume, known, _ = phantom_scene()
    known.GetDisplayNode().SetVisibility(False)
    window = Window(folder, size=SMALL_VIEW)
    film, panel, parameters = Film(window), window.panel, window.panel.parameters
    parameters.inputVolume = volume
    hepatic = known.GetNthControlPointPositionWorld(2)
    window.show(volume, 1.2, hepatic)
    film.shot("A CT of the liver (the built-in phantom)", 2600)
    parameters.seeds = new_list("seeds")
    parameters.seeds.AddControlPointWorld(hepatic)
    panel.process_events()
    film.shot("1  Click into a hepatic vein", 1800)
    window.apply()
    film.shot("2  Its tree, and the one that touches it", 2600)
    film.turn("2  Its tree, and the one that touches it")
    text = "3  Drag the slider: less or more, at once in the slices"
    for share in (0.9, 0.8, 0.7, 0.8, 0.9, 1.0):
        panel.ui.thresholdSlider.valueIsChanging.emit(share * parameters.threshold)
        film.shot(text, 500)
    panel.widget.panel.threshold.end_preview()
    labelmap = parameters.labelmap
    parameters.segmentation.GetDisplayNode().SetOpacity3D(0.3)
    parameters.seeds.GetDisplayNode().SetVisibility(False)
    window.open("PotentialSkeleton")
    window.panel.parameters.input = labelmap
    window.panel.process_events()
    window.apply()
    text = "4  Centrelines with radius, branch by branch"
    film.shot(text, 2600)
    film.turn(text)
    window.area.verticalScrollBar().setValue(10_000)
    for number in range(3):
        window.panel.ui.branchTable.selectRow(number)
        window.panel.process_events()
        film.shot("5  The table: click a row to jump to its branch", 1800)
    first, *others = film.frames
    options = {"duration": film.times, "loop": 0, "quality": 72, "method": 6}
    first.save(folder / "minute.webp", save_all=True, append_images=others, **options)
    print(folder / "minute.webp", len(film.frames), "frames")
    window.close()


SETS = {each.__name__: each for each in (tutorial, vessels, branches, minute)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; else all")
    parser.add_argument("--folder", type=Path, default=ROOT / "Resources" / "Screenshots")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    application.install()
    slicer.mrmlScene.RegisterNodeClass(slicer.vtkMRMLColorLegendDisplayNode())
    slice_view.MANAGERS_3D += ("vtkMRMLColorLegendDisplayableManager",)
    for name in options.sets or SETS:
        SETS[name](options.folder)


if __name__ == "__main__":
    main()

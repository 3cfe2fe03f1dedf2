"""Makes the pictures of the README's tutorial, with the project's own panels and views.

    python Testing/tutorial_pictures.py Resources/Screenshots

The panels are shown off screen by stand-ins for Slicer's widgets (see `emulators.qt`); what is in
the views is drawn by Slicer's own code.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("FuzzyVesselCore", "FuzzyConnectedGPU", "PotentialSkeleton", "CommandLine", "Testing")
sys.path[:0] = [str(ROOT / name) for name in PLACES]

VIEW = (430, 430)
GAP = 6
PAPER = (236, 236, 236)
THUMBNAIL = (260, 280)


class Workplace:
    """A panel beside three slice views and a 3D view, as in Slicer's usual layout."""

    def __init__(self, volume, size=VIEW):
        import support.slice_view as slice_view

        self.size = size
        names = {"Red": "Axial", "Green": "Coronal", "Yellow": "Sagittal"}
        self.slices = [slice_view.SliceView(*each, size) for each in names.items()]
        for view in self.slices:
            if volume is not None:
                view.show(volume)
        self.in_3d = slice_view.View3D(size=size)
        self.in_3d.renderer.UseFXAAOn()

    def zoom(self, factor, world):
        """Show a part of the slices, with a point of the world in its middle."""
        import slicer

        for view in self.slices:
            field = view.node.GetFieldOfView()
            view.node.SetFieldOfView(field[0] / factor, field[1] / factor, field[2])
        slicer.vtkMRMLSliceNode.JumpAllSlices(
            slicer.mrmlScene, *world, slicer.vtkMRMLSliceNode.CenteredJumpSlice
        )

    def layout(self):
        """The four views as one picture."""
        from PIL import Image

        width, height = self.size
        page = Image.new("RGB", (2 * width + GAP, 2 * height + GAP), PAPER)
        places = [(0, 0), (0, height + GAP), (width + GAP, height + GAP), (width + GAP, 0)]
        for view, place in zip([*self.slices, self.in_3d], places):
            page.paste(Image.fromarray(view.pixels()), place)
        return page

    def close(self):
        for view in (*self.slices, self.in_3d):
            view.close()


def panel_picture(panel, folder):
    """The panel as PIL image."""
    from PIL import Image

    path = folder / "panel.tmp.png"
    panel.grab(path)
    with Image.open(path) as picture:
        image = picture.convert("RGB")
    path.unlink()
    return image


def beside(panel, views):
    """A panel's picture, cut to the height of the views', beside it."""
    from PIL import Image

    height = views.height
    page = Image.new("RGB", (panel.width + GAP + views.width, height), PAPER)
    page.paste(panel.crop((0, 0, panel.width, min(height, panel.height))), (0, 0))
    page.paste(views, (panel.width + GAP, 0))
    return page


def save(image, path):
    """Write a picture."""
    image.save(path, optimize=True)
    print(path, image.size)


def connectedness(folder):
    """From seeds to the segment: the panel and the views on the way; returns views and labelmap."""
    import slicer

    from emulators.qt.panel import Panel
    from FuzzyConnectedGPUMRML.sample_data import add_phantom_with_seeds

    (volume,) = add_phantom_with_seeds()
    seeds, background = (slicer.util.getNode(name) for name in ("Vessels", "Background"))
    background.GetDisplayNode().SetVisibility(False)
    workplace = Workplace(volume)
    panel = Panel("FuzzyConnectedGPU", [])
    parameters = panel.parameters
    parameters.inputVolume, parameters.seeds = volume, seeds
    panel.process_events()
    workplace.zoom(1.4, seeds.GetNthControlPointPositionWorld(2))
    workplace.in_3d.look()
    save(beside(panel_picture(panel, folder), workplace.layout()), folder / "tutorial-seeds.png")
    panel.click("applyButton")
    inner = parameters.segmentation.GetSegmentation()
    while not inner.ContainsRepresentation("Closed surface"):
        panel.process_events()
    parameters.seeds.GetDisplayNode().SetVisibility(False)
    workplace.in_3d.look()
    panel.ui.advancedCollapsibleButton.collapsed = False
    save(panel_picture(panel, folder), folder / "panel-connectedness.png")
    panel.ui.advancedCollapsibleButton.collapsed = True
    thumbnail(workplace)
    save(beside(panel_picture(panel, folder), workplace.layout()), folder / "tutorial-result.png")
    panel.ui.thresholdSlider.valueIsChanging.emit(0.72 * parameters.threshold)
    leak = workplace.slices[0].pixels()
    panel.widget.panel.threshold.end_preview()
    save(side_by_side(workplace.slices[0].pixels(), leak), folder / "tutorial-threshold.png")
    labelmap, segmentation = parameters.labelmap, parameters.segmentation
    panel.close()
    return workplace, labelmap, segmentation


def side_by_side(*arrays):
    """Pictures of views in a row."""
    from PIL import Image

    width, height = VIEW
    page = Image.new("RGB", (len(arrays) * (width + GAP) - GAP, height), PAPER)
    for number, pixels in enumerate(arrays):
        page.paste(Image.fromarray(pixels), (number * (width + GAP), 0))
    return page


def thumbnail(workplace):
    """The phantom's picture in the module Sample Data."""
    from PIL import Image

    image = Image.fromarray(workplace.in_3d.pixels())
    width = round(image.height * THUMBNAIL[0] / THUMBNAIL[1])
    left = (image.width - width) // 2
    image = image.crop((left, 0, left + width, image.height)).resize(THUMBNAIL, Image.LANCZOS)
    save(image, ROOT / "FuzzyConnectedGPU" / "Resources" / "Icons" / "LiverPhantom.png")


def skeleton(folder, workplace, labelmap, segmentation):
    """Centrelines of the labelmap and their table, with one branch chosen."""
    from emulators.qt.panel import Panel

    display = segmentation.GetDisplayNode()
    display.SetOpacity3D(0.3)
    panel = Panel("PotentialSkeleton", [])
    panel.parameters.input = labelmap
    panel.process_events()
    panel.click("applyButton")
    panel.ui.branchTable.sortByColumn(2, panel_descending())
    panel.ui.branchTable.selectRow(2)
    panel.process_events()
    workplace.in_3d.look()
    save(beside(panel_picture(panel, folder), workplace.layout()), folder / "tutorial-branches.png")
    panel.close()


def panel_descending():
    import qt

    return qt.Qt.DescendingOrder


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "Resources" / "Screenshots"
    from emulators.qt.application import install

    install()
    workplace, labelmap, segmentation = connectedness(folder)
    skeleton(folder, workplace, labelmap, segmentation)
    workplace.close()


if __name__ == "__main__":
    main()

"""The animation at the top of the README: click, tree, threshold, centrelines, table.

    python Testing/animation.py Resources/Screenshots/minute.webp

Real slice and 3D views of Slicer with mouse clicks in them, and the panels off screen, as for the
tutorial's pictures; captions and the pointer are drawn on top.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import tutorial_pictures
from tutorial_pictures import GAP, PAPER, Workplace, panel_descending

VIEW = (300, 300)
PANEL = (420, 2 * VIEW[1] + GAP)
CAPTION = 46  # pixels
MIN_CAPTION = 24  # of its letters
BAND, INK = (32, 44, 60), (255, 255, 255)
TURN, STEPS = 360, 14  # degrees in 3D, in so many frames
STEP_MS, READ_MS, SHORT_MS = 160, 2600, 500
MAX_SECONDS = 60
LESS = (0.9, 0.8, 0.7)  # of the threshold, while the slider is held
ROWS = 3
HEPATIC = 2  # of the phantom's own points
QUALITY = 72


class Film:
    """Frames and how long each is shown."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.frames, self.times = folder, [], []
        self.workplace = Workplace(None, VIEW)
        self.caption, self._area, self._window = "", None, None

    def show_panel(self, panel: Any) -> None:
        """Put a module's panel at the left."""
        import qt

        self._area = qt.QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setWidget(panel.window)
        self._area.resize(*PANEL)
        self._area.show()
        panel.process_events()

    def shot(self, milliseconds: int, pointer: tuple[int, float, float] | None = None) -> None:
        """Add a frame; the pointer is at a pixel (from the lower left) of a slice view."""
        from PIL import Image, ImageDraw, ImageFont

        views = self.workplace.layout()
        page = Image.new("RGB", (PANEL[0] + GAP + views.width, CAPTION + views.height), PAPER)
        page.paste(self._panel_picture(), (0, CAPTION))
        page.paste(views, (PANEL[0] + GAP, CAPTION))
        draw = ImageDraw.Draw(page)
        draw.rectangle((0, 0, page.width, CAPTION), fill=BAND)
        font = ImageFont.truetype(_font(), MIN_CAPTION)
        draw.text((14, CAPTION // 2), self.caption, fill=INK, font=font, anchor="lm")
        if pointer is not None:
            number, x, y = pointer
            top = CAPTION + (number > 0) * (VIEW[1] + GAP) + VIEW[1] - y
            left = PANEL[0] + GAP + (number > 1) * (VIEW[0] + GAP) + x
            _arrow(draw, left, top)
        self.frames.append(page)
        self.times.append(milliseconds)

    def turn(self) -> None:
        """Turn the 3D view once."""
        camera = self.workplace.in_3d.renderer.GetActiveCamera()
        for _ in range(STEPS):
            camera.Azimuth(TURN / STEPS)
            self.workplace.in_3d.renderer.ResetCameraClippingRange()
            self.shot(STEP_MS)

    def save(self, path: Path) -> None:
        """Write the animation."""
        seconds = sum(self.times) / 1000
        if seconds > MAX_SECONDS:
            raise SystemExit(f"{seconds:.0f} s are longer than {MAX_SECONDS} s.")
        first, *others = self.frames
        first.save(
            path, save_all=True, append_images=others, duration=self.times, loop=0,
            quality=QUALITY, method=6,
        )  # fmt: skip
        size = path.stat().st_size / 2**20
        print(f"{path}: {len(self.frames)} frames, {seconds:.0f} s, {size:.2f} MiB")

    def _panel_picture(self) -> Any:
        from PIL import Image

        path = self.folder / "panel.tmp.png"
        assert self._area.grab().save(str(path)), path
        with Image.open(path) as picture:
            image = picture.convert("RGB")
        path.unlink()
        return image


def _font() -> str:
    import matplotlib

    return str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf")


def _arrow(draw: Any, left: float, top: float) -> None:
    """A mouse pointer whose tip is at a pixel."""
    shape = np.array([(0, 0), (0, 21), (5, 16), (9, 24), (12, 22), (8, 15), (15, 15)])
    points = [(left + x, top + y) for x, y in shape]
    draw.polygon(points, fill=(255, 255, 255), outline=(0, 0, 0))


def click(film: Film, panel: Any, seeds: Any, world: Any) -> None:
    """Jump to a point of the world, and click at it in the axial view."""
    import slicer

    slicer.vtkMRMLSliceNode.JumpAllSlices(
        slicer.mrmlScene, *world, slicer.vtkMRMLSliceNode.CenteredJumpSlice
    )
    view = film.workplace.slices[0]
    x, y = view.pixel_of(world)
    for share in (3, 1.5, 0.5, 0):
        film.shot(STEP_MS, (0, x + 40 * share, y - 30 * share))
    selection = slicer.app.applicationLogic().GetSelectionNode()
    interaction = slicer.app.applicationLogic().GetInteractionNode()
    selection.SetReferenceActivePlaceNodeClassName(seeds.GetClassName())
    selection.SetActivePlaceNodeID(seeds.GetID())
    interaction.SetPlaceModePersistence(0)
    interaction.SetCurrentInteractionMode(interaction.Place)
    count = seeds.GetNumberOfDefinedControlPoints()
    view.pixels()
    view.click(x, y)
    assert seeds.GetNumberOfDefinedControlPoints() == count + 1, "the click placed no point"
    interaction.SetCurrentInteractionMode(interaction.ViewTransform)
    panel.process_events()
    film.shot(SHORT_MS, (0, x, y))


def add_list(name: str) -> Any:
    """An empty list of points."""
    import slicer

    from FuzzyVesselCoreLib.mrml.new_points import VESSEL_COLOR, paint

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", name)
    node.CreateDefaultDisplayNodes()
    paint(node, VESSEL_COLOR)
    node.GetDisplayNode().SetPointLabelsVisibility(False)
    return node


def result(film: Film, panel: Any) -> None:
    """Wait for the surface of what Apply has found."""
    panel.click("applyButton")
    segmentation = panel.parameters.segmentation
    surface = panel.widget.panel.display.surface
    while surface.waits or not segmentation.GetSegmentation().ContainsRepresentation(
        "Closed surface"
    ):
        panel.process_events()
    film.workplace.in_3d.look()
    film.shot(READ_MS)


def hold(slider: Any, value: float) -> None:
    """Drag the handle of a slider to a value without releasing it."""
    before = slider.blockSignals(True)
    slider.value = value
    slider.blockSignals(before)
    slider.valueIsChanging.emit(value)


def vessels(film: Film) -> Any:
    """From two clicks to the tree; returns the labelmap."""
    import slicer

    from emulators.qt.panel import Panel
    from FuzzyConnectedGPUMRML.sample_data import add_phantom_with_seeds

    panel = Panel("FuzzyConnectedGPU", [])
    (volume,) = add_phantom_with_seeds()
    known, background = (slicer.util.getNode(name) for name in ("Vessels", "Background"))
    for node in (known, background):
        node.GetDisplayNode().SetVisibility(False)
    seeds, hepatic = add_list("Hepatic veins"), known.GetNthControlPointPositionWorld(HEPATIC)
    parameters = panel.parameters
    parameters.inputVolume, parameters.seeds = volume, seeds
    for view in film.workplace.slices:
        view.show(volume)
    film.workplace.zoom(1.2, hepatic)
    film.show_panel(panel)
    film.caption = "A CT of the liver (the built-in phantom)"
    film.shot(READ_MS)
    film.caption = "1  Click into a hepatic vein"
    click(film, panel, seeds, hepatic)
    film.caption = "2  Its tree, and the one that touches it"
    result(film, panel)
    film.turn()
    film.caption = "3  Drag the slider: less or more, at once in the slices"
    threshold = parameters.threshold
    for share in (*LESS, *reversed(LESS)):
        hold(panel.ui.thresholdSlider, share * threshold)
        film.shot(SHORT_MS)
    hold(panel.ui.thresholdSlider, threshold)
    panel.widget.panel.threshold.end_preview()
    film.shot(SHORT_MS)
    labelmap = parameters.labelmap
    seeds.GetDisplayNode().SetVisibility(False)
    parameters.segmentation.GetDisplayNode().SetOpacity3D(0.3)
    panel.close()
    return labelmap


def centrelines(film: Film, labelmap: Any) -> None:
    """The centrelines and their table."""
    from emulators.qt.panel import Panel

    panel = Panel("PotentialSkeleton", [])
    panel.parameters.input = labelmap
    panel.process_events()
    film.show_panel(panel)
    film.caption = "4  Centrelines with radius, branch by branch"
    panel.click("applyButton")
    film.workplace.in_3d.look()
    film.shot(READ_MS)
    film.turn()
    film.caption = "5  The table: click a row to jump to its branch"
    panel.ui.branchTable.sortByColumn(2, panel_descending())
    film._area.verticalScrollBar().setValue(10_000)
    for row in range(ROWS):
        panel.ui.branchTable.selectRow(row)
        panel.process_events()
        film.shot(READ_MS // 2 + SHORT_MS)
    panel.close()


def main() -> None:
    """Make the animation."""
    default = tutorial_pictures.ROOT / "Resources" / "Screenshots" / "minute.webp"
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    from emulators.qt.application import install

    install()
    film = Film(path.resolve().parent)
    centrelines(film, vessels(film))
    film.save(path)
    film.workplace.close()


if __name__ == "__main__":
    sys.path[:0] = [str(tutorial_pictures.ROOT / name) for name in tutorial_pictures.PLACES]
    main()

"""Pictures of the connectedness panel in seven states, as in a window of 1600 x 1000 pixels.

    python Testing/panel_pictures.py FOLDER

Empty, one volume, running, good, leaking, error, three vessels. Drawn off screen, as those of the
tutorial.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tutorial_pictures
from tutorial_pictures import GAP, PAPER, Workplace

WINDOW = (1600, 1000)
PANEL = (420, 850)  # what Slicer leaves for a module: toolbars are above, the Data Probe is below
HEADER = 64  # pixels of the toolbars
VIEW = ((WINDOW[0] - PANEL[0] - 2 * GAP) // 2, (WINDOW[1] - HEADER - GAP) // 2)


class Window:
    """A module's panel in a scroll area beside the views.

    Parameters
    ----------
    folder : Path
        For the pictures.
    name : str
        The module.
    advice : str
        Its label that says what to do next.
    """

    def __init__(
        self, folder: Path, name: str = "FuzzyConnectedGPU", advice: str = "adviceLabel"
    ) -> None:
        import qt

        from emulators.qt.panel import Panel

        self.folder = folder
        self.panel = Panel(name, [])
        self._advice = getattr(self.panel.ui, advice)
        self.workplace = Workplace(None, VIEW)
        self._area = qt.QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setWidget(self.panel.window)
        self._area.resize(*PANEL)
        self._area.show()
        self.panel.process_events()

    def panel_picture(self) -> Any:
        """What is to be seen of the panel without scrolling (PIL image)."""
        from PIL import Image

        path = self.folder / "panel.tmp.png"
        assert self._area.grab().save(str(path)), path
        with Image.open(path) as picture:
            image = picture.convert("RGB")
        path.unlink()
        return image

    def save(self, name: str) -> None:
        """Write the window as it is now."""
        from PIL import Image

        page = Image.new("RGB", WINDOW, PAPER)
        page.paste(self.panel_picture(), (0, HEADER))
        page.paste(self.workplace.layout(), (PANEL[0] + GAP, HEADER))
        page.save(self.folder / f"{name}.png", optimize=True)
        bar = self._area.verticalScrollBar()
        print(f"{name}: {self._advice.text} | {self.panel.ui.statusLabel.text}"
              f" | scrolls {bar.maximum} pixels")  # fmt: skip

    def surface(self) -> None:
        """Wait for the surface, and let the views show it."""
        inner = self.panel.parameters.segmentation.GetSegmentation()
        surface = self.panel.widget.panel.display.surface
        while surface.waits or not inner.ContainsRepresentation("Closed surface"):
            self.panel.process_events()


def during_a_run(window: Window, act: Callable[[], None]) -> None:
    """Press Apply, and call a function once in the middle of the run."""
    import slicer

    import FuzzyVesselCoreLib.widgets.run as run

    handle, done = slicer.app.processEvents, []

    def process_events(*flags: Any) -> None:
        handle(*flags)
        if not done and window.panel.ui.progressBar.value > 300:
            done.append(True)
            act()

    slicer.app.processEvents, was = process_events, run.ROUND
    run.ROUND = 0.0
    try:
        window.panel.ui.applyButton.click()
    finally:
        slicer.app.processEvents, run.ROUND = handle, was


def three_vessels(window: Window) -> None:
    """Portal and hepatic veins and the artery of another phantom, each from three points."""
    import slicer

    from Benchmarks.clicks import clicks_inside
    from Benchmarks.volumes import known_vessels
    from FuzzyConnectedGPUPanel.placing import new_list
    from FuzzyVesselCoreLib.mrml.new_points import world_points
    from FuzzyVesselCoreLib.mrml.phantom_nodes import add_phantom
    from FuzzyVesselCoreLib.phantom.image import Grid, tubes
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    panel = window.panel
    slicer.mrmlScene.Clear()
    panel.process_events()
    phantom = liver_phantom()
    volume, *lists = add_phantom(phantom)
    for node in lists:
        slicer.mrmlScene.RemoveNode(node)
    for view in window.workplace.slices:
        view.show(volume)
    parameters = panel.parameters
    parameters.inputVolume = volume
    *_, (_, _, (cava,)), (_, _, (aorta,)) = tubes(Grid(phantom.volume.shape, phantom.spacing))
    clicks = [clicks_inside(mask, 3, phantom.spacing) for mask in known_vessels(phantom).values()]
    clicks.append(aorta.points[[3, 5, 7]].round().astype(int))
    for number, voxels in enumerate(clicks):
        if number:
            panel.click("addVesselButton")
        else:
            parameters.seeds = new_list("seeds")
        for position in world_points(voxels, volume):
            parameters.seeds.AddControlPointWorld(position)
        panel.process_events()
    parameters.backgroundSeeds = new_list("backgroundSeeds")
    for position in world_points(cava.points[[3]].round().astype(int), volume):
        parameters.backgroundSeeds.AddControlPointWorld(position)
    vessels = panel.widget.panel.vessels
    for node, kind in zip(lists_of(parameters), ("portal vein", "hepatic vein", "artery")):
        vessels.change_kind(node, kind)
    panel.process_events()
    panel.click("applyButton")
    window.surface()


def lists_of(parameters: Any) -> list[Any]:
    """The lists of points of the vessels."""
    from FuzzyConnectedGPUMRML.vessels import vessels_of

    return vessels_of(parameters)


def main() -> None:
    """Make the seven pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd()
    folder.mkdir(parents=True, exist_ok=True)
    from emulators.qt.application import install

    install()
    import slicer

    from FuzzyConnectedGPUMRML.sample_data import add_phantom_with_seeds

    window = Window(folder)
    panel, parameters = window.panel, window.panel.parameters
    window.save("1-empty")
    (volume,) = add_phantom_with_seeds()
    seeds, background = (slicer.util.getNode(name) for name in ("Vessels", "Background"))
    for node in (seeds, background):
        node.GetDisplayNode().SetVisibility(False)
    for view in window.workplace.slices:
        view.show(volume)
    panel.process_events()
    window.save("2-one-volume")
    seeds.GetDisplayNode().SetVisibility(True)
    parameters.seeds = seeds
    panel.process_events()
    during_a_run(window, lambda: window.save("3-running"))
    window.surface()
    window.save("4-good")
    parameters.model = type(parameters.model).AFFINITY
    panel.click("applyButton")
    panel.ui.thresholdSlider.value = 0.012
    window.surface()
    window.save("5-leaking")
    parameters.model = type(parameters.model).CONTRAST
    parameters.thresholdSource = type(parameters.thresholdSource).AUTOMATIC
    panel.click("applyButton")
    window.surface()
    background.RemoveAllControlPoints()
    background.AddControlPointWorld(seeds.GetNthControlPointPositionWorld(0))
    parameters.backgroundSeeds = background
    panel.process_events()
    panel.click("applyButton")
    window.save("6-error")
    three_vessels(window)
    window.save("7-three-vessels")


if __name__ == "__main__":
    sys.path[:0] = [str(tutorial_pictures.ROOT / name) for name in tutorial_pictures.PLACES]
    main()

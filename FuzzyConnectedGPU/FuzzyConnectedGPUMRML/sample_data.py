"""A phantom to try the modules on, in Slicer's module Sample Data."""

from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.mrml.points import BACKGROUND_COLOR, VESSEL_COLOR, paint

CATEGORY = "FuzzyVesselGPU"
PHANTOM = "LiverPhantom"
PHANTOM_SIZE = 192
PICTURE = Path(__file__).parents[1] / "Resources" / "Icons" / f"{PHANTOM}.png"
# No file is downloaded, but Sample Data asks for an address.
NO_ADDRESS = "made-on-the-spot:liver-phantom"


def register() -> None:
    """Add the phantom, with its picture, to Sample Data, in a category of the extension."""
    import SampleData
    from slicer.i18n import tr as _

    logic = SampleData.SampleDataLogic()
    logic.registerCustomSampleDataCategory(CATEGORY, title=_("Vessels (FuzzyVesselGPU)"))
    logic.registerCustomSampleDataSource(
        category=CATEGORY,
        sampleName=PHANTOM,
        uris=NO_ADDRESS,
        fileNames=None,
        nodeNames=_("Liver phantom"),
        thumbnailFileName=str(PICTURE),
        customDownloader=add_phantom_with_seeds,
    )


def add_phantom_with_seeds(_source: Any = None) -> list[Any]:
    """Make the liver phantom with its seeds and show it; returns its volume in a list."""
    import slicer

    from FuzzyVesselCoreLib.mrml.points import add_phantom
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    volume, seeds, background = add_phantom(liver_phantom((PHANTOM_SIZE,) * 3))
    volume.GetDisplayNode().AutoWindowLevelOff()
    volume.GetDisplayNode().SetWindowLevelMinMax(-60, 300)
    paint(seeds, VESSEL_COLOR)
    paint(background, BACKGROUND_COLOR)
    slicer.util.setSliceViewerLayers(background=volume, fit=True)
    return [volume]

"""Something to try the modules on, in Slicer's module Sample Data."""

import os
from typing import Any

from FuzzyVesselCoreLib.mrml.points import BACKGROUND_COLOR, VESSEL_COLOR, paint

CATEGORY = "FuzzyVesselGPU"
PHANTOM = "LiverPhantom"
PHANTOM_SIZE = 192
# Slicer's own public scans with vessels full of contrast medium.
PUBLIC_SCANS = ("CTACardio", "CTLiver", "CTAAbdomenPanoramix")
# No file is downloaded for the phantom, but Sample Data asks for an address.
NO_ADDRESS = "made-on-the-spot:liver-phantom"


def register(icons_folder: str) -> None:
    """Add the phantom and Slicer's public scans to Sample Data, in a category of the extension.

    Parameters
    ----------
    icons_folder : str
        Holds the phantom's picture.
    """
    import SampleData
    import slicer
    from slicer.i18n import tr as _

    if not hasattr(slicer.modules, "sampleDataSources"):  # Sample Data is not loaded yet
        slicer.modules.sampleDataSources = {}
    logic = SampleData.SampleDataLogic()
    logic.registerCustomSampleDataCategory(CATEGORY, title=_("Vessels (FuzzyVesselGPU)"))
    logic.registerCustomSampleDataSource(
        category=CATEGORY,
        sampleName=PHANTOM,
        uris=NO_ADDRESS,
        fileNames=None,
        nodeNames=_("Liver phantom"),
        thumbnailFileName=os.path.join(icons_folder, f"{PHANTOM}.png"),
        customDownloader=add_phantom_with_seeds,
    )
    for name in PUBLIC_SCANS:
        source = logic.sourceForSampleName(name)
        if source is None:  # another Slicer may have other scans
            continue
        logic.registerCustomSampleDataSource(
            category=CATEGORY,
            sampleName=source.sampleName,
            uris=source.uris,
            fileNames=source.fileNames,
            nodeNames=source.nodeNames,
            checksums=source.checksums,
            thumbnailFileName=source.thumbnailFileName,
        )


def add_phantom_with_seeds(source: Any = None) -> list[Any]:
    """Make the liver phantom with its seeds and show it; returns its volume in a list.

    Parameters
    ----------
    source : SampleDataSource, optional
        Given by Sample Data; not needed.
    """
    import slicer

    from FuzzyVesselCoreLib.mrml.points import add_phantom
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    volume, seeds, background = add_phantom(liver_phantom((PHANTOM_SIZE,) * 3))
    display = volume.GetDisplayNode()
    display.AutoWindowLevelOff()
    display.SetWindowLevelMinMax(-60, 300)
    for node, color in ((seeds, VESSEL_COLOR), (background, BACKGROUND_COLOR)):
        paint(node, color)
        node.GetDisplayNode().SetPointLabelsVisibility(False)
    slicer.util.setSliceViewerLayers(background=volume, fit=True)
    return [volume]

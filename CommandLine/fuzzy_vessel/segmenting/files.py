"""The files of a segmentation."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import estimate_affinity
from FuzzyConnectedGPUMRML.vessels import color_of
from FuzzyVesselCoreLib.mrml.points import Seeds, seeds_of
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras

from ..pictures import page, segmentation_picture
from ..pictures.subject import Subject, Vessel
from ..progress_bar import Stopwatch
from ..writing import nodes
from ..writing.label_files import write_labels
from .inputs import Inputs
from .segmentation import Outcome
from .summary import caption, size_text


def write(folder: Path, inputs: Inputs, outcome: Outcome, watch: Stopwatch) -> dict:
    """Write the picture and the nodes' files.

    Returns
    -------
    dict
        Where the inputs come from, and what they are: for the report.

    Raises
    ------
    OSError
        A file could not be written.
    """
    watch.stage("Drawing the picture")
    volume, shape = inputs.volume, outcome.labels.shape
    seeds = _all_seeds(inputs, volume, shape)
    background = inputs.background and seeds_of(inputs.background, volume, shape)
    subject = _subject(inputs, outcome, seeds, background)
    mean, sigma = _vessel_intensities(subject, outcome.result.affinity)
    picture, lacking = segmentation_picture.draw(
        subject,
        mean=mean,
        sigma=sigma,
        title=inputs.title,
        subtitle=size_text(volume),
        caption=caption(outcome),
    )
    outcome.warnings += lacking
    page.save(picture, folder / nodes.PICTURE)
    watch.stage("Writing")
    written = {
        nodes.LABELMAP: outcome.result.labelmapNode,
        nodes.FUZZY_SCENE: outcome.result.sceneNode,
        nodes.SEGMENTATION: outcome.segmentation,
    }
    if len(inputs.vessels) > 1:
        for number, node in enumerate(inputs.vessels, 1):
            written[nodes.VESSEL_SEEDS.format(number=number)] = node
    else:
        written[nodes.SEEDS] = inputs.seeds
    if inputs.background:
        written[nodes.BACKGROUND_SEEDS] = inputs.background
    nodes.write_nodes(folder, written)
    stem = Path(nodes.LABELMAP).stem
    outcome.warnings += write_labels(
        folder, stem, outcome.result.labelmapNode, outcome.label_formats
    )
    return {**inputs.origin, **_description(volume, seeds, background)}


def write_phantom(
    folder: Path, inputs: Inputs, phantom: Any, volume_name: str, vessels_name: str
) -> None:
    """Write the phantom's volume, and its known vessels on the same grid."""
    import slicer

    vessels = slicer.modules.volumes.logic().CreateAndAddLabelVolume(inputs.volume, "Known vessels")
    slicer.util.updateVolumeFromArray(vessels, phantom.mask)
    nodes.write_nodes(folder, {volume_name: inputs.volume, vessels_name: vessels})


def focus(inputs: Inputs) -> Any:
    """Return the point (RAS) through which the slice views go: the first seed."""
    return inputs.seeds.GetNthControlPointPositionWorld(0)


def _all_seeds(inputs, volume, shape):
    """The seeds of all vessels together."""
    each = [seeds_of(node, volume, shape) for node in inputs.vessels or [inputs.seeds]]
    voxels = np.concatenate([seeds.voxels for seeds in each])
    return Seeds(voxels, [label for seeds in each for label in seeds.labels], [])


def _vessel_intensities(subject, affinity):
    """Mean and deviation of the vessels' intensities, for the grey levels of the picture."""
    estimated = affinity or estimate_affinity(subject.volume, subject.seeds)
    return estimated.mean, estimated.sigma


def _subject(inputs, outcome, seeds, background):
    """What the picture shows; several vessels in the colours of their segments."""
    import slicer
    from matplotlib.colors import to_hex

    labels, vessels = outcome.labels, ()
    if len(inputs.vessels) > 1:
        labels = slicer.util.arrayFromVolume(outcome.result.labelmapNode)
        vessels = tuple(Vessel(each.GetName(), to_hex(color_of(each))) for each in inputs.vessels)
    return Subject(
        volume=slicer.util.arrayFromVolume(inputs.volume),
        labels=labels,
        ijk_to_ras=ijk_to_ras(inputs.volume),
        seeds=seeds.voxels,
        background_seeds=background.voxels if background else np.empty((0, 3), int),
        vessels=vessels,
    )


def _description(volume, seeds, background):
    """Size, spacing, type and seeds, for the report."""
    import slicer

    return {
        "size": list(volume.GetImageData().GetDimensions()),
        "spacing_mm": list(volume.GetSpacing()),
        "voxel_type": slicer.util.arrayFromVolume(volume).dtype.name,
        "seeds": _listed(seeds),
        "background_seeds": _listed(background) if background else [],
    }


def _listed(seeds):
    return [
        {"label": label, "ijk": voxel[::-1].tolist()}
        for label, voxel in zip(seeds.labels, seeds.voxels)
    ]

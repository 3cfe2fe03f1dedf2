"""Segmentation of a volume on the MRML scene: inputs, the module's logic, picture and files."""

from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyConnectedGPUMRML.fuzzy_scene import contrast_text
from FuzzyConnectedGPUMRML.vessel_lists import color_of, set_kind
from FuzzyVesselCoreLib.mrml.points import add_points, seeds_of, world_points
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras
from FuzzyVesselCoreLib.mrml.segments import kind_named

from . import pictures, report, writing
from .progress import Progress
from .reading import volumes
from .reading.process import Choice, refuse_outside

# Beyond it the surface takes longer than everything else; Slicer makes it on a click.
MAX_SURFACE_VOXELS = 1_000_000
CHOICES = ("model", "border", "threshold", "cut", "solver", "device", "radius", "side")


@dataclass
class Inputs:
    """The nodes that go in (`vessels`: a list of points each), and where they come from."""

    volume: Any
    vessels: list
    title: str
    background: Any = None
    mask: Any = None
    origin: dict = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    phantom: Any = None


@dataclass
class Outcome:
    """What came out: the logic's result, the labels (K, J, I), and how the threshold was chosen."""

    result: Any
    segmentation: Any
    labels: np.ndarray
    threshold: dict
    warnings: list[str]
    fill_gaps: int
    dice: float | None = None  # to the known vessels of a phantom


def read_inputs(options: Namespace, progress: Progress) -> Inputs:
    """Make the phantom of a demo, or read the volume, the seeds and the mask of the user."""
    if options.command == "demo":
        progress.stage("Making the phantom")
        return _phantom(options)
    progress.stage("Reading")
    choice = Choice.of(options)
    volume = volumes.read_volume(options.volume, choice)
    given = {"volume": options.volume, "seeds_file": options.seeds, "mask": options.mask}
    origin = {name: str(Path(path).resolve()) if path else None for name, path in given.items()}
    inputs = Inputs(
        volume,
        _named_vessels(options.vessel, volume) or _seeds(options, volume),
        Path(options.volume).resolve().name,
        _points(options.background, volume, "Background", "--background"),
        volumes.read_mask(options.mask, choice.spacing) if options.mask else None,
        {**origin, "frame": choice.frame, "channel": choice.channel},
        volumes.notes_of(volume),
    )
    if volume.GetAttribute(volumes.K_REVERSED) and (
        options.seed or options.background or options.vessel
    ):
        last = volume.GetImageData().GetDimensions()[2] - 1
        inputs.notes.append(
            f"The axes of {inputs.title} are left-handed, and Slicer reverses the third one: slice "
            f"K of the file is slice {last} - K here. --seed, --vessel and --background count as "
            "Slicer does; look at the picture."
        )
    return inputs


def _phantom(options):
    """The liver phantom as inputs, with its own seeds."""
    import slicer

    from FuzzyVesselCoreLib.mrml.points import add_phantom
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    phantom = liver_phantom((options.size,) * 3, options.seed_number)
    name = f"Liver phantom {options.seed_number}"
    volume, seeds, background = add_phantom(phantom, name)
    slicer.mrmlScene.RemoveNode(background)
    origin = {"phantom": options.seed_number, "size": options.size}
    return Inputs(volume, [seeds], name, origin=origin, phantom=phantom)


def _named_vessels(named, volume):
    """A list of points for each name, in the order of the command line; known kinds are set."""
    voxels: dict[str, list] = {}
    for name, voxel in named:
        voxels.setdefault(name, []).append(voxel)
    lists: list[Any] = []
    for name, each in voxels.items():
        node = _points(each, volume, name, "--vessel")
        node.SetName(name)  # another node, such as the volume, may have it, too
        set_kind(node, kind_named(name), [color_of(other) for other in lists])
        lists.append(node)
    return lists


def _seeds(options, volume):
    """The seeds of the file and of the command line in one list."""
    seeds = volumes.read_seeds(options.seeds) if options.seeds else None
    seeds = _points(options.seed, volume, "Vessels", "--seed", seeds)
    return [seeds] if seeds else []


def _points(voxels, volume, name, option, into=None):
    """Voxels I, J, K of the command line in a list of points; None if there is none."""
    refuse_outside(voxels, volume.GetImageData().GetDimensions(), option)
    if not voxels:
        return into
    positions = world_points(np.array(voxels)[:, ::-1], volume)
    labels = [",".join(map(str, voxel)) for voxel in voxels]
    return add_points(positions, name, labels, into)


def segment(inputs: Inputs, options: Namespace, progress: Progress) -> Outcome:
    """Let the module's logic segment the volume; raises `FuzzyVesselError` and `Cancelled`."""
    import slicer

    from FuzzyConnectedGPU import FuzzyConnectedGPULogic

    segmentation = slicer.mrmlScene.AddNewNodeByClass(
        "vtkMRMLSegmentationNode", f"{inputs.volume.GetName()} vessels"
    )
    logic = FuzzyConnectedGPULogic()
    if options.automatic_seeds:
        progress.stage("Finding seeds")
        found = logic.findSeeds(
            inputs.volume,
            maskNode=inputs.mask,
            count=options.automatic_seeds,
            seedsNode=inputs.vessels[0] if inputs.vessels else None,
            device=options.device,
            progress=progress,
        )
        inputs.vessels = [found]
    progress.stage("Computing connectedness")
    result = logic.segment(
        inputs.volume,
        inputs.vessels,
        backgroundSeedsNode=inputs.background,
        maskNode=inputs.mask,
        segmentationNode=segmentation,
        progress=progress,
        fillGaps=options.fill_gaps,
        **{name: getattr(options, name) for name in CHOICES},
    )
    progress.stage("Making the surface")
    labels = slicer.util.arrayFromVolume(result.labelmapNode)
    segmentation.CreateDefaultDisplayNodes()
    if len(inputs.vessels) > 1:  # one image with their labels, which other programs read, too
        segmentation.GetSegmentation().CollapseBinaryLabelmaps(False)
    if np.count_nonzero(labels) <= MAX_SURFACE_VOXELS:
        segmentation.CreateClosedSurfaceRepresentation()
    warnings = [*inputs.notes, *result.warnings]
    if result.scene.without_contrast:
        places = (f"{i},{j},{k}" for k, j, i in result.scene.without_contrast)
        warnings.append(f"Without contrast: I,J,K = {'; '.join(places)}.")
    threshold = _threshold(result, options)
    outcome = Outcome(result, segmentation, labels, threshold, warnings, options.fill_gaps)
    if inputs.phantom is not None:
        liver = inputs.phantom.liver > 0
        found, known = labels[liver] > 0, inputs.phantom.mask[liver] > 0
        outcome.dice = float(2 * (found & known).sum() / max(1, found.sum() + known.sum()))
    return outcome


def _threshold(result, options):
    """The threshold and how it was chosen, as the report has it."""
    threshold, scene = result.threshold, result.scene
    chosen, details = "just above the background seeds", {}
    if options.threshold is not None:
        chosen = "by the user"
    elif scene.least_contrast is not None:
        chosen, reason = "from the seeds' contrast", contrast_text(result.sceneNode)
        details = {"contrast": scene.least_contrast, "noise": scene.noise, "reason": reason}
    elif hasattr(threshold, "confidence"):
        chosen = "automatically"
        details = {"confidence": threshold.confidence, "reason": threshold.reason}
    return {"value": float(threshold), "chosen": chosen, **details}


def write(
    folder: Path, inputs: Inputs, outcome: Outcome, options: Namespace, progress: Progress
) -> None:
    """Write the picture and the nodes' files; tells the inputs' origin what they are."""
    import slicer

    progress.stage("Drawing the picture")
    volume, shape = inputs.volume, outcome.labels.shape
    seeds = [seeds_of(node, volume, shape) for node in inputs.vessels]
    background = [seeds_of(inputs.background, volume, shape)] if inputs.background else []
    several = len(inputs.vessels) > 1
    subject = pictures.Subject(
        volume=slicer.util.arrayFromVolume(volume),
        labels=outcome.labels,
        ijk_to_ras=ijk_to_ras(volume),
        seeds=np.concatenate([each.voxels for each in seeds]),
        background_seeds=background[0].voxels if background else np.empty((0, 3), int),
        vessels=[(node.GetName(), color_of(node)) for node in inputs.vessels] if several else [],
    )
    texts = inputs.title, report.size_text(volume), report.segmentation_caption(outcome)
    page, lacking = pictures.segmentation_picture(subject, texts)
    outcome.warnings += lacking
    pictures.save(page, folder / "picture.png")
    progress.stage("Writing")
    written = {
        "labelmap.nrrd": outcome.result.labelmapNode,
        "fuzzy-scene.nrrd": outcome.result.sceneNode,
        "segmentation.seg.nrrd": outcome.segmentation,
    }
    for number, node in enumerate(inputs.vessels, 1):
        written[f"seeds-{number}.mrk.json" if several else "seeds.mrk.json"] = node
    if inputs.background:
        written["background-seeds.mrk.json"] = inputs.background
    if inputs.phantom is not None:
        known = slicer.modules.volumes.logic().CreateAndAddLabelVolume(volume, "Known vessels")
        slicer.util.updateVolumeFromArray(known, inputs.phantom.mask)
        written |= {"phantom.nrrd": volume, "phantom-vessels.nrrd": known}
    if options.nifti:
        written["labelmap.nii.gz"] = outcome.result.labelmapNode
    writing.write_nodes(folder, written)
    inputs.origin |= {
        "size": list(volume.GetImageData().GetDimensions()),
        "spacing_mm": list(volume.GetSpacing()),
        "voxel_type": subject.volume.dtype.name,
        "seeds": _listed(seeds),
        "background_seeds": _listed(background),
    }


def _listed(lists):
    return [
        {"label": label, "ijk": voxel[::-1].tolist()}
        for seeds in lists
        for label, voxel in zip(seeds.labels, seeds.voxels)
    ]

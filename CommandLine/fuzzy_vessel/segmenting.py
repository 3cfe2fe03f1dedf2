"""From the inputs to the outcome of a segmentation, on the MRML scene, and to its files."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from FuzzyConnectedGPULib import estimate_affinity
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import reading as mrml
from FuzzyVesselCoreLib.mrml.new_points import add_points
from FuzzyVesselCoreLib.mrml.points import seeds_of

from .pictures import pictures
from .reading import reading
from .subject import Subject
from .writing import writing

# Beyond it the surface takes longer than everything else; Slicer makes it on a click.
MOST_SURFACE_VOXELS = 1_000_000


@dataclass
class Inputs:
    """The nodes that go in, and where they come from; no seeds until automatic ones are found."""

    volume: object
    seeds: object
    background: object
    mask: object
    title: str
    origin: dict
    notes: tuple = ()


@dataclass
class Outcome:
    """What came out.

    Attributes
    ----------
    result : FuzzyConnectedGPUResult
    segmentation : vtkMRMLSegmentationNode
    labels : ndarray of uint8, (K, J, I)
    threshold : dict
        "value", "chosen", and "confidence" and "reason" where it was chosen automatically.
    warnings : list of str
    dice : float or None
        Against the known vessels of a phantom.
    fill_gaps : int
        Rounds in which gaps were filled.
    """

    result: object
    segmentation: object
    labels: np.ndarray
    threshold: dict
    warnings: list = field(default_factory=list)
    dice: float | None = None
    fill_gaps: int = 0


def read_inputs(options):
    """Read the volume, the seeds and the mask that the user named."""
    volume = reading.read_volume(options.volume, options.frame)
    seeds = _seeds(options, volume)
    background = _points(options.background, volume, "Background", "--background")
    mask = reading.read_mask(options.mask) if options.mask else None
    origin = {
        "volume": str(Path(options.volume).resolve()),
        "frame": options.frame,
        "seeds_file": str(Path(options.seeds).resolve()) if options.seeds else None,
        "mask": str(Path(options.mask).resolve()) if options.mask else None,
    }
    title = Path(options.volume).resolve().name
    notes = _notes(volume, title) if options.seed or options.background else ()
    return Inputs(volume, seeds, background, mask, title, origin, notes)


def _notes(volume, title):
    """What somebody should know who counts voxels."""
    if not volume.GetAttribute(reading.K_REVERSED):
        return ()
    last = volume.GetImageData().GetDimensions()[2] - 1
    return (
        f"The axes of {title} are left-handed, and Slicer turns the third one round: "
        f"slice K of the file is slice {last} - K here. --seed and --background count as Slicer "
        "does; look at the picture.",
    )


def phantom_inputs(phantom, options):
    """The liver phantom as inputs, with its own seeds."""
    import slicer

    from FuzzyVesselCoreLib.mrml.phantom_nodes import add_phantom

    name = f"Liver phantom {options.seed_number}"
    volume, seeds, background = add_phantom(phantom, name)
    slicer.mrmlScene.RemoveNode(background)
    origin = {"phantom": options.seed_number, "size": options.size}
    return Inputs(volume, seeds, None, None, name, origin)


def _seeds(options, volume):
    """The seeds of the file and of the command line in one list."""
    given = _points(options.seed, volume, "Vessels", "--seed")
    if not options.seeds:
        return given
    seeds = reading.read_seeds(options.seeds)
    if given is not None:
        import slicer

        for index in range(given.GetNumberOfControlPoints()):
            position = given.GetNthControlPointPositionVector(index)
            seeds.AddControlPointWorld(position, given.GetNthControlPointLabel(index))
        slicer.mrmlScene.RemoveNode(given)
    return seeds


def _points(voxels, volume, name, option):
    """Voxels I, J, K of the command line as a list of points; None if there is none."""
    if not voxels:
        return None
    sizes = volume.GetImageData().GetDimensions()
    for voxel in voxels:
        if not all(0 <= index < size for index, size in zip(voxel, sizes)):
            raise InputError(
                f"{option} {','.join(map(str, voxel))} lies outside the volume: I, J, K go from "
                f"0 to {', '.join(str(size - 1) for size in sizes)}."
            )
    labels = [",".join(map(str, voxel)) for voxel in voxels]
    return add_points(np.array(voxels)[:, ::-1], volume, name, labels)


def segment(inputs, options, watch):
    """Let the module's logic segment the volume; return the `Outcome`."""
    import slicer

    from FuzzyConnectedGPU import FuzzyConnectedGPULogic

    segmentation = slicer.mrmlScene.AddNewNodeByClass(
        "vtkMRMLSegmentationNode", f"{inputs.volume.GetName()} vessels"
    )
    logic = FuzzyConnectedGPULogic()
    if getattr(options, "automatic_seeds", 0):
        watch.stage("Finding seeds")
        inputs.seeds = logic.findSeeds(
            inputs.volume,
            maskNode=inputs.mask,
            count=options.automatic_seeds,
            seedsNode=inputs.seeds,
            device=options.device,
            progress=watch.progress,
        )
    watch.stage("Computing connectedness")
    result = logic.segment(
        inputs.volume,
        inputs.seeds,
        backgroundSeedsNode=inputs.background,
        maskNode=inputs.mask,
        model=options.model,
        border=options.border,
        threshold=options.threshold,
        cut=options.cut,
        solver=options.solver,
        device=options.device,
        radius=options.radius,
        side=options.side,
        fillGaps=options.fill_gaps,
        segmentationNode=segmentation,
        progress=watch.progress,
    )
    watch.stage("Making the surface")
    labels = slicer.util.arrayFromVolume(result.labelmapNode)
    segmentation.CreateDefaultDisplayNodes()
    if np.count_nonzero(labels) <= MOST_SURFACE_VOXELS:
        segmentation.CreateClosedSurfaceRepresentation()
    threshold = _threshold(result.threshold, options)
    warnings = [*inputs.notes, *result.warnings]
    return Outcome(result, segmentation, labels, threshold, warnings, fill_gaps=options.fill_gaps)


def _threshold(value, options):
    if options.threshold is not None:
        return {"value": float(value), "chosen": "by the user"}
    if hasattr(value, "contrast"):
        known = {"contrast": value.contrast, "noise": value.noise, "reason": value.reason}
        return {"value": float(value), "chosen": "from the seeds' contrast", **known}
    if not hasattr(value, "confidence"):
        return {"value": float(value), "chosen": "just above the background seeds"}
    return {
        "value": float(value),
        "chosen": "automatically",
        "confidence": value.confidence,
        "reason": value.reason,
    }


def dice(labels, truth):
    """Dice's coefficient of two masks, 0..1."""
    both = np.count_nonzero(labels & truth)
    return 2 * both / max(1, np.count_nonzero(labels) + np.count_nonzero(truth))


def write_phantom(folder, inputs, phantom, volume_name, vessels_name):
    """Write the phantom's volume, and its known vessels on the same grid."""
    import slicer

    vessels = slicer.modules.volumes.logic().CreateAndAddLabelVolume(inputs.volume, "Known vessels")
    slicer.util.updateVolumeFromArray(vessels, phantom.mask)
    writing.write_nodes(folder, {volume_name: inputs.volume, vessels_name: vessels})


def write(folder, inputs, outcome, watch):
    """Write the picture and the nodes' files.

    Returns
    -------
    dict
        Where the inputs come from, and what they are: for the report.
    """
    watch.stage("Drawing the picture")
    volume = inputs.volume
    shape = outcome.labels.shape
    seeds = seeds_of(inputs.seeds, volume, shape)
    background = inputs.background and seeds_of(inputs.background, volume, shape)
    subject = _subject(volume, outcome, seeds, background)
    mean, sigma = _vessel_intensities(subject, outcome.result.affinity)
    picture, lacking = pictures.draw(
        subject,
        mean=mean,
        sigma=sigma,
        title=inputs.title,
        subtitle=size_text(volume),
        caption=_caption(outcome),
    )
    outcome.warnings += lacking
    picture.save(folder / writing.PICTURE)
    watch.stage("Writing")
    nodes = {
        writing.LABELMAP: outcome.result.labelmapNode,
        writing.FUZZY_SCENE: outcome.result.sceneNode,
        writing.SEGMENTATION: outcome.segmentation,
        writing.SEEDS: inputs.seeds,
    }
    if inputs.background:
        nodes[writing.BACKGROUND_SEEDS] = inputs.background
    writing.write_nodes(folder, nodes)
    return {**inputs.origin, **_described(volume, inputs, seeds, background)}


def _vessel_intensities(subject, affinity):
    """Mean and deviation of the vessels' intensities, for the grey levels of the picture."""
    if affinity is not None:
        return affinity.mean, affinity.sigma
    seeds = estimate_affinity(subject.volume, subject.seeds)
    return seeds.mean, seeds.sigma


def focus(inputs):
    """The point (RAS) through which the slice views go: the first seed."""
    return inputs.seeds.GetNthControlPointPositionWorld(0)


def _subject(volume, outcome, seeds, background):
    import slicer

    return Subject(
        volume=slicer.util.arrayFromVolume(volume),
        labels=outcome.labels,
        ijk_to_ras=mrml.ijk_to_ras(volume),
        seeds=seeds.voxels,
        background_seeds=background.voxels if background else np.empty((0, 3), int),
    )


def _described(volume, inputs, seeds, background):
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


def size_text(volume):
    """The volume's size as one reads it under its name."""
    size = " x ".join(str(n) for n in volume.GetImageData().GetDimensions())
    return f"{size} voxels of {' x '.join(f'{mm:.3g}' for mm in volume.GetSpacing())} mm"


def _caption(outcome):
    parts = [_millilitres(outcome), f"threshold {_threshold_text(outcome)}"]
    if outcome.dice is not None:
        parts.append(f"Dice {outcome.dice:.3f} inside the liver")
    return "   |   ".join(parts)


def _millilitres(outcome):
    volume = outcome.result.volumeMl
    return f"{volume:.1f} ml" if volume >= 10 else f"{volume:.3g} ml"


def _threshold_text(outcome):
    threshold = outcome.threshold
    text = f"{threshold['value']:.4g}, chosen {threshold['chosen']}"
    if threshold.get("confidence") is not None:
        text += f" (confidence {threshold['confidence']:.0%})"
    return text


def summary(outcome):
    """The lines that the user reads at the end."""
    lines = [
        f"threshold  {_threshold_text(outcome)}",
        *_meaning(outcome.threshold),
        f"vessels    {_millilitres(outcome)}, {int(outcome.labels.sum()):,} voxels",
    ]
    if outcome.dice is not None:
        lines.append(
            f"Dice       {outcome.dice:.3f} to the phantom's known vessels, inside the liver"
        )
    return lines


def _meaning(threshold):
    """What a threshold of contrasts means in the image."""
    return [f"           {threshold['reason']}"] if "contrast" in threshold else []


def computed(outcome):
    """By what, where and how fast the connectedness was computed."""
    scene = outcome.result.scene
    return f"by {scene.solver} on {scene.device} in {sum(scene.seconds.values()):.2f} s"

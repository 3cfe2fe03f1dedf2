"""From a labelmap on the MRML scene to the outcome of a skeleton, and to its files."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.mrml import reading as mrml

from .pictures import skeleton_picture
from .pictures.offscreen import CannotRender
from .reading import reading
from .segmenting import size_text
from .subject import Subject
from .writing import tree_files, writing

# Beyond it a list of curves is no help in Slicer: the model has all of them.
MOST_CURVES = 2000
# Noise leaves tunnels through a segmentation, each of which would become a loop: so many voxels
# wide they are closed, where the user has not chosen.
NOISE_VOXELS = 2


@dataclass
class Outcome:
    """What came out.

    Attributes
    ----------
    result : PotentialSkeletonMRML.result.SkeletonResult
    length : float
        Of all branches, mm.
    options : dict
        What was asked for.
    warnings : list of str
    distances : dict or None
        To the known centrelines of a phantom.
    formats : tuple of str
        Of `tree_files.FORMATS`, to be written.
    roots : list of (int, int, int)
        Voxels I, J, K that choose the trees' roots.
    trees : dict
        What `tree_files.write` found.
    """

    result: object
    length: float
    options: dict
    warnings: list = field(default_factory=list)
    distances: dict | None = None
    formats: tuple = ()
    roots: list = field(default_factory=list)
    trees: dict = field(default_factory=dict)

    @property
    def skeleton(self):
        return self.result.skeleton


def read_input(options):
    """Read the labelmap that the user named.

    Returns
    -------
    node : vtkMRMLLabelMapVolumeNode
    origin : dict
        For the report.
    notes : list of str
    """
    node, labels = reading.read_labelmap(options.labelmap, options.label)
    origin = {
        "labelmap": str(Path(options.labelmap).resolve()),
        "label": options.label,
        "labels": [int(label) for label in labels[: reading.MOST_LABELS]],
        "size": list(node.GetImageData().GetDimensions()),
        "spacing_mm": list(node.GetSpacing()),
    }
    if options.label is not None or labels.size == 1:
        return node, origin, []
    return (
        node,
        origin,
        [
            f"The labelmap holds {labels.size} labels, which are taken as one object; "
            "--label N takes one of them."
        ],
    )


def extract(labelmap, label, options, watch):
    """Let the module's logic find the centrelines; return the `Outcome`."""
    from PotentialSkeleton import PotentialSkeletonLogic

    tree_files.check_roots(options.root, labelmap.GetImageData().GetDimensions())
    watch.stage("Finding centrelines")
    chosen = {
        name: getattr(options, name)
        for name in ("level", "strength", "charge_distance", "drop_islands", "close_tunnels")
    }
    if chosen["close_tunnels"] is None:
        chosen["close_tunnels"] = NOISE_VOXELS * float(np.median(labelmap.GetSpacing()))
    result = PotentialSkeletonLogic().extract(
        labelmap,
        label=label,
        device=options.device,
        plotChartNodes=True,
        progress=watch.progress,
        **chosen,
    )
    skeleton = result.skeleton
    length = sum(skeleton.length(branch) for branch in skeleton.branches)
    warnings = list(result.warnings)
    wanted = {"formats": options.formats, "roots": options.root}
    return Outcome(result, length, chosen, warnings, **wanted)


def write(folder, labelmap, label, outcome, watch, title):
    """Write the picture and the files of the skeleton."""
    skeleton = outcome.skeleton
    if skeleton.branches:
        watch.stage("Drawing centrelines")
        _write_picture(folder, labelmap, label, outcome, title)
    watch.stage("Writing centrelines")
    result = outcome.result
    nodes = {writing.SKELETON: result.labelmapNode}
    if skeleton.branches:  # VTK writes no file without points
        nodes[writing.CENTRELINES] = result.modelNode
    writing.write_nodes(folder, nodes)
    if 0 < len(result.curveNodes) <= MOST_CURVES:
        writing.write_curves(folder, result.curveNodes)
    skeleton.to_csv(folder / writing.BRANCHES)
    text = skeleton.to_swc(voxel_to_world=result.ijkToRAS)
    text = "# x y z: right, anterior, superior (RAS), as Slicer shows them\n" + text
    (folder / writing.SWC).write_text(text, encoding="utf-8", newline="\n")
    labels = _labels(labelmap, label)
    outcome.trees, warnings = tree_files.write(
        folder, skeleton, labels, result.ijkToRAS, outcome.formats, outcome.roots
    )
    outcome.warnings += warnings


def _write_picture(folder, labelmap, label, outcome, title):
    labels = _labels(labelmap, label)
    subject = Subject(
        volume=labels,
        labels=labels.astype(np.uint8),
        ijk_to_ras=mrml.ijk_to_ras(labelmap),
        seeds=outcome.skeleton.voxels[:1],
    )
    texts = {"title": title, "subtitle": size_text(labelmap), "caption": _caption(outcome)}
    try:
        picture = skeleton_picture.draw(subject, outcome.skeleton, **texts)
    except CannotRender as reason:
        outcome.warnings.append(f"{reason}.")
    else:
        picture.save(folder / writing.SKELETON_PICTURE)


def _labels(labelmap, label):
    """The object, bool (K, J, I)."""
    import slicer

    values = slicer.util.arrayFromVolume(labelmap)
    return values != 0 if label is None else values == label


def focus(outcome):
    """The point (RAS) through which the slice views go: where the skeleton is widest."""
    node = max(outcome.skeleton.nodes, key=lambda node: node.radius)
    return outcome.result.ijkToRAS[:3] @ [*node.position[::-1], 1.0]


def _caption(outcome):
    report = outcome.skeleton.report
    parts = [f"{_branches(outcome)}, {_length(outcome)}"]
    if report["skeleton_cycles"]:
        parts.append(_counted(report["skeleton_cycles"], "loop"))
    if report["components"] > 1:
        parts.append(f"{report['components']} pieces")
    if outcome.distances:
        off = outcome.distances["skeleton_to_centreline"]["mean"]
        parts.append(f"{off:.2f} mm off the known ones")
    return "   |   ".join(parts)


def _branches(outcome):
    count = len(outcome.skeleton.branches)
    return "1 branch" if count == 1 else f"{count:,} branches"


def _counted(count, name):
    return f"{count:,} {name}" + ("" if count == 1 else "s")


def _length(outcome):
    return (
        f"{outcome.length / 1000:.2f} m" if outcome.length >= 1000 else f"{outcome.length:.3g} mm"
    )


def summary(outcome):
    """The lines that the user reads at the end."""
    report = outcome.skeleton.report
    counts = [_branches(outcome), _length(outcome), _counted(report["components"], "piece")]
    counts.append(_counted(report["skeleton_cycles"], "loop"))
    lines = [f"skeleton   {', '.join(counts)}"]
    for name, told in (
        ("skeleton_to_centreline", "from the skeleton to the known centrelines"),
        ("centreline_to_skeleton", "from the known centrelines to the skeleton"),
    ):
        measured = (outcome.distances or {}).get(name)
        if measured:
            lines.append(
                f"distance   {measured['mean']:.2f} mm on average, 95 % within "
                f"{measured['percentile_95']:.2f} mm {told}, inside the liver"
            )
    return lines


def computed(outcome):
    """How fast the skeleton was found."""
    return f"centrelines in {sum(outcome.skeleton.report['seconds'].values()):.2f} s"

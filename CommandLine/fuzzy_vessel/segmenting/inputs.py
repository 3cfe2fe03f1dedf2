"""The nodes that go into a segmentation: from files and arguments, or from the phantom."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.new_points import add_points

from ..reading import seeds as seed_files
from ..reading import stacks, volumes


@dataclass
class Inputs:
    """The nodes that go in, and where they come from; no seeds until automatic ones are found.

    With several vessels `seeds` is the list of the first one, and `vessels` has all lists.
    """

    volume: Any
    seeds: Any
    background: Any
    mask: Any
    title: str
    origin: dict
    notes: tuple[str, ...] = ()
    vessels: list = field(default_factory=list)


def read_inputs(options: Namespace) -> Inputs:
    """Read the volume, the seeds and the mask that the user named.

    Raises
    ------
    InputError
        A file cannot be used, or a voxel lies outside the volume.
    """
    choice = stacks.Choice.of(options)
    volume = volumes.read_volume(options.volume, choice=choice)
    vessels = _vessels(options.vessel, volume)
    seeds = vessels[0] if vessels else _seeds(options, volume)
    background = _points(options.background, volume, "Background", "--background")
    mask = volumes.read_mask(options.mask, choice.spacing) if options.mask else None
    origin = {
        "volume": str(Path(options.volume).resolve()),
        "frame": choice.frame,
        "channel": choice.channel,
        "seeds_file": str(Path(options.seeds).resolve()) if options.seeds else None,
        "mask": str(Path(options.mask).resolve()) if options.mask else None,
    }
    title = Path(options.volume).resolve().name
    counted = options.seed or options.background or options.vessel
    notes = _notes(volume, title) if counted else ()
    notes += tuple(stacks.notes_of(volume))
    return Inputs(volume, seeds, background, mask, title, origin, notes, vessels)


def phantom_inputs(phantom: Any, options: Namespace) -> Inputs:
    """Return the liver phantom as inputs, with its own seeds."""
    import slicer

    from FuzzyVesselCoreLib.mrml.phantom_nodes import add_phantom

    name = f"Liver phantom {options.seed_number}"
    volume, seeds, background = add_phantom(phantom, name)
    slicer.mrmlScene.RemoveNode(background)
    origin = {"phantom": options.seed_number, "size": options.size}
    return Inputs(volume, seeds, None, None, name, origin)


def _notes(volume, title):
    """What somebody should know who counts voxels."""
    if not volume.GetAttribute(volumes.K_REVERSED):
        return ()
    last = volume.GetImageData().GetDimensions()[2] - 1
    return (
        f"The axes of {title} are left-handed, and Slicer reverses the third one: slice K of the "
        f"file is slice {last} - K here. --seed, --vessel and --background count as Slicer does; "
        "look at the picture.",
    )


def _vessels(named: Sequence[tuple], volume: Any) -> list[Any]:
    """A list of points for each name, in the order of the command line; known kinds are set."""
    from FuzzyConnectedGPUMRML.vessels import color_of, kind_named, set_kind

    voxels: dict[str, list] = {}
    for name, voxel in named:
        voxels.setdefault(name, []).append(voxel)
    lists: list[Any] = []
    for name, each in voxels.items():
        node = _points(each, volume, name, "--vessel")
        node.SetName(name)
        set_kind(node, kind_named(name), [color_of(other) for other in lists])
        lists.append(node)
    return lists


def _seeds(options, volume):
    """The seeds of the file and of the command line in one list."""
    given = _points(options.seed, volume, "Vessels", "--seed")
    if not options.seeds:
        return given
    seeds = seed_files.read_seeds(options.seeds)
    if given is not None:
        import slicer

        for index in range(given.GetNumberOfControlPoints()):
            position = given.GetNthControlPointPositionVector(index)
            seeds.AddControlPointWorld(position, given.GetNthControlPointLabel(index))
        slicer.mrmlScene.RemoveNode(given)
    return seeds


def _points(voxels: Sequence[tuple[int, int, int]], volume: Any, name: str, option: str) -> Any:
    """Voxels I, J, K of the command line as a list of points; None if there is none."""
    if not voxels:
        return None
    sizes = volume.GetImageData().GetDimensions()
    for voxel in voxels:
        if not all(0 <= index < size for index, size in zip(voxel, sizes)):
            raise InputError(
                f"{option} {','.join(map(str, voxel))} lies outside the volume: I, J, K go from "
                f"0 to {', '.join(str(size - 1) for size in sizes)} (indices, not R, A, S in mm)."
            )
    labels = [",".join(map(str, voxel)) for voxel in voxels]
    return add_points(np.array(voxels)[:, ::-1], volume, name, labels)

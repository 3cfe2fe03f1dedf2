"""Groups of options that several commands share."""

from argparse import ArgumentParser

from ..writing.label_files import LABEL_FORMATS
from .values import count, folder, label_formats, share, spacing, threshold, vessel, voxel


def add_inputs(parser: ArgumentParser) -> None:
    """Add the volume, the seeds and the mask."""
    parser.add_argument(
        "volume",
        metavar="VOLUME",
        help=".nrrd, .nhdr, .mha, .mhd, .nii, .nii.gz, .tif, a folder with one DICOM series, or an "
        "OME-Zarr folder (image.zarr, or image.zarr/2 for its third resolution)",
    )
    add_voxels(parser, "--seed", "a voxel inside a vessel; may be given several times")
    parser.add_argument(
        "--vessel",
        type=vessel,
        action="append",
        default=[],
        metavar="NAME:I,J,K",
        help="a voxel inside a vessel of this name, instead of --seed; several names give several "
        "vessels that never overlap, one label and one segment each; the same name several times "
        "gives one vessel more points",
    )
    parser.add_argument("--seeds", metavar="FILE", help="seeds as Slicer saves points (.mrk.json)")
    parser.add_argument(
        "--automatic-seeds",
        type=count,
        default=0,
        metavar="N",
        help="find up to N seeds where the contrast in the volume or mask is most tubular; look at "
        "them in the picture",
    )
    add_voxels(
        parser,
        "--background",
        "a voxel that is not in a vessel: the leak that it lies in is removed",
    )
    parser.add_argument("--mask", metavar="FILE", help="stay where this volume is not 0")
    parser.add_argument(
        "--frame", type=int, metavar="N", help="which frame of a 4D file, counted from 0"
    )
    add_stack(parser)


def add_voxels(parser: ArgumentParser, name: str, what: str) -> None:
    """Add an option that lists voxels."""
    parser.add_argument(name, type=voxel, action="append", default=[], metavar="I,J,K", help=what)


def add_threshold(parser: ArgumentParser) -> None:
    """Add the threshold of connectedness."""
    parser.add_argument(
        "--threshold",
        type=threshold,
        metavar="auto|X",
        help="connectedness from which on a voxel belongs to the vessels, 0 to 1 (auto)",
    )


def add_out(parser: ArgumentParser, what: str = "folder for the results") -> None:
    """Add the folder of results."""
    parser.add_argument("--out", type=folder, required=True, metavar="DIR", help=what)


def add_stack(parser: ArgumentParser) -> None:
    """Add what stacks of microscopes need beside their name."""
    parser.add_argument(
        "--channel", type=int, metavar="N", help="which channel of OME-Zarr or TIFF, from 0"
    )
    parser.add_argument(
        "--spacing",
        type=spacing,
        metavar="I,J,K",
        help="of OME-Zarr or TIFF: size of a voxel in mm, instead of what the file says",
    )


def add_segmentation(parser: ArgumentParser) -> None:
    """Add the options of a segmentation."""
    add_threshold(parser)
    parser.add_argument(
        "--cut",
        type=share,
        metavar="X",
        help="of the model affinity: ignore affinities below X: faster, exact from X on (0)",
    )
    add_gaps(parser, 0)
    add_model(parser)


def add_gaps(parser: ArgumentParser, rounds: int) -> None:
    """Add the rounds in which gaps are filled."""
    parser.add_argument(
        "--fill-gaps",
        type=int,
        default=rounds,
        metavar="N",
        help="add voxels that the vessels surround, in N rounds: what noise has left out of wide "
        f"vessels ({rounds})",
    )


def add_model(parser: ArgumentParser) -> None:
    """Add the model of the vessels, and the options of each model."""
    parser.add_argument(
        "--model",
        choices=("contrast", "affinity"),
        help="contrast: to the surroundings, connected from the seeds; affinity: to the seeds, as "
        "in the papers (contrast; affinity where one of its options is given)",
    )
    parser.add_argument(
        "--border",
        choices=("drawn", "half"),
        help="of the model contrast: where experts draw it, or at half the contrast (drawn)",
    )
    parser.add_argument(
        "--radius",
        type=int,
        metavar="N",
        help="of the model affinity: voxels round each seed that it is estimated from (2)",
    )
    parser.add_argument(
        "--side",
        choices=("both", "bright", "dark"),
        help="of the model affinity: bright: intensities above the seeds' mean count as vessel, "
        "too (both)",
    )
    parser.add_argument(
        "--solver",
        metavar="NAME",
        help="of the model affinity: how it is computed; an unknown NAME lists all (exact)",
    )


def add_output(parser: ArgumentParser) -> None:
    """Add the device, the labels' formats and the folder of results."""
    parser.add_argument(
        "--device", default="auto", metavar="D", help="auto, cpu, cuda or cuda:1 (auto)"
    )
    parser.add_argument(
        "--label-formats",
        type=label_formats,
        default=(),
        metavar="NAMES",
        help=f"of the labels, beside .nrrd: {', '.join(LABEL_FORMATS)}, with commas between",
    )
    add_out(parser)

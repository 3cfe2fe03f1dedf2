"""Our skeletons beside scikit-image's thinning (Lee et al. 1994), on the same masks.

    python Testing/benchmarks/skeletons.py [DATA_FOLDER] [--level 1|2|3]

Solids with known axes; the liver phantom with known centrelines, clean and with 5 to 30 % of the
voxels at its border flipped; shapes and scans from DATA_FOLDER (FUZZY_VESSEL_DATA, else
../shared/data beside the project) where they are there. Rough masks, and those of scans, are
cleaned first as `fuzzy-vessel run` does. Both methods get the cleaned mask; the seconds of
cleaning are in neither. Runs without Slicer; needs scikit-image, and vtk for the aorta's
reference, which covers a part of the aorta: the skeleton is compared with it inside its box, where
other branches count as far off, for both methods.

Columns: components and cycles of the object and of the skeleton; ends; spurs (ends further from
any known end than that place's radius and 2 voxels; "-" where no axis is known); the mean and 95th
percentile of the distance from the skeleton to the true axis and back, in voxels (anisotropic
ones: the smallest side); joins (gaps between our traced curves that thinning closed); voxels that
could go (simple, and no ends); seconds.
"""

import argparse
import gzip
import json
import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy import ndimage
from scipy.spatial import cKDTree

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("FuzzyVesselCore", "FuzzyConnectedGPU", "PotentialSkeleton", "CommandLine", "Testing")
sys.path[:0] = [str(ROOT / name) for name in PLACES]

import support.solids as solids  # noqa: E402
from FuzzyConnectedGPULib.segmentation import segment  # noqa: E402
from FuzzyVesselCoreLib.phantom.liver import liver_phantom  # noqa: E402
from FuzzyVesselCoreLib.progress import Progress  # noqa: E402
from FuzzyVesselCoreLib.voxels.components.labels import CUBE, fill_cavities  # noqa: E402
from FuzzyVesselCoreLib.voxels.topology.euler import cycle_count  # noqa: E402
from PotentialSkeletonLib import skeletonize  # noqa: E402
from PotentialSkeletonLib.graph.voxel_graph import VoxelGraph  # noqa: E402
from PotentialSkeletonLib.object import cleaning  # noqa: E402
from PotentialSkeletonLib.thinning.trimming import removable  # noqa: E402

NOISE_VOXELS, SMALLEST_ISLAND = 2, 27  # as `fuzzy-vessel run`
ROW = "{:<22}{:<14}{:>7}{:>5}{:>8}{:>5}{:>6}{:>7}{:>8}{:>7}{:>10}{:>7}{:>7}{:>10}{:>9}"
HEAD = ("object", "method", "comp.", "", "cycles", "", "ends", "spurs", "to axis", "95 %",
        "from axis", "95 %", "joins", "could go", "seconds")  # fmt: skip


@dataclass
class Case:
    """A mask (K, J, I), and its true axis where it is known (points in voxels K, J, I)."""

    name: str
    mask: np.ndarray
    spacing: tuple = (1.0, 1.0, 1.0)
    axis: np.ndarray | None = None
    ends: np.ndarray | None = None  # of the true axis; None where it covers only a part
    rough: bool = False


@dataclass
class Found:
    """What either method found."""

    points: np.ndarray  # K, J, I in voxels
    ends: np.ndarray
    labelmap: np.ndarray
    seconds: float
    joins: int | None = None


# --- cases --------------------------------------------------------------------------------------


def solid_cases():
    mask, axes = solids.tapered_y()
    ends = np.array([axis[-1] for axis in axes])
    yield Case("tapered Y", mask, axis=np.concatenate(axes), ends=ends)
    mask, axis = solids.helix()
    yield Case("helix", mask, axis=axis, ends=axis[[0, -1]])
    for name, solid in (("torus, swaying", solids.ring), ("trefoil", solids.trefoil)):
        mask, axis = solid()
        yield Case(name, mask, axis=axis, ends=np.empty((0, 3)))


def phantom_cases():
    phantom = liver_phantom((128, 160, 160))
    courses = phantom.centrelines
    axis = np.concatenate(
        [solids.line(a, b, 12) for c in courses for a, b in zip(c.points[:-1], c.points[1:])]
    )
    parents = {course.parent for course in courses}
    ends = [course.points[-1] for n, course in enumerate(courses) if n not in parents]
    ends += [course.points[0] for course in courses if course.parent < 0]
    limit = np.array(phantom.mask.shape) - 0.5
    axis = axis[((axis > -0.5) & (axis < limit)).all(axis=1)]
    for share in (0, 5, 10, 20, 30):
        mask = solids.rough(phantom.mask > 0, share / 100) if share else phantom.mask > 0
        name = f"phantom, {share} % noise" if share else "phantom"
        yield Case(name, mask, phantom.spacing, axis, np.array(ends), rough=share > 0)


def file_cases(folder):
    for path in sorted(folder.glob("shape_*.nrrd")):
        yield Case(path.stem, read_nrrd(path)[0] > 0)
    path = folder / "ircadb01_01_portalvein.nrrd"
    if path.exists():
        mask, spacing = read_nrrd(path)
        yield Case("portal vein", mask > 0, spacing, rough=True)
    if (folder / "aorta_mra.mha").exists():
        yield aorta_case(folder)


def aorta_case(folder):
    """The aorta, segmented from its seeds, with the centrelines of other software."""
    volume, spacing, ijk_to_ras = read_metaimage(folder / "aorta_mra.mha")
    clicks = json.loads((folder / "seeds.json").read_text())["aorta_mra.mha"]["seeds"]
    seeds = [c["ijk"][::-1] for c in clicks if not c["label"].startswith("BACKGROUND")]
    labels = segment(volume, seeds).labels > 0
    axis = aorta_axis(folder / "aorta_mra_centerline.vtp", ijk_to_ras)
    return Case("aorta", labels, spacing, axis, rough=True)


def aorta_axis(path, ijk_to_ras):
    """Points (n, 3) in voxels K, J, I, or None without vtk or the file."""
    try:
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
    except ModuleNotFoundError:
        return None
    if not path.exists():
        return None
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    ras = vtk_to_numpy(reader.GetOutput().GetPoints().GetData())
    return np.linalg.solve(ijk_to_ras[:3, :3], (ras - ijk_to_ras[:3, 3]).T).T[:, ::-1]


def read_nrrd(path):
    """Voxels (K, J, I) and spacing (K, J, I) of a gzip-compressed uint8 NRRD file."""
    header, _, data = path.read_bytes().partition(b"\n\n")
    fields = dict(line.split(": ", 1) for line in header.decode().splitlines() if ": " in line)
    if fields["type"] not in ("uint8", "unsigned char", "uchar") or fields["encoding"] != "gzip":
        raise SystemExit(f"{path}: only gzip-compressed uint8 NRRD files are read here")
    sizes = [int(size) for size in fields["sizes"].split()]
    steps = [part.strip("()").split(",") for part in fields["space directions"].split()]
    spacing = tuple(float(np.linalg.norm(np.array(step, float))) for step in steps)
    return np.frombuffer(gzip.decompress(data), np.uint8).reshape(sizes[::-1]), spacing[::-1]


def read_metaimage(path):
    """Voxels and spacing (K, J, I) of a compressed float MetaImage; matrix from I, J, K to RAS."""
    header, _, data = path.read_bytes().partition(b"ElementDataFile = LOCAL\n")
    fields = dict(line.split(" = ", 1) for line in header.decode().splitlines())
    if fields["ElementType"] != "MET_FLOAT" or fields["CompressedData"] != "True":
        raise SystemExit(f"{path}: only compressed MET_FLOAT files are read here")
    sizes = [int(size) for size in fields["DimSize"].split()]
    spacing = np.array(fields["ElementSpacing"].split(), float)
    matrix = np.eye(4)
    matrix[:3, :3] = np.array(fields["TransformMatrix"].split(), float).reshape(3, 3).T * spacing
    matrix[:3, 3] = np.array(fields["Offset"].split(), float)
    voxels = np.frombuffer(zlib.decompress(data), "<f4").reshape(sizes[::-1])
    return voxels, tuple(spacing[::-1]), np.diag([-1, -1, 1, 1]) @ matrix  # LPS to RAS


# --- methods ------------------------------------------------------------------------------------


def cleaned(case):
    """The object that both methods get: no cavities; rough ones without islands and tunnels."""
    mask = fill_cavities(case.mask)[0]
    if case.rough:
        mask = cleaning.drop_islands(mask, SMALLEST_ISLAND)[0]
        width = NOISE_VOXELS * float(np.median(case.spacing))
        mask = cleaning.close_tunnels(mask, width, case.spacing)[0]
    return mask


def potential_field(mask, spacing, level):
    begin = perf_counter()
    skeleton = skeletonize(mask, spacing, level=level)
    seconds = perf_counter() - begin
    points = [branch.points for branch in skeleton.branches]
    points += [node.position[None] for node in skeleton.nodes if node.kind == "isolated"]
    ends = np.array([node.position for node in skeleton.nodes if node.kind == "end"])
    labelmap = skeleton.to_labelmap() > 0
    return Found(
        np.concatenate(points), ends.reshape(-1, 3), labelmap, seconds, skeleton.report["joins"]
    )


def lee(mask, spacing, level):
    from skimage.morphology import skeletonize as thin

    begin = perf_counter()
    labelmap = thin(mask, method="lee") > 0
    seconds = perf_counter() - begin
    voxels = np.argwhere(labelmap)
    graph = VoxelGraph(voxels, Progress())
    degree = np.bincount(
        [n for a, _, b in graph.chains for n in (a, b)], minlength=len(graph.nodes)
    )
    ends = [voxels[own].mean(axis=0) for own, meeting in zip(graph.nodes, degree) if meeting == 1]
    return Found(voxels, np.reshape(ends, (-1, 3)), labelmap, seconds)


METHODS = {"ours": potential_field, "scikit-image": lee}


# --- figures ------------------------------------------------------------------------------------


def spurs(case, mask, ends):
    """How many ends lie further from any known end than the radius there and 2 voxels."""
    if case.ends is None:
        return "-"
    if not len(ends) or not len(case.ends):
        return len(ends)
    unit = np.array(case.spacing)
    depth = ndimage.distance_transform_edt(np.pad(mask, 1), unit)[1:-1, 1:-1, 1:-1]
    at = np.clip(np.rint(case.ends).astype(int), 0, np.array(mask.shape) - 1)
    allowed = depth[tuple(at.T)] + 2 * unit.min()
    apart = np.linalg.norm((ends[:, None] - case.ends) * unit, axis=2)
    return int(np.count_nonzero((apart > allowed).all(axis=1)))


def distances(case, points):
    """Mean and 95th percentile from the skeleton to the axis, and back; in voxels."""
    if case.axis is None:
        return ["-"] * 4
    unit = np.array(case.spacing) / min(case.spacing)
    axis, points = case.axis * unit, points * unit
    if case.ends is None:  # a part of the tree: the skeleton beyond it has no truth
        inside = ((points >= axis.min(axis=0) - 3) & (points <= axis.max(axis=0) + 3)).all(axis=1)
        there = cKDTree(axis).query(points[inside])[0]
    else:
        there = cKDTree(axis).query(points)[0]
    back = cKDTree(points).query(axis)[0]
    return [f"{v:.2f}" for d in (there, back) for v in (d.mean(), np.percentile(d, 95))]


def compare(case, level):
    """Print one row for each method."""
    mask = cleaned(case)
    box = ndimage.find_objects(mask.astype(np.uint8))[0]
    origin = np.array([side.start - 1 for side in box])
    inner = np.pad(mask[box], 1)
    components, cycles = ndimage.label(inner, CUBE)[1], cycle_count(inner)
    for label, method in METHODS.items():
        found = method(inner, case.spacing, level)
        padded = np.pad(found.labelmap, 1)
        print(
            ROW.format(
                case.name,
                label,
                components,
                ndimage.label(found.labelmap, CUBE)[1],
                cycles,
                cycle_count(found.labelmap),
                len(found.ends),
                spurs(case, mask, found.ends + origin),
                *distances(case, found.points + origin),
                "-" if found.joins is None else found.joins,
                len(removable(np.flatnonzero(padded), padded.shape)),
                f"{found.seconds:.2f}",
            ),
            flush=True,
        )


def data_folder(given):
    """The folder of real data, or None."""
    named = given or os.environ.get("FUZZY_VESSEL_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        if named:
            raise SystemExit(f"{folder}: there is no such folder")
        return None
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", metavar="DATA_FOLDER")
    parser.add_argument("--level", type=int, default=2, choices=(1, 2, 3))
    given = parser.parse_args()
    folder = data_folder(given.data)
    for method in METHODS.values():  # compile and warm up
        method(solids.tapered_y()[0], (1.0, 1.0, 1.0), given.level)
    print(ROW.format(*HEAD))
    for cases in (solid_cases(), phantom_cases(), file_cases(folder) if folder else ()):
        for case in cases:
            compare(case, given.level)


if __name__ == "__main__":
    main()

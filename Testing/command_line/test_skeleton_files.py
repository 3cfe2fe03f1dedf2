"""Every output of a skeleton as a file, read back: places in RAS, lengths and radii in mm.

The object is a fork that is known in millimetres, on voxels of 0.6 x 0.7 x 1.4 mm along oblique
axes. So a mix-up of axes, of voxels and millimetres, or of LPS and RAS shows in one of the files.
"""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from fuzzy_vessel import pictures, rendering
from fuzzy_vessel.__main__ import main
from PotentialSkeletonLib import skeletonize
from support.image_files import write_nrrd
from support.mrml_cases import rotation_about
from support.solids import line

slicer = pytest.importorskip("slicer", reason="slicer-core is not installed")

SPACING = (1.4, 0.7, 0.6)  # K, J, I
SHAPE = (32, 62, 72)
TO_RAS = rotation_about((1, 2, -1), 40) @ np.diag([*SPACING[::-1], 1.0])
TO_RAS[:3, 3] = -12, 30, 55
AXES = {"right-handed": TO_RAS, "left-handed": TO_RAS @ np.diag([1, 1, -1, 1])}
FORK = (22, 21, 22)  # mm along K, J, I from the first voxel
LIMBS = [((6, 8, 8), 4.0), ((38, 10, 22), 2.5), ((27, 36, 36), 3.0)]  # end and radius in mm


def fork():
    """Voxels within so many mm of three axes."""
    places = np.stack(np.indices(SHAPE), axis=-1) * SPACING
    mask = np.zeros(SHAPE, bool)
    for end, radius in LIMBS:
        away, _ = cKDTree(line(FORK, end, 300)).query(places.reshape(-1, 3))
        mask |= (away <= radius).reshape(SHAPE)
    return mask.astype(np.uint8)


MASK = fork()


def to_ras(positions, matrix):
    """Voxels K, J, I (n, 3) in RAS."""
    return np.asarray(positions)[:, ::-1] @ matrix[:3, :3].T + matrix[:3, 3]


@pytest.fixture(scope="module", params=AXES)
def result(request, tmp_path_factory):
    """The folder that the command line wrote, and what is to be expected in it."""
    axes = AXES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    path = labelmap_file(folder / "fork.nrrd", axes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "render", cannot_render)  # spares seconds
        assert main(["skeleton", str(path), "--out", str(folder / "out")]) == 0
    mask, matrix = MASK, axes
    if np.linalg.det(axes[:3, :3]) < 0:  # Slicer turns the third axis round
        mask, matrix = MASK[::-1], axes @ np.diag([1, 1, -1, 1])
        matrix[:3, 3] = to_ras([[SHAPE[0] - 1, 0, 0]], axes)[0]
    return folder / "out", skeletonize(mask, SPACING), matrix, axes


def labelmap_file(path, axes):
    """A labelmap whose header is in LPS, as NRRD wants it."""
    to_lps = np.diag([-1, -1, 1, 1]) @ axes
    columns = [f"({','.join(f'{n:.17g}' for n in column)})" for column in to_lps[:3, :3].T]
    write_nrrd(path, MASK, directions=columns)
    origin = f"({','.join(f'{n:.17g}' for n in to_lps[:3, 3])})".encode()
    path.write_bytes(path.read_bytes().replace(b"(10,20,30)", origin, 1))
    return path


def cannot_render(*_):
    raise rendering.CannotRender("no 3D in this test")


@pytest.fixture
def scene(slicer_scene):
    return slicer_scene


def read_swc(path):
    """Samples of an SWC file: number to (type, position, radius, parent); parents come first."""
    samples = {}
    for text in path.read_text(encoding="utf-8").splitlines():
        if text.startswith("#"):
            continue
        number, kind, x, y, z, radius, parent = text.split()
        assert parent == "-1" or int(parent) in samples
        assert int(number) not in samples
        samples[int(number)] = (int(kind), np.array([x, y, z], float), float(radius), int(parent))
    return samples


def test_swc_is_a_tree_in_ras_millimetres(result):
    folder, expected, matrix, _ = result
    samples = read_swc(folder / "skeleton.swc")
    assert [parent for *_, parent in samples.values()].count(-1) == 1
    positions = np.array([position for _, position, _, _ in samples.values()])
    points = np.concatenate([branch.points for branch in expected.branches])
    radii = np.concatenate([branch.radius for branch in expected.branches])
    away, nearest = cKDTree(to_ras(points, matrix)).query(positions)
    assert away.max() < 1e-5
    assert cKDTree(positions).query(to_ras(points, matrix))[0].max() < 1e-5
    found = np.array([radius for _, _, radius, _ in samples.values()])
    np.testing.assert_allclose(found, radii[nearest], atol=1e-5)
    steps = [
        np.linalg.norm(position - samples[parent][1])
        for _, position, _, parent in samples.values()
        if parent > 0
    ]
    assert sum(steps) == pytest.approx(sum(expected.to_table()["length_mm"]), rel=1e-5)
    ends = set(samples) - {parent for *_, parent in samples.values()}
    assert len(ends) == 2  # the root is the third


def test_the_curves_have_radii(scene, result):
    folder, expected, matrix, _ = result
    slicer.modules.markups.logic().LoadMarkups(str(folder / "curves.mrk.json"), "branch")
    curves = slicer.util.getNodesByClass("vtkMRMLMarkupsCurveNode")
    assert len(curves) == 3
    for curve, branch in zip(curves, expected.branches):
        points = slicer.util.arrayFromMarkupsControlPoints(curve)
        np.testing.assert_allclose(points, to_ras(branch.points, matrix), atol=1e-4)
        radius = curve.GetMeasurement("Radius")
        values = radius.GetControlPointValues()
        found = [values.GetValue(n) for n in range(values.GetNumberOfTuples())]
        np.testing.assert_allclose(found, branch.radius, rtol=1e-5)
        assert radius.GetUnits() == "mm"
        # The file does not say that the points are joined by straight lines: Slicer takes splines.
        assert curve.GetCurveLengthWorld() == pytest.approx(expected.length(branch), rel=1e-3)

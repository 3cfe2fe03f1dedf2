"""Paths of SimVascular: one .pth a root-to-tip line."""

from xml.etree import ElementTree

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.interchange import write_simvascular
from PotentialSkeletonLib.tree import root_to_tip_lines, rooted_forest
from support.trees import OBLIQUE, OBLIQUE_SPACING, closed_ring, fork, random_tree


def xyz(element):
    return np.array([float(element.get(axis)) for axis in "xyz"])


@pytest.mark.parametrize("make", [lambda: fork(OBLIQUE_SPACING), lambda: random_tree(2)])
def test_paths_are_the_lines_in_lps(make, tmp_path):
    skeleton = make()
    forest = rooted_forest(skeleton)
    matrix = OBLIQUE if skeleton.spacing == OBLIQUE_SPACING else np.eye(4)
    files = write_simvascular(forest, tmp_path / "paths", ijk_to_ras=matrix)
    lines = root_to_tip_lines(forest)
    assert [path.name for path in files] == [f"path-{n:03d}.pth" for n in range(1, len(lines) + 1)]
    for number, (path, line) in enumerate(zip(files, lines), 1):
        top = ElementTree.parse(path).getroot()
        assert (top.tag, top.get("id"), top.get("version")) == ("path", str(number), "1.0")
        element = top.find("timestep[@id='0']/path_element")
        points = element.findall("path_points/path_point")
        assert [point.get("id") for point in points] == [str(n) for n in range(len(points))]
        places = np.array([xyz(point.find("pos")) for point in points])
        ijk = np.column_stack([line.points[:, ::-1], np.ones(len(line.points))])
        np.testing.assert_allclose(places, (ijk @ matrix.T)[:, :3] * [-1, -1, 1], atol=1e-5)
        controls = np.array([xyz(each) for each in element.findall("control_points/point")])
        np.testing.assert_allclose(controls[[0, -1]], places[[0, -1]])
        assert 2 <= len(controls) <= len(places)
        for point in points:
            tangent, across = xyz(point.find("tangent")), xyz(point.find("rotation"))
            assert np.linalg.norm(tangent) == pytest.approx(1, abs=1e-5)
            assert np.linalg.norm(across) == pytest.approx(1, abs=1e-5)
            assert abs(tangent @ across) < 1e-5


def test_directions_across_do_not_spin(tmp_path):
    (path,) = write_simvascular(rooted_forest(closed_ring()), tmp_path)
    across = np.array([xyz(each) for each in ElementTree.parse(path).iter("rotation")])
    assert (np.linalg.norm(np.diff(across, axis=0), axis=1) < 0.2).all()


@pytest.mark.parametrize(
    ("names", "files"),
    [
        ({1: "left, main", 2: "a/b:c"}, ["left, main.pth", "a-b-c.pth"]),
        ({1: "LAD", 2: "lad"}, ["LAD.pth", "lad-2.pth"]),
        ({0: "Aorta", 2: "iliac"}, ["Aorta.pth", "iliac.pth"]),
        ({1: "汉" * 100, 2: "\U0001f600" * 100}, ["汉" * 66 + ".pth", "\U0001f600" * 50 + ".pth"]),
        ({1: "é" + "汉" * 79, 2: "é" + "汉" * 80}, [f"é{'汉' * 66}{n}.pth" for n in ("", "-2")]),
        ({1: "CON", 2: "aux.old"}, ["path-CON.pth", "path-aux.old.pth"]),
        ({1: "..", 2: "x" * 300}, ["path-001.pth", "x" * 80 + ".pth"]),
    ],
)
def test_names_become_file_names_that_every_system_takes(names, files, tmp_path):
    written = write_simvascular(rooted_forest(fork()), tmp_path, names=names)
    assert [path.name for path in written] == files
    assert {path.name for path in tmp_path.iterdir()} == set(files)


def test_a_name_that_xml_cannot_hold_is_told(tmp_path):
    with pytest.raises(InputError, match="XML"):
        write_simvascular(rooted_forest(fork()), tmp_path / "paths", names={1: "a\x01"})
    with pytest.raises(InputError, match="name 'x' belongs to branch 9"):
        write_simvascular(rooted_forest(fork()), tmp_path / "paths", names={9: "x"})
    assert list(tmp_path.iterdir()) == []

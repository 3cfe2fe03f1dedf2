"""Names proposed for a portal vein and an aorta whose branches are known."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.branch_tools import inherited_names, propose_names
from PotentialSkeletonLib.tree import rooted_forest
from support.trees import ring_with_handle, skeleton_of, straight

# Ends in R, A, S mm, and the radius; a branch begins where the branch of that name ends.
PORTAL = {
    "portal vein": (None, (0, 0, 0), (40, 0, 10), 6),
    "right branch": ("portal vein", None, (60, -5, 12), 5),
    "left branch": ("portal vein", None, (30, 25, 30), 4),
    "right anterior": ("right branch", None, (75, 15, 15), 4),
    "right posterior": ("right branch", None, (80, -30, 10), 4),
    "segment 8": ("right anterior", None, (85, 20, 60), 3),
    "segment 5": ("right anterior", None, (90, 30, -30), 3),
    "segment 7": ("right posterior", None, (95, -45, 55), 3),
    "segment 6": ("right posterior", None, (100, -45, -35), 3),
    "segment 2": ("left branch", None, (-20, 20, 70), 3),
    "umbilical part": ("left branch", None, (20, 45, 30), 3),
    "segment 4": ("umbilical part", None, (40, 60, 20), 2),
    "segment 3": ("umbilical part", None, (-30, 60, 20), 2),
    "": ("right branch", None, (60, -10, 16), 1),  # a twig: no division
    "upstream": ("portal vein", (0, 0, 0), (-60, -10, 20), 4),  # from where the trunk begins
}
AORTA = {
    "aorta": (None, (0, 0, 200), (0, 0, 120), 9),
    "other branch": ("aorta", None, (0, 60, 60), 4),
    "": ("aorta", None, (0, 0, 100), 9),
    "left renal artery": ("", None, (-60, -20, 90), 3),
    "right renal artery": ("", None, (55, -20, 85), 3),
    "lower": ("", None, (0, 5, 0), 8),
    "right common iliac": ("lower", None, (40, 0, -60), 6),
    "left common iliac": ("lower", None, (-40, 0, -60), 6),
}


def tree_of(rows, matrix=None):
    """The skeleton of rows, and the name of each branch; voxels through the inverse of a matrix."""
    back = np.eye(4) if matrix is None else np.linalg.inv(matrix)
    ends, lines = {}, []
    for name, (parent, start, end, radius) in rows.items():
        points = np.array([ends[parent] if start is None else start, end], float)
        ends[name] = end
        points = (points @ back[:3, :3].T + back[:3, 3])[:, ::-1]
        lines.append(straight(*points, radius, radius))
    spacing = (1, 1, 1) if matrix is None else np.linalg.norm(matrix[:3, :3], axis=0)[::-1]
    return skeleton_of(lines, spacing), list(rows)


@pytest.mark.parametrize(
    ("anatomy", "rows", "unnamed"),
    [("portal vein", PORTAL, {"", "upstream"}), ("aorta", AORTA, {"", "lower"})],
)
@pytest.mark.parametrize("trunk", [None, 0])
def test_every_branch_gets_its_own_name(anatomy, rows, unnamed, trunk):
    turned = np.array([[0, 0.5, 0, -40], [-0.8, 0, 0, 9], [0, 0, 2, 30], [0, 0, 0, 1.0]])
    for matrix in (None, turned):
        skeleton, names = tree_of(rows, matrix)
        found = propose_names(skeleton, anatomy, trunk, matrix)
        expected = {n: f"{name} (?)" for n, name in enumerate(names) if name not in unnamed}
        assert found == expected
        whole = inherited_names(rooted_forest(skeleton, roots=[0]), found)
        assert set(whole) >= set(expected)


def test_three_branches_at_one_place_are_two_divisions():
    rows = {n: row for n, row in PORTAL.items() if n not in ("right branch", "")}
    for name in ("right anterior", "right posterior"):
        rows[name] = ("portal vein", *PORTAL[name][1:])
    skeleton, names = tree_of(rows)
    found = propose_names(skeleton, "portal vein")
    assert found == {n: f"{name} (?)" for n, name in enumerate(names) if name != "upstream"}


def test_what_cannot_be_named_is_refused():
    skeleton, _names = tree_of(AORTA)
    with pytest.raises(InputError, match="use portal vein, aorta"):
        propose_names(skeleton, "lung")
    with pytest.raises(InputError, match="branch 99"):
        propose_names(skeleton, "aorta", 99)
    with pytest.raises(InputError, match="Branch 1 closes a loop"):
        propose_names(ring_with_handle(), "aorta", 1)

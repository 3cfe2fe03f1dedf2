"""The picture of a skeleton: colours that tell radii, and tubes seen through the vessels' walls."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from fuzzy_vessel.pictures import offscreen, page, skeleton_picture, tube_view
from fuzzy_vessel.pictures.colour_map import colours
from fuzzy_vessel.pictures.subject import Subject

SIZE = 240


def luminance(colour):
    """Relative luminance of sRGB colours, 0..255 (IEC 61966-2-1)."""
    share = np.asarray(colour) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_wider_is_lighter_all_along_the_colour_map():
    light = luminance(colours(np.linspace(2, 9, 50), 2, 9))
    assert (np.diff(light) > 0).all()
    assert light[0] > 0.1  # the thinnest still stand out from the dark page
    np.testing.assert_array_equal(colours([-1, 99], 2, 9), colours([2, 9], 2, 9))


def rod():
    """A rod of 12 mm in diameter along the patient's axis, and a curve in its middle."""
    matrix = np.diag([-1.0, -1.0, 2.0, 1.0])
    k, j, i = np.ogrid[:60, :40, :40]
    labels = ((j - 20) ** 2 + (i - 20) ** 2 <= 36) & (k >= 5) & (k < 55)
    points = np.array([[k, 20.0, 20.0] for k in range(8, 52)])
    branch = SimpleNamespace(points=points, radius=np.linspace(2.0, 6.0, len(points)))
    nodes = [SimpleNamespace(position=points[0]), SimpleNamespace(position=points[-1])]
    skeleton = SimpleNamespace(branches=[branch], nodes=nodes)
    labels = labels.astype(np.uint8)
    return Subject(labels, labels, matrix, np.array([[30, 20, 20]])), skeleton


@pytest.fixture(scope="module")
def drawn():
    subject, skeleton = rod()
    branch = skeleton.branches[0]
    curves = tube_view.Curves(
        points=[branch.points[:, ::-1] * [-1, -1, 2]],
        radius=[branch.radius],
        colours=[colours(branch.radius, 2, 6)],
        branch_colours=[colours(branch.radius, 2, 6)],
        nodes=np.empty((0, 3)),
    )
    try:
        return tube_view.draw_tubes(subject, curves, SIZE, "#000000")
    except offscreen.CannotRender as reason:
        pytest.skip(str(reason))


def test_two_sides_are_shown(drawn):
    names = {view["name"] for _, view in drawn}
    assert len(drawn) == len(names) == 2


def test_the_tube_is_seen_through_the_wall_in_the_colours_of_its_radii(drawn):
    for image, view in drawn:
        if abs(view["up"][2]) < 0.5:
            continue
        pixels = np.asarray(image, float)
        pixels_per_mm = SIZE / 2 / view["half_height_mm"]
        for radius, k in ((2.5, 13), (5.5, 46)):
            place = np.array([-20, -20, 2.0 * k]) - view["centre"]
            x = SIZE / 2 + place @ view["right"] * pixels_per_mm
            y = SIZE / 2 - place @ view["up"] * pixels_per_mm
            seen = pixels[int(y), int(x)]
            wanted = colours(radius, 2, 6).astype(float)
            # Lit and seen through a wall of grey glass, the hue stays.
            tint = seen - seen.mean()
            hue = wanted - wanted.mean()
            assert tint @ hue / np.linalg.norm(tint) / np.linalg.norm(hue) > 0.9
            assert seen.max() > 90


def test_the_wall_is_glass_with_an_outline(drawn):
    image, view = next(each for each in drawn if abs(each[1]["up"][2]) > 0.5)
    row = np.asarray(image, float)[SIZE // 2].mean(axis=1)
    pixels_per_mm = SIZE / 2 / view["half_height_mm"]
    shown = np.flatnonzero(row > 12)
    assert np.ptp(shown) / pixels_per_mm == pytest.approx(12, abs=1.6)
    middle = shown.mean()
    beside_the_tube = row[int(middle + 3.5 * pixels_per_mm)]
    outline = row[shown[-5] :].max()
    assert 8 < beside_the_tube < outline


def test_the_page_holds_both_views_and_the_colour_bar():
    subject, skeleton = rod()
    texts = {"title": "scan.nrrd", "subtitle": "its size", "caption": "1 branch"}
    try:
        figure = skeleton_picture.draw(subject, skeleton, **texts)
    except offscreen.CannotRender as reason:
        pytest.skip(str(reason))
    drawn = page.pixels_of(figure).astype(int)
    foot = drawn[-page.FOOT :]
    for colour in colours([0, 1], 0, 1):
        assert (abs(foot - colour).max(axis=-1) <= 2).any()
    half = drawn.shape[1] // 2
    # On the right one colour for the branch, whatever its radii are.
    hues = []
    for side in (drawn[:, :half], drawn[:, half:]):
        seen = side[: -page.FOOT].reshape(-1, 3)
        seen = seen[np.ptp(seen, axis=1) > 60]
        hues.append((seen - seen.mean(axis=1, keepdims=True)) / np.ptp(seen, axis=1)[:, None])
    assert hues[0].std(axis=0).max() > 3 * hues[1].std(axis=0).max()
    colourful = np.ptp(drawn[: -page.FOOT], axis=-1) > 60
    assert colourful[:, :half].sum() > 500
    assert colourful[:, half:].sum() > 500

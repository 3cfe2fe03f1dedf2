"""Pictures: sides, proportions, scale and colours, counted in pixels."""

import dataclasses
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from fuzzy_vessel.pictures import offscreen, page, segmentation_picture, slices, surface_view, views
from fuzzy_vessel.pictures.grey_window import grey_window
from fuzzy_vessel.pictures.subject import Subject, Vessel, box, oriented

RADIUS_MM = 8.0
# The grid's axes I, J, K in the patient: as they come from a scanner, permuted, and left-handed.
AXES = {
    "axial": np.array([[-1, 0, 0], [0, -1, 0], [0, 0, 1]]),
    "sagittal": np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]]),
    "left-handed": np.array([[1, 0, 0], [0, -1, 0], [0, 0, 1]]),
}
SPACING = {"axial": (0.8, 0.8, 2.5), "sagittal": (1.0, 1.5, 0.7), "left-handed": (1.0, 1.0, 1.0)}


def ball(name, centre_mm=(0.0, 0.0, 0.0)):
    """A bright ball in a dark box of 80 mm whose middle is the origin."""
    spacing = np.array(SPACING[name])
    matrix = np.eye(4)
    matrix[:3, :3] = AXES[name] * spacing  # columns I, J, K
    sizes = np.round(80 / spacing).astype(int)
    matrix[:3, 3] = -matrix[:3, :3] @ ((sizes - 1) / 2)
    indices = np.stack(np.meshgrid(*(np.arange(n) for n in sizes), indexing="ij"), axis=-1)
    positions = indices @ matrix[:3, :3].T + matrix[:3, 3]
    inside = np.linalg.norm(positions - centre_mm, axis=-1) <= RADIUS_MM
    labels = inside.transpose(2, 1, 0).astype(np.uint8)
    volume = np.where(labels, 200, 100).astype(np.int16)
    seed = np.linalg.solve(matrix[:3, :3], np.array(centre_mm) - matrix[:3, 3])
    seeds = np.round(seed[::-1]).astype(int)[np.newaxis]
    return Subject(volume, labels, matrix, seeds)


def red(image):
    """Where an image shows the vessels' colour."""
    pixels = np.asarray(image, int)
    return (pixels[..., 0] - pixels[..., 1] > 40) & (pixels[..., 0] - pixels[..., 2] > 40)


def slices_of(subject, low=None, high=None, size=240):
    """Each slice of a subject, its pixels and the mm of one."""
    view = oriented(subject)
    low = np.zeros(3) if low is None else low
    high = np.array(view.volume.shape) - 1.0 if high is None else high
    for shown in slices.choose_slices(view, low, high):
        figure = page.new_page(size, size)
        axes = page.axes_at(figure, 0, 0, size, size)
        slices.draw_slice(axes, view, shown, (0, 300))
        yield shown, page.pixels_of(figure), shown.extent / size


@pytest.mark.parametrize("name", AXES)
def test_oriented_axes_grow_upwards_forwards_and_to_the_right(name):
    subject = ball(name, centre_mm=(12, -6, 20))
    view = oriented(subject)
    low, high = box(view.labels, view.seeds)
    centre = (low + high) / 2 - (np.array(view.volume.shape) - 1) / 2
    np.testing.assert_allclose(centre * view.spacing, [20, -6, 12], atol=max(view.spacing))
    np.testing.assert_allclose(view.seeds[0], (low + high) / 2, atol=1)


@pytest.mark.parametrize("name", AXES)
def test_slices_show_the_patients_sides_as_a_radiologist_expects(name):
    shown = {each[0].name: each for each in slices_of(ball(name, centre_mm=(12, -6, 20)))}
    # 12 mm to the patient's right, 6 mm to the back, 20 mm up: columns and rows from the middle.
    for plane, letters, across, down in (
        ("Axial", "RLAP", -12, 6),
        ("Coronal", "RLSI", -12, -20),
        ("Sagittal", "APSI", 6, -20),
    ):
        chosen, image, mm_per_pixel = shown[plane]
        rows, columns = np.nonzero(red(image))
        middle = (image.shape[1] - 1) / 2
        assert chosen.letters == letters
        assert (columns.mean() - middle) * mm_per_pixel == pytest.approx(across, abs=1.5)
        assert (rows.mean() - middle) * mm_per_pixel == pytest.approx(down, abs=1.5)


@pytest.mark.parametrize("name", AXES)
def test_a_ball_is_round_and_of_its_true_size_whatever_the_voxels(name):
    for _, image, mm_per_pixel in slices_of(ball(name)):
        rows, columns = np.nonzero(red(image))
        width = np.ptp(columns) * mm_per_pixel
        height = np.ptp(rows) * mm_per_pixel
        voxel = max(SPACING[name])
        assert width == pytest.approx(2 * RADIUS_MM, abs=1.2 * voxel)
        assert height == pytest.approx(2 * RADIUS_MM, abs=1.2 * voxel)


def test_a_vessel_of_one_voxel_is_outlined():
    subject = ball("left-handed")
    labels = np.zeros_like(subject.labels)
    k, j, _ = subject.seeds[0]
    labels[k, j, :] = 1
    thin = Subject(subject.volume, labels, subject.ijk_to_ras, subject.seeds)
    _, axial, _ = next(slices_of(thin))
    assert red(axial).any(axis=0).mean() > 0.95


def test_a_volume_far_thinner_than_a_pixel_is_drawn():
    labels = np.ones((2, 2, 40), np.uint8)
    matrix = np.diag([10.0, 1e-5, 1e-5, 1.0])
    thin = Subject(labels * 100, labels, matrix, np.array([[0, 1, 20]]))
    for _, image, _ in slices_of(thin):
        assert image.shape == (240, 240, 3)
        assert (image.reshape(-1, 3) != image[0, 0]).any()


def test_seeds_are_discs_in_their_slice_and_rings_elsewhere():
    subject = ball("axial")
    far = np.add(subject.seeds, [8, 10, 10])
    both = Subject(
        subject.volume, subject.labels, subject.ijk_to_ras, np.vstack([subject.seeds, far])
    )
    one, two = (next(slices_of(each))[1].astype(int) for each in (subject, both))
    colour = np.array(list(bytes.fromhex(slices.SEED[1:])))

    def of_colour(pixels):
        return np.count_nonzero(abs(pixels - colour).max(axis=-1) < 30)

    assert of_colour(one) > 25
    assert of_colour(two) == of_colour(one)
    assert (one != two).any()


def test_seeds_beyond_the_edge_of_a_slice_are_not_drawn():
    subject = ball("left-handed")
    view = oriented(subject)
    middle = (np.array(view.volume.shape) - 1) / 2
    far = Subject(
        subject.volume, subject.labels, subject.ijk_to_ras, subject.seeds, np.array([[40, 2, 2]])
    )
    drawn = [next(slices_of(each, middle - 12, middle + 12))[1] for each in (subject, far)]
    np.testing.assert_array_equal(*drawn)


def test_the_grey_window_tells_vessels_from_tissue():
    subject = ball("axial")
    black, white = grey_window(oriented(subject), mean=200, sigma=10)
    assert black <= 100 < 200 < white


# In 3D. The process that renders costs two seconds, so that one picture serves several tests.


@pytest.fixture(scope="module")
def surfaces():
    drawn = {}
    for name in ("axial", "left-handed"):
        try:
            drawn[name] = surface_view.draw_surface(ball(name), 300, "#000000")
        except offscreen.CannotRender as reason:
            pytest.skip(str(reason))
    return drawn


@pytest.mark.parametrize("name", ["axial", "left-handed"])
def test_the_surface_is_round_and_of_its_true_size(surfaces, name):
    image, view = surfaces[name]
    rows, columns = np.nonzero(red(image))
    mm_per_pixel = 2 * view["half_height_mm"] / 300
    for span in (np.ptp(rows), np.ptp(columns)):
        assert span * mm_per_pixel == pytest.approx(2 * RADIUS_MM, abs=1.6)


def test_the_surface_is_lit_from_outside_on_left_handed_grids_too(surfaces):
    right, left = (np.asarray(surfaces[name][0], float) for name in ("axial", "left-handed"))
    assert right[red(right)][:, 0].mean() > 90
    assert left[red(left)].mean() == pytest.approx(right[red(right)].mean(), rel=0.15)


def test_the_seed_inside_the_vessel_is_seen_in_3d(surfaces):
    image, view = surfaces["axial"]
    pixels = np.asarray(image, int)
    golden = (pixels[..., 1] > 100) & (pixels[..., 0] - pixels[..., 2] > 40)
    rows, columns = np.nonzero(golden)
    assert len(rows) > 10
    subject = ball("axial")
    seed = subject.ijk_to_ras[:3] @ [*subject.seeds[0][::-1], 1] - view["centre"]
    pixels_per_mm = 150 / view["half_height_mm"]
    assert columns.mean() - 149.5 == pytest.approx(seed @ view["right"] * pixels_per_mm, abs=2)
    assert 149.5 - rows.mean() == pytest.approx(seed @ view["up"] * pixels_per_mm, abs=2)


def test_the_longest_vessel_is_seen_from_its_broad_side():
    labels = np.zeros((6, 100, 30), np.uint8)
    labels[2:4, :, 14:16] = 1
    matrix = np.diag([-1.0, -1.0, 1.0, 1.0])
    assert views.sides(matrix, labels.shape)[0][0] == "from below"
    assert views.sides(matrix, (100, 6, 30))[0][0] == "from the front"
    assert views.sides(matrix, (100, 60, 6))[0][0] == "from the left"


def picture_of(subject):
    texts = {"title": "scan.nrrd", "subtitle": "its size", "caption": "2 ml"}
    figure, warnings = segmentation_picture.draw(subject, mean=200, sigma=10, **texts)
    return page.pixels_of(figure), warnings


def test_the_picture_holds_slices_and_surface():
    image, warnings = picture_of(ball("axial"))
    if warnings:
        pytest.skip(warnings[0])
    shown, half = red(image), image.shape[1] // 2
    middle = page.HEAD + page.PANEL + page.GAP // 2
    for part in (shown[:middle, :half], shown[:middle, half:]):
        assert part.sum() > 2000
    assert shown[middle:, :half].sum() > 2000


def two_balls():
    """Two vessels that are told apart by colour: the ball, and its upper half."""
    subject = ball("axial")
    labels = subject.labels.copy()
    labels[subject.seeds[0][0] :] *= 2
    named = (Vessel("portal", "#ff0000"), Vessel("hepatic_$x$", "#0000ff"))
    return dataclasses.replace(subject, labels=labels, vessels=named)


def blue(image):
    """Where an image shows the second vessel's colour."""
    return red(np.asarray(image)[..., ::-1])


def test_several_vessels_are_shown_in_their_colours():
    image, warnings = picture_of(two_balls())
    half, middle = image.shape[1] // 2, page.HEAD + page.PANEL + page.GAP // 2
    coronal = np.nonzero(red(image)[middle:, :half]), np.nonzero(blue(image)[middle:, :half])
    assert min(len(rows) for rows, _ in coronal) > 500
    assert coronal[1][0].mean() < coronal[0][0].mean()  # the second one lies above the first
    if warnings:
        pytest.skip(warnings[0])
    surfaces = image[page.HEAD + 100 : middle, half:]  # below the names
    assert red(surfaces).sum() > 2000
    assert blue(surfaces).sum() > 2000


def test_several_vessels_are_named_in_their_colours(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")  # nothing else is coloured there
    shown = [picture_of(each)[0] for each in (ball("axial"), two_balls())]
    above = slice(page.HEAD, page.HEAD + 100), slice(shown[0].shape[1] // 2, None)
    assert not red(shown[0][above]).any()
    assert red(shown[1][above]).sum() > 100
    assert blue(shown[1][above]).sum() > 100


def test_without_rendering_the_slices_are_drawn_and_the_way_out_is_named(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    image, warnings = picture_of(ball("axial"))
    assert len(warnings) == 1
    assert "cannot render off screen" in warnings[0]
    if sys.platform.startswith("linux"):
        assert "libegl1" in warnings[0]
    assert red(image)[: image.shape[0] // 2, : image.shape[1] // 2].sum() > 2000

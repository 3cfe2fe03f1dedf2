"""The small plots of the panels."""

import numpy as np
import pytest

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")


@pytest.fixture
def plots():
    from emulators.qt.application import install

    install()
    from FuzzyVesselCoreLib.widgets import line_plot

    return line_plot


def pixels(label):
    """Red, green and blue of a label's picture, at one pixel a point."""
    image = label.grab().toImage()
    return np.array(
        [
            [image.pixelColor(x, y).getRgb()[:3] for x in range(image.width())]
            for y in range(image.height())
        ]
    )


def like(picture, color, tolerance=40):
    return np.abs(picture.astype(int) - color).max(axis=2) <= tolerance


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 10, [0, 2, 4, 6, 8, 10]), (-0.5, 0.5, [-0.4, -0.2, 0, 0.2, 0.4]), (3, 3.4, None)],
)
def test_ticks_are_round_and_inside(plots, low, high, expected):
    found = plots.ticks(low, high)
    assert expected is None or np.allclose(found, expected)
    assert 2 <= len(found) <= 11
    assert all(low - 1e-6 <= each <= high + 1e-6 for each in found)
    assert "-0" not in [f"{each:g}" for each in found]


def test_a_rising_line_goes_from_the_lower_left_to_the_upper_right(plots):
    import qt

    label = qt.QLabel()
    label.resize(400, 140)
    red = (220, 20, 20)
    line = plots.Line([0, 1, 2], [0, 5, 10], red)
    plots.draw(label, [line], "distance (mm)", "radius (mm)")
    rows, columns = np.nonzero(like(pixels(label), red))
    assert len(rows) > 100
    assert rows[columns.argmin()] > rows[columns.argmax()] + 60
    assert columns.max() - columns.min() > 300


def test_marks_stand_where_their_value_is(plots):
    import qt

    label = qt.QLabel()
    label.resize(400, 140)
    line = plots.Line([0, 4], [1, 1])
    columns = []
    for mark in (1, 3):
        plots.draw(label, [line], "x", "y", marks=[mark])
        columns.append(np.nonzero(like(pixels(label), (200, 60, 40)))[1].mean())
    width = 400 - plots.LEFT - plots.RIGHT
    assert columns == pytest.approx([plots.LEFT + width / 4, plots.LEFT + width * 3 / 4], abs=2)


@pytest.mark.parametrize("values", [[], [np.nan, np.nan], [2.0]])
def test_nothing_to_draw_is_drawn_as_an_empty_frame(plots, values):
    import qt

    label = qt.QLabel()
    label.resize(300, 140)
    plots.draw(label, [plots.Line(values, values)], "x", "y")
    assert not label.pixmap.isNull()

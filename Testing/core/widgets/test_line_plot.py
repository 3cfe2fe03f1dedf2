"""The small plots of the panels."""

import numpy as np
import pytest

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")

SIZE = (400, 130)


@pytest.fixture
def plots():
    from emulators.qt.application import install

    install()
    from FuzzyVesselCoreLib.widgets import plots

    return plots


@pytest.fixture
def plot(plots):
    import qt

    frame = qt.QFrame()
    plot = plots.CurvePlot(frame)
    plot._frame = frame  # else the frame, and with it the plot, would end here
    frame.resize(*SIZE)
    frame.show()
    plot.resize(*SIZE)
    return plot


def pixels(widget):
    """Red, green and blue of a widget's picture."""
    image = widget.grab().toImage()
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


def test_a_rising_curve_goes_from_the_lower_left_to_the_upper_right(plots, plot):
    plot.show_curve([0, 1, 2], [0, 5, 10], "distance (mm)", "radius (mm)")
    rows, columns = np.nonzero(like(pixels(plot), plots.SECOND, 20))
    assert len(rows) > 100
    assert rows[columns.argmin()] > rows[columns.argmax()] + 50
    assert columns.max() - columns.min() > 300

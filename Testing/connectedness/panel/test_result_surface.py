"""The surface of the result: made by a thread, of the voxels that are there, and not twice."""

import threading

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.mrml import surfaces as conversion
from support.mrml_cases import slicers_surface
from support.panel_cases import until


@pytest.fixture
def shown(done):
    """The panel with a result, when its surface is there."""
    until(done, lambda: not waits(done))
    assert polydata(done).GetNumberOfPoints()
    return done


@pytest.fixture
def made(monkeypatch):
    """A list that gets the thread of each surface that is computed."""
    threads, compute = [], conversion.SurfaceInput.surface

    def surface(self, progress=None):
        threads.append(threading.current_thread())
        return compute(self, progress)

    monkeypatch.setattr(conversion.SurfaceInput, "surface", surface)
    return threads


def waits(panel):
    return panel.widget.panel.surface.waits


def polydata(panel):
    inner = panel.parameters.segmentation.GetSegmentation()
    return inner.GetNthSegment(0).GetRepresentation("Closed surface")


def slicers_own(panel):
    segmentation = panel.parameters.segmentation
    (segment_id,) = segmentation.GetSegmentation().GetSegmentIDs()
    return points_of(slicers_surface(segmentation, segment_id))


def points_of(surface):
    from vtk.util.numpy_support import vtk_to_numpy

    return np.sort(vtk_to_numpy(surface.GetPoints().GetData()), axis=0)  # in any order


def is_current(panel):
    return not waits(panel) and len(points_of(polydata(panel))) == len(slicers_own(panel))


def test_a_thread_makes_it_and_not_the_window(shown, made):
    before = polydata(shown)
    shown.ui.thresholdSlider.value = 0.6
    assert polydata(shown) is before  # until the next one is made
    until(shown, lambda: is_current(shown))
    assert polydata(shown) is not before
    assert made
    assert threading.main_thread() not in made


def test_a_run_of_another_module_only_delays_it(shown, open_panel, monkeypatch):
    """The surface is being made when the other run ends it."""
    run, goes_on = shown.widget.panel.surface._run, threading.Event()
    work = run._work

    def slow(inputs, progress):
        while not goes_on.wait(0.005):
            if not progress(0.1):
                raise Cancelled
        return work(inputs, progress)

    monkeypatch.setattr(run, "_work", slow)
    shown.ui.thresholdSlider.value = 0.6
    until(shown, lambda: run.working)
    shown.widget.exit()
    other = open_panel("PotentialSkeleton")
    other.parameters.input = shown.parameters.segmentation
    other.process_events()
    other.ui.applyButton.click()
    goes_on.set()
    until(shown, lambda: is_current(shown))
    np.testing.assert_allclose(points_of(polydata(shown)), slicers_own(shown), atol=1e-3)


def test_another_module_that_is_opened_finds_the_present_surface(shown):
    shown.ui.thresholdSlider.value = 0.6
    before = polydata(shown)
    assert waits(shown)
    shown.widget.exit()
    until(shown, lambda: not waits(shown))
    made = polydata(shown)
    assert made is not before
    shown.widget.enter()
    np.testing.assert_allclose(points_of(made), slicers_own(shown), atol=1e-3)

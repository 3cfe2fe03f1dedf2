"""JIT warm-up of skeletons: what compiles is run before, in a thread, by all ways there are."""

import threading

import numpy as np
import pytest
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.jit import warm_up
from FuzzyVesselCoreLib.jit.warm_up import WarmUp
from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib import extraction, jit_warmup
from support.solid_shapes import ball


@pytest.fixture
def nothing_begun(monkeypatch):
    monkeypatch.setattr(warm_up, "POLL_INTERVAL", 0.001)

    def begin_with(work):
        monkeypatch.setattr(jit_warmup, "WARM_UP", WarmUp(work))

    return begin_with


def test_the_small_object_has_all_that_needs_code_of_its_own():
    mask = jit_warmup.small_object()
    assert ndimage.label(mask, np.ones((3, 3, 3)))[1] == 2  # an island
    assert ndimage.label(~mask)[1] == 2  # a cavity


def test_a_run_asks_its_callback_before_the_code_is_there(nothing_begun):
    compiled, asked = threading.Event(), []
    nothing_begun(lambda: compiled.wait(60))

    def progress(share):
        asked.append((share, compiled.is_set()))
        if len(asked) == 3:
            compiled.set()
        return True

    extraction.skeletonize(ball(4), progress=progress)
    assert asked[:3] == [(0.0, False)] * 3
    assert asked[-1] == (1.0, True)


def test_a_run_without_a_callback_waits_for_a_trial_that_goes_on(nothing_begun, monkeypatch):
    go_on, ended = threading.Event(), []

    def work():
        go_on.wait(60)
        ended.append(True)

    nothing_begun(work)
    with pytest.raises(Cancelled):
        extraction.skeletonize(ball(4), progress=lambda share: False)
    # The trial goes on when the run that waits for it looks for the first time.
    monkeypatch.setattr(Progress, "check", lambda self: go_on.set())
    monkeypatch.setattr("PotentialSkeletonLib.assembly.assemble", lambda *_: ended.copy())
    assert extraction.skeletonize(ball(4)) == [True]


def test_the_trials_work():
    jit_warmup.try_out()  # errors are not seen otherwise
    jit_warmup.try_out_later_stages()


def test_both_trials_compile_the_same_versions():
    """What the second process compiles is what a run asks for: else it would be compiled twice."""
    from FuzzyVesselCoreLib.voxels.distance import ridge
    from FuzzyVesselCoreLib.voxels.topology import sparse
    from PotentialSkeletonLib.critical_points import divergence_seeds, local_minima
    from PotentialSkeletonLib.endpoints import candidates, local_maxima
    from PotentialSkeletonLib.graph import radii, voxel_adjacency
    from PotentialSkeletonLib.thinning import gap_paths, growing, thinning
    from PotentialSkeletonLib.tracing import curve_voxels, descent_paths, stepping

    functions = (
        stepping.follow_each,
        curve_voxels.segments_of_all,
        thinning.remove_simple,
        local_maxima.protrusion_widths,
        candidates.maxima_with_long_paths,
        divergence_seeds.divergence_of_planes,
        descent_paths.descent_path,
        radii.fill_radii,
        voxel_adjacency.chains_from,
        sparse.list_pairs,
        growing.add_simple,
        ridge.fill_order,
        local_minima.list_minima,
        gap_paths.climb,
    )
    jit_warmup.try_out()
    before = [len(function.signatures) for function in functions]
    jit_warmup.try_out_later_stages()
    assert [len(function.signatures) for function in functions] == before
    assert min(before) > 0


def test_a_skeleton_after_the_trial_is_the_same():
    mask = ball(6)
    with_progress = extraction.skeletonize(mask, progress=lambda share: True)
    without = extraction.skeletonize(mask)
    np.testing.assert_array_equal(with_progress.to_labelmap(), without.to_labelmap())

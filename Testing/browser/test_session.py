"""What the page's buttons do, without a page: the same results as of the library."""

import asyncio
import re
from pathlib import Path

import numpy as np
import pytest

from fuzzy_vessel import headless
from fuzzy_vessel.arguments import make_parser
from FuzzyConnectedGPULib import segment
from FuzzyVesselCoreLib.mrml.points import add_phantom, world_points
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from PotentialSkeletonLib import skeletonize

pytest.importorskip("slicer", reason="slicer-core is not installed")


@pytest.fixture(scope="module")
def phantom():
    return liver_phantom((48, 48, 48))


@pytest.fixture
def session(phantom):
    headless.start().clear()
    from fuzzy_vessel_browser.session import Session

    session = Session("cpu", lambda: None, lambda _what: None)
    volume, seeds, background = add_phantom(phantom)
    for node in (seeds, background):
        node.GetScene().RemoveNode(node)
    session.open(volume)
    return session


def click(session, voxel, node=None):
    (node or session.vessels[session.current]).AddControlPointWorld(
        *world_points(np.array([voxel]), session.volume)[0]
    )


def labels(session):
    import slicer

    return slicer.util.arrayFromVolume(session.result.labelmapNode).copy()


def run(script):
    """Do the steps of a coroutine function; returns what it returns."""

    async def whole():
        return await script()

    return asyncio.run(whole())


def expected(phantom, seeds, **options):
    return segment(phantom.volume, seeds, spacing=phantom.spacing, device="cpu", **options).labels


def test_a_click_gives_what_the_library_gives(session, phantom):
    async def script():
        click(session, phantom.seeds[0])
        await session.settled()

    run(script)
    known = expected(phantom, phantom.seeds[:1])
    assert known.any()
    assert np.array_equal(labels(session), known)
    found = session.millilitres(session.vessels[0])
    assert found == pytest.approx(known.sum() * np.prod(phantom.spacing) / 1000)
    assert "Not vessel" in session.next_step()


def test_no_surface_of_a_result_that_has_gone_meanwhile(session, phantom):
    async def another_volume():
        await asyncio.sleep(1)
        session.open(add_phantom(phantom)[0])

    async def script():
        click(session, phantom.seeds[0])
        while session.result is None:
            await asyncio.sleep(0.01)
        await session.do("Opening", another_volume)
        await session.settled()

    run(script)
    assert (session.said, session.problem) == ("", False)


def test_not_vessel_undo_and_redo(session, phantom):
    first = expected(phantom, phantom.seeds[:1])
    inside = np.argwhere(first)
    leak = inside[np.abs(inside - phantom.seeds[0]).sum(axis=1).argmax()]
    found = []

    async def script():
        click(session, phantom.seeds[0])
        await session.settled()
        click(session, leak, session.background)
        await session.settled()
        for step in (session.undo, session.redo, session.undo, session.undo):
            found.append(labels(session))
            step()
            await session.settled()

    run(script)
    without = expected(phantom, phantom.seeds[:1], background_seeds=[leak])
    assert not without[tuple(leak)]
    for there, known in zip(found, (without, first, without, first), strict=True):
        assert np.array_equal(there, known)
    assert session.result is None  # no point is left
    assert not session.history.can_undo
    assert session.history.can_redo


def test_a_point_that_was_dragged_is_followed(session, phantom):
    async def script():
        click(session, phantom.seeds[0])
        await session.settled()
        node = session.vessels[0]
        node.SetNthControlPointPositionWorld(0, world_points(phantom.seeds[-1:], session.volume)[0])
        node.InvokeEvent(node.PointEndInteractionEvent)
        await session.settled()

    run(script)
    assert np.array_equal(labels(session), expected(phantom, phantom.seeds[-1:]))
    assert session.history.can_undo


def test_two_vessels_less_and_more(session, phantom):
    seeds = {"Vessel": phantom.seeds[:1], "Vessel 2": phantom.seeds[-1:]}
    found = []

    async def script():
        click(session, seeds["Vessel"][0])
        session.add_vessel()
        click(session, seeds["Vessel 2"][0])
        for threshold in (None, 0.8):
            session.set_threshold(threshold)
            await session.settled()
            found.append(labels(session))

    run(script)
    assert np.array_equal(found[0], expected(phantom, seeds))
    assert np.array_equal(found[1], expected(phantom, seeds, threshold=0.8))
    assert len(session.result.segmentIDs) == 2


def test_centrelines_are_those_of_the_library(session, phantom):
    async def script():
        click(session, phantom.seeds[0])
        await session.find_centrelines()

    run(script)
    mask = expected(phantom, phantom.seeds[:1]) > 0
    width = 2 * float(np.median(phantom.spacing))
    skeleton = skeletonize(mask, phantom.spacing, drop_islands=27, close_tunnels=width)
    lengths = [f"{length:.1f}" for length in skeleton.to_table()["length_mm"]]
    assert [row["length"] for row in session.branches] == lengths


def test_what_cannot_be_segmented_is_said(session, phantom):
    async def script():
        click(session, (-9, 0, 0))
        await session.settled()

    run(script)
    assert session.result is None
    assert session.problem
    assert "outside the volume" in session.said


def test_cancelling_changes_nothing(session, phantom):
    async def script():
        click(session, phantom.seeds[0])
        while not session.work:
            await asyncio.sleep(0)
        session.cancel()
        await session.settled()

    run(script)
    assert session.result is None
    assert session.said.startswith("Cancelled")


def test_the_saved_run_has_the_same_points(session, phantom):
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")
    from fuzzy_vessel_browser.files import Files

    files = Files(session, make_parser().parse_args(["serve", "--device", "cpu"]), print)

    async def script():
        for voxel in phantom.seeds[:2]:
            click(session, voxel)
        click(session, phantom.background_seeds[0], session.background)
        session.set_threshold(0.25)
        session.cancel()
        await session.settled()

    run(script)
    options = make_parser().parse_args(["run", "x.nrrd", *files.arguments(), "--out", "x"])
    files.remove()
    assert [voxel[::-1] for _name, voxel in options.vessel] == list(map(tuple, phantom.seeds[:2]))
    assert options.background == [tuple(phantom.background_seeds[0][::-1])]
    assert options.threshold == 0.25


def test_the_words_of_the_column_are_the_panels():
    root = Path(__file__).parents[2]
    column = (root / "Browser" / "fuzzy_vessel_browser" / "column.html").read_text()
    form = (root / "FuzzyConnectedGPU" / "Resources" / "UI" / "FuzzyConnectedGPU.ui").read_text()
    words = {text.strip().rstrip(":") for text in re.findall(r"<string>([^<]*)</string>", form)}
    for word in ("Vessels", "Not vessel", "Add vessel", "Less", "More", "Automatic"):
        assert word in words
        assert re.search(rf">\s*{word}\s*</", column), word

"""What the page's buttons do: points, the runs that follow them, undo, centrelines."""

import asyncio  # noqa: TID251
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyConnectedGPUMRML.segmenting import NodeOptions, Run
from FuzzyConnectedGPUMRML.vessel_lists import OTHER, ClickHistory, color_of, set_kind
from FuzzyConnectedGPUPanel.wording import Situation, advice, worded
from FuzzyVesselCoreLib.errors import Cancelled, FuzzyVesselError
from FuzzyVesselCoreLib.mrml import points as markups
from FuzzyVesselCoreLib.mrml import surfaces
from FuzzyVesselCoreLib.mrml.points import inside
from FuzzyVesselCoreLib.mrml.reading import voxels_of

LEAST = 0.01  # of the threshold
REST = 0.25  # seconds without a change after which the surface is made
FIRST_COLOR = (0.9, 0.3, 0.25)
CT_BELOW, CT_WINDOW = -500, (-60, 290)  # a value that only a CT has; HU that are shown of it
CLEAR = 0.4  # opacity of the vessels in 3D where there are centrelines in them
SEGMENTING, DRAWING = "Segmenting", "Drawing the surface"
CENTRELINES = "Finding centrelines"
FOLLOWING = (SEGMENTING, DRAWING, CENTRELINES)  # work that another click makes worthless
MODES = ("vessel", "background", "move", "brightness")  # what the mouse does in the slices


class Session:
    """One person's volume with its points and results, on the scene of `slicer.mrmlScene`.

    Everything but `compute` happens in the thread of asyncio, which serves the page.

    ``changed()`` is called when what the page says may have changed, ``show(what)`` when the views
    are to be fitted: to a new "volume", or to the first "surface" of it.
    """

    def __init__(
        self, device: str, changed: Callable[[], None], show: Callable[[str], None]
    ) -> None:
        from FuzzyConnectedGPU import FuzzyConnectedGPULogic

        self.logic, self.device = FuzzyConnectedGPULogic(), device
        self.changed, self.show = changed, show
        self.volume: Any = None
        self.path: Path | None = None  # of the volume's file; None for the phantom
        self.vessels: list[Any] = []
        self.background: Any = None
        self.result: Any = None
        self.threshold: float | None = None  # that a person chose
        self.current, self.mode = 0, MODES[0]
        self.said = ""
        self.problem = False
        self.work, self.share = "", 0.0  # what is going on, and how much of it is done
        self.branches: list[dict[str, Any]] = []
        self._trees: list[Any] = []
        self._voxels: Any = None
        self.history = ClickHistory()
        self._pool = ThreadPoolExecutor(1)
        self._task: asyncio.Task | None = None
        self._jobs: set[asyncio.Task] = set()
        self._busy = asyncio.Lock()
        self._wanted = self._cancelled = self._framed = self._restoring = False
        self._asked: Any = None  # the inputs that a run was asked for
        self._current_inputs: Any = None  # those of the result

    # --- the volume and its points

    def open(self, volume: Any, path: Path | None = None) -> None:
        """Take a volume of the scene in place of the one before."""
        self._wanted = False
        self._clear_trees()
        self._drop_result()
        _remove(self.volume, self.background, *self.vessels)
        self.logic.forget()
        self.volume, self.path, self._voxels = volume, path, voxels_of(volume)
        self.threshold, self._framed = None, False
        if self._voxels.min() < CT_BELOW:
            display = volume.GetDisplayNode()
            display.SetAutoWindowLevel(False)
            display.SetWindowLevelMinMax(*CT_WINDOW)
        self.background, self.vessels = self._new_list("Not vessel"), []
        markups.paint(self.background, markups.BACKGROUND_COLOR)
        self.history = ClickHistory()
        self.add_vessel()
        self._asked = self._current_inputs = self._inputs()
        self.show("volume")

    def points(self) -> dict[str, Any]:
        """Voxels I, J, K of the points in the volume: of each vessel by name, of the background."""
        shape = self.volume.GetImageData().GetDimensions()[::-1]
        found = []
        for node in self._lists:
            voxels = markups.points_in_volume(self.volume, markups.placed_points(node).world)
            found.append(voxels[inside(voxels, shape)][:, ::-1].tolist())
        named = {node.GetName(): each for node, each in zip(self.vessels, found)}
        return {"vessels": named, "background": found[-1], "threshold": self.threshold}

    def restore(self, saved: dict[str, Any]) -> None:
        """Place the points of `points` again, and segment."""
        vessels = list(saved["vessels"].values())
        for _voxels in vessels[1:]:
            self.add_vessel()
        for node, voxels in zip(self._lists, [*vessels, saved["background"]], strict=True):
            array = np.array(voxels, float).reshape(-1, 3)[:, ::-1]
            for place in markups.world_points(array, self.volume):
                node.AddControlPointWorld(*place)
        if saved["threshold"] is not None:
            self.set_threshold(float(saved["threshold"]))

    def _new_list(self, name: str) -> Any:
        import slicer

        node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", name)
        node.CreateDefaultDisplayNodes()
        node.GetDisplayNode().SetGlyphScale(2.0)
        for each in slicer.util.getNodesByClass("vtkMRMLSliceNode"):  # in 3D the mouse turns
            node.GetDisplayNode().AddViewNodeID(each.GetID())
        node.AddObserver(node.PointPositionDefinedEvent, self._on_new_point)
        node.AddObserver(node.PointRemovedEvent, self._on_points)
        node.AddObserver(node.PointEndInteractionEvent, self._on_points)
        return node

    def add_vessel(self) -> None:
        """Begin another vessel, which the next clicks belong to."""
        number = len(self.vessels) + 1
        node = self._new_list("Vessel" if number == 1 else f"Vessel {number}")
        if number == 1:
            markups.paint(node, FIRST_COLOR)
        else:
            set_kind(node, OTHER, [color_of(each) for each in self.vessels])
        self.vessels.append(node)
        self.history.record(self._lists, self.threshold)
        self.choose_vessel(number - 1)

    def choose_vessel(self, number: int) -> None:
        """Give the next clicks to a vessel."""
        self.current = number
        self.set_mode("vessel")

    def set_mode(self, mode: str) -> None:
        """What the mouse does in the slices: one of `MODES`."""
        import slicer

        self.mode = mode
        for each in self._lists:
            each.SetLocked(mode == "brightness")  # else the mouse drags a point that is under it
        scene, kind = slicer.mrmlScene, slicer.vtkMRMLInteractionNode
        interaction = scene.GetNodeByID("vtkMRMLInteractionNodeSingleton")
        if mode in ("vessel", "background"):
            node = self.vessels[self.current] if mode == "vessel" else self.background
            slicer.modules.markups.logic().SetActiveList(node)
            interaction.SetPlaceModePersistence(True)
            interaction.SetCurrentInteractionMode(kind.Place)
        else:
            moves = mode == "move"
            interaction.SetCurrentInteractionMode(
                kind.ViewTransform if moves else kind.AdjustWindowLevel
            )
        self.changed()

    def follow_mode(self) -> None:
        """A right click has ended placing: Slicer's views say so in their own node."""
        import slicer

        interaction = slicer.mrmlScene.GetNodeByID("vtkMRMLInteractionNodeSingleton")
        placing = interaction.GetCurrentInteractionMode() == interaction.Place
        if not placing and self.mode in ("vessel", "background"):
            self.set_mode("move")

    @property
    def _lists(self) -> list[Any]:
        return [*self.vessels, self.background]

    def _on_new_point(self, node: Any, _event: str) -> None:
        if not self._restoring:
            self.look_at(markups.placed_points(node).world[-1])
        self._on_points(node, _event)

    def _on_points(self, _node: Any, _event: str) -> None:
        if self._restoring or self._inputs() == self._asked:
            return  # nothing but the point that follows the mouse
        self.history.record(self._lists, self.threshold)
        self._run_soon()

    @staticmethod
    def look_at(position: Sequence[float]) -> None:
        """Let all slices go through a point (R, A, S), without moving what is under the mouse."""
        import slicer

        kind = slicer.vtkMRMLSliceNode
        kind.JumpAllSlices(slicer.mrmlScene, *map(float, position), kind.OffsetJumpSlice)

    def _inputs(self) -> tuple:
        """What a result depends on."""
        points = [
            tuple(map(tuple, markups.placed_points(each).world.tolist())) for each in self._lists
        ]
        return tuple(points), self.threshold

    # --- undo, redo, less and more

    def undo(self) -> None:
        """Take the last click or move of the slider back."""
        self._go(self.history.undo)

    def redo(self) -> None:
        """Make again what was taken back last."""
        self._go(self.history.redo)

    def _go(self, step: Callable[[], Any]) -> None:
        self._restoring = True
        try:
            self.threshold = step()
        finally:
            self._restoring = False
        self._run_soon()

    def set_threshold(self, threshold: float | None = None) -> None:
        """Less or more of the vessels; None for what the run chooses."""
        self.threshold = None if threshold is None else min(max(threshold, LEAST), 1.0)
        self.history.record(self._lists, self.threshold)
        self._run_soon()

    # --- runs: the latest inputs win, and the page stays alive

    def _run_soon(self) -> None:
        self._wanted, self._asked = True, self._inputs()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._follow())
        self.changed()

    def begin(self, job: Coroutine[Any, Any, None]) -> None:
        """Do a job while the page's further messages are taken: the socket waits for an answer."""
        task = asyncio.get_running_loop().create_task(job)
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)

    async def settled(self) -> None:
        """Wait until the result is that of the points."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def cancel(self) -> None:
        """End what is in progress at its next step."""
        self._cancelled, self._wanted = True, False

    async def _follow(self) -> None:
        while self._wanted:
            self._wanted = False
            await self.do(SEGMENTING, self._segment)
            await asyncio.sleep(REST)
            if not self._wanted:
                await self.do(DRAWING, self._make_surfaces)

    async def do(self, work: str, job: Callable[[], Awaitable[None]]) -> None:
        """Do a job with progress, after the one before; what goes wrong is said on the page."""
        async with self._busy:
            self.work, self.share, self._cancelled = work, 0.0, False
            if work != DRAWING:
                self.said, self.problem = "", False
            self.changed()
            try:
                await job()
            except Cancelled:
                self.said = self.said if self._wanted else "Cancelled; nothing was changed."
            except FuzzyVesselError as error:
                self.said, self.problem = str(worded(error)), True
            except MemoryError:
                self.said, self.problem = "The memory does not suffice for this volume.", True
            except Exception as error:  # the page says so and goes on; the console has the rest
                logging.getLogger(__name__).exception(work)
                self.said, self.problem = f"{work} failed: {error}", True
            finally:
                self.work = ""
                self.changed()

    def tell(self, share: float) -> bool:
        """So much of the work is done; returns whether to go on."""
        self.share = share
        return not self._cancelled and not (self._wanted and self.work in FOLLOWING)

    async def compute(self, work: Callable[[Callable[[float], bool]], Any]) -> Any:
        """Do work that touches no node in a thread; it is called with a callback for progress."""
        future = asyncio.get_running_loop().run_in_executor(self._pool, work, self.tell)
        while not future.done():
            await asyncio.wait([future], timeout=0.2)
            self.changed()
        return future.result()

    async def _segment(self) -> None:
        inputs = self._inputs()
        lists = [node for node in self.vessels if node.GetNumberOfDefinedControlPoints()]
        self._clear_trees()
        if not lists:
            self._drop_result()
            self._current_inputs = inputs
            return
        has_background = self.background.GetNumberOfDefinedControlPoints() > 0
        options = NodeOptions(
            backgroundSeedsNode=self.background if has_background else None,
            threshold=self.threshold,
            device=self.device,
        )
        run = Run(self.volume, lists, options, self._voxels)
        found = await self.compute(lambda told: run.compute(told, self.logic.cached))
        nodes = self.result
        former = _surfaces(nodes.segmentationNode) if nodes else {}
        self.result = run.write(
            found,
            sceneVolumeNode=nodes and nodes.sceneNode,
            labelmapNode=nodes and nodes.labelmapNode,
            segmentationNode=(nodes and nodes.segmentationNode) or True,
        )
        shown = self.result.segmentationNode
        inner = shown.GetSegmentation()
        for segment_id in set(inner.GetSegmentIDs()) - set(self.result.segmentIDs):
            inner.RemoveSegment(segment_id)  # of a vessel whose points are gone
        for segment_id, node in zip(self.result.segmentIDs, lists):
            inner.GetSegment(segment_id).SetColor(color_of(node))
            # The earlier surface is shown until that of the new voxels is made.
            surfaces.put_surface(shown, segment_id, former.get(segment_id))
        self._current_inputs = inputs
        self.said = " ".join(str(worded(each)) for each in self.result.warnings)

    def _drop_result(self) -> None:
        """Without points there are no vessels."""
        if self.result is not None:
            found, self.result = self.result, None
            _remove(found.labelmapNode, found.sceneNode, found.divisionNode, found.segmentationNode)

    async def _make_surfaces(self) -> None:
        """What the voxels look like in 3D; observers draw it."""
        if self.result is None:  # no points, or another volume was opened meanwhile
            return
        node = self.result.segmentationNode
        inner = node.GetSegmentation()
        for each in self.result.segmentIDs:
            read = surfaces.surface_input(inner, each)
            if read is not None:
                read.put(inner, each, await self.compute(read.surface))
        node.GetDisplayNode().SetOpacity3D(CLEAR if self._trees else 1.0)
        if not self._framed:
            self._framed = True
            self.show("surface")

    # --- centrelines

    async def find_centrelines(self) -> None:
        """Find the centrelines of each vessel, and a row for each branch."""
        await self.settled()
        await self.do(CENTRELINES, self._find_centrelines)

    async def _find_centrelines(self) -> None:
        from fuzzy_vessel.arguments import SMALL_ISLAND
        from fuzzy_vessel.skeletonizing import NOISE_VOXELS
        from PotentialSkeletonLib import skeletonize
        from PotentialSkeletonMRML.objects import read_object
        from PotentialSkeletonMRML.outputs import write_skeletons

        width = NOISE_VOXELS * float(np.median(self.volume.GetSpacing()))
        options: Any = dict(drop_islands=SMALL_ISLAND, close_tunnels=width, device=self.device)
        vessels = [each for each in self.result.vessels if each.volumeMl > 0] if self.result else []
        objects = [read_object(self.result.labelmapNode, None, each.label) for each in vessels]
        nodes: dict = {"modelNode": [], "tableNode": []}  # new ones

        def find(object_: Any, tell: Any) -> Any:
            return skeletonize(object_.mask, object_.spacing, progress=tell, **options)

        skeletons = [await self.compute(partial(find, each)) for each in objects]
        jobs = [(each, nodes) for each in objects]
        self._clear_trees()
        for vessel, tree in zip(vessels, write_skeletons(jobs, skeletons)):
            self._trees += [tree.modelNode, tree.tableNode]
            table = tree.skeleton.to_table()
            rows = zip(*(table[name] for name in ("branch", "length_mm", "mean_radius_mm")))
            self.branches += [
                {"vessel": vessel.name, "branch": f"{branch}", "length": f"{length:.1f}",
                 "diameter": f"{2 * radius:.1f}"}
                for branch, length, radius in rows
            ]  # fmt: skip
        if vessels:
            self.result.segmentationNode.GetDisplayNode().SetOpacity3D(CLEAR)

    def _clear_trees(self) -> None:
        _remove(*self._trees)
        self._trees, self.branches = [], []
        if self.result is not None:
            self.result.segmentationNode.GetDisplayNode().SetOpacity3D(1.0)

    # --- what the page says

    def millilitres(self, node: Any) -> float | None:
        """Volume of the vessel of a list of points; None without a result."""
        found = [] if self.result is None else self.result.vessels
        return next((each.volumeMl for each in found if each.name == node.GetName()), None)

    def next_step(self) -> str:
        """What to do next, in the panel's words."""
        if self.volume is None:
            return advice(Situation())
        points = sum(each.GetNumberOfDefinedControlPoints() for each in self.vessels)
        return advice(
            Situation(
                has_volume=True,
                points=points,
                placing=self.mode in ("vessel", "background"),
                running=self.work == SEGMENTING,
                following=True,
                current=self._current_inputs == self._inputs(),
                millilitres=self.result.volumeMl if self.result is not None else None,
            )
        )


def _surfaces(segmentation_node: Any) -> dict[str, Any]:
    """The surface of each segment, by its ID; None where it has none."""
    inner = segmentation_node.GetSegmentation()
    ids = inner.GetSegmentIDs()
    return {each: inner.GetSegment(each).GetRepresentation(surfaces.SURFACE) for each in ids}


def _remove(*nodes: Any) -> None:
    """Take nodes out of the scene, as far as they are there."""
    import slicer

    for node in nodes:
        if node is not None and slicer.mrmlScene.IsNodePresent(node):
            slicer.mrmlScene.RemoveNode(node)

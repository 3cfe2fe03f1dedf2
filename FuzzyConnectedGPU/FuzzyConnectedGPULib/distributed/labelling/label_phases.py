"""The phases of labels over blocks, one after the other."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

from FuzzyVesselCoreLib.progress import Progress

from .. import steps
from ..partition import Group
from ..tasks import run_steps
from . import label_steps
from .components.component_table import ComponentTable, Totals, numbered_components
from .object_blocks import is_labelmap, lowest_of
from .runs.label_job import LabelJob
from .volume_curve import chosen_threshold, count_blocks, counted

COUNTED, LABELLED, JOINED = 0.2, 0.6, 0.65  # shares of the progress when phases are done


class LabelPhases:
    """The phases of a run; what an earlier run has done is not done again."""

    def __init__(self, job: LabelJob, client: Any, continues: bool, progress: Progress) -> None:
        self._job, self._client, self._continues = job, client, continues
        self._progress, self._start = progress, 0.0
        self.seconds: dict[str, float] = {}
        self.computed: dict[str, int] = {}

    def choose_threshold(self, threshold: float | None, background_seeds: Any) -> float | None:
        """Set what the object is; a threshold that is not given is chosen from the curve."""
        scene = self._job.objects.scene
        if is_labelmap(scene):
            return None
        if threshold is None:
            begin, self._start = perf_counter(), COUNTED
            done = count_blocks(self._job, self._client, self._progress.part(0.0, COUNTED))
            cut = self._job.options.cut
            threshold = chosen_threshold(counted(self._job), scene, background_seeds, cut)
            self.seconds["count"], self.computed["count"] = perf_counter() - begin, done
        objects = replace(self._job.objects, lowest=lowest_of(scene, threshold))
        self._job = replace(self._job, objects=objects)
        return threshold

    def find(self) -> tuple[ComponentTable, Totals]:
        """First pass: the components that were listed, and the totals."""
        partition, folder = self._job.partition, self._job.folder
        last, blocks = partition.levels, partition.groups(0)
        if self._continues:
            self._check()
        missing = [block for block in blocks if not folder.has("pieces", block)]
        self._do("label", label_steps.label_block, missing, self._start, LABELLED)
        for level in range(1, last + 1):
            missing = [
                group for group in partition.groups(level) if not folder.has("pieces", group)
            ]
            self._do("join", label_steps.join_group, missing, LABELLED, JOINED)
        return numbered_components(self._job, self._progress.part(JOINED, JOINED))

    def write(self) -> None:
        """Second pass: the labels."""
        partition, folder = self._job.partition, self._job.folder
        last, blocks = partition.levels, partition.groups(0)
        for level in range(last, 0, -1):
            missing = [
                group
                for group in partition.groups(level)
                if not all(folder.has("numbers", member) for member in partition.members(group))
            ]
            self._do("spread", label_steps.spread_group, missing, JOINED, JOINED)
        missing = [block for block in blocks if not folder.has("done", block)]
        self._do("write", label_steps.write_block, missing, JOINED, 1.0)

    def _check(self) -> None:
        """Compare what an earlier run left with the scene and the target."""
        job, blocks = self._job, self._job.partition.groups(0)
        stores = [job.objects.scene] if job.mask is None else [job.objects.scene, job.mask]
        if not all(store.is_stamped for store in stores):
            known = [block for block in blocks if job.folder.has("pieces", block)]
            self._do("check", label_steps.check_block, known, self._start, self._start)
        known = [block for block in blocks if job.folder.has("done", block)]
        self._do("check", steps.check_result, known, self._start, self._start)

    def measure(self) -> int:
        """The Euler characteristic of the object."""
        blocks, folder = self._job.partition.groups(0), self._job.folder
        missing = [block for block in blocks if not folder.has("counts", block)]
        self._do("measure", label_steps.measure_block, missing, JOINED, 1.0)
        return sum(int(folder.get("counts", block)["characteristic"]) for block in blocks)

    def _do(
        self,
        phase: str,
        step: Callable[[Any, Group], None],
        groups: list[Group],
        start: float,
        end: float,
    ) -> None:
        begin = perf_counter()
        job: Any = self._job
        run_steps(step, job, groups, self._client, self._progress.part(start, end))
        self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - begin
        self.computed[phase] = self.computed.get(phase, 0) + len(groups)

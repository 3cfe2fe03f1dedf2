"""What the tasks of a run over blocks work on, counted from the partition.

Work is counted in voxels and face voxels of blocks, and in vertices of the graphs that join groups;
see `distributed`. A card leaves graphs of more than `MAX_NODES` vertices to the CPU.
"""

from math import prod

from FuzzyConnectedGPULib.distributed.needs import BLOCK_VOXEL, GROUP_VOXEL
from FuzzyConnectedGPULib.distributed.partition import Group, Partition
from FuzzyConnectedGPULib.solvers.cuda.contraction.node_rounds import MAX_NODES

VOXEL, LEVEL = 2, 2  # bytes that are read of a voxel (int16), and written
OF_PROCESS = "voxel of a process"
Rate = tuple[str, str, str]  # phase, unit of work, place
Work = dict[str, dict[Rate, float]]  # of each phase


class Steps:
    """The tasks of a run: face voxels of the groups of each level, and vertices that they join."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.levels = partition.levels
        self.voxels: list[int] = [prod(partition.box(g).shape) for g in partition.groups(0)]
        self.faces: list[list[int]] = []
        self.joined: list[list[int]] = [[]]
        below: dict[Group, int] = {}
        for level in range(self.levels + 1):
            groups = partition.groups(level)
            counts = {group: partition.face_count(partition.box(group)) for group in groups}
            if level:
                members = ([below[m] for m in partition.members(group)] for group in groups)
                self.joined.append([sum(found) for found in members])
            self.faces.append(list(counts.values()))
            below = counts

    def work(self, workers: int, place: str, processes: int = 1) -> Work:
        """What the phases work on, for the worker that is done last."""
        found: Work = {}
        for phase in ("contract", "finish"):
            found[phase] = {
                (phase, "voxel", place): _longest(self.voxels, workers),
                (phase, "face voxel", place): _longest(self.faces[0], workers),
                (phase, OF_PROCESS, place): _longest(self.voxels, processes),
            }
        for phase, last in (("merge", self.levels - 1), ("solve", self.levels)):
            found[phase] = {}
            for joined in self.joined[1 : last + 1]:
                on_card = place == "card" and max(joined) < MAX_NODES
                rate = phase, "vertex", "card" if on_card else "CPU"
                found[phase][rate] = found[phase].get(rate, 0.0) + _longest(joined, workers)
        return found

    def memory(self, workers: int, tasks: int) -> float:
        """Upper estimate of the bytes that a worker needs, with so many tasks at a time."""
        needs = [(max(self.voxels) * (VOXEL + BLOCK_VOXEL), len(self.voxels))]
        needs += [(max(joined) * GROUP_VOXEL, len(joined)) for joined in self.joined[1:]]
        return max(need * min(tasks, -(-count // workers)) for need, count in needs)

    def kept_faces(self) -> int:
        """Face voxels of all groups, which are written to the folder of a run."""
        return sum(map(sum, self.faces))

    def traffic(self, face_bytes: float) -> float:
        """Bytes that are read and written: source, target and intermediate results."""
        finished, merged, solved = self.faces[0], self.joined[:-1], [*self.joined, *self.faces[1:]]
        read = sum(finished) + sum(map(sum, merged)) + sum(map(sum, solved))
        voxels = sum(self.voxels) * (2 * VOXEL + LEVEL)
        return voxels + (self.kept_faces() + read) * face_bytes


def _longest(tasks: list[int], workers: int) -> float:
    return max(sum(tasks) / workers, max(tasks, default=0))

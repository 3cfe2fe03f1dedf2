"""Pieces of an object that are too large for one block of threads; see `limbs`."""

from pathlib import Path

import numpy as np

from ..limbs import far_enough, is_long

KERNELS = Path(__file__).with_name("kernels") / "large_pieces.cu"
THREADS, BLOCKS = 256, 1024
FEW_ROUNDS, MOST_ROUNDS = 3, 24  # between two looks at what is left: mostly few are needed
LISTED, COUNT, WAITING, WIDTH, GIVEN_UP, NEXT = 0, 3, 4, 6, 7, 8  # in the state (large_pieces.cu)


class LargePieces:
    """Grows one piece of an object at a time.

    Parameters
    ----------
    distances : CuPy's ndarray of int32, shape (K, J, I)
    lines : 2 ints
        Voxels from one row and from one plane to the next.
    visited : CuPy's ndarray of int32
        A number for each voxel: of the last piece that it belonged to or lay beside.
    count : int
        The object's voxels.
    gpu : CudaDevice
    report : callable or None
        Called between rounds; raises to cancel.
    """

    def __init__(self, distances, lines, visited, count, gpu, report):
        self._volume, self._visited = (distances, *lines), visited
        self._gpu, self._report = gpu, report
        self.voxels = gpu.xp.empty(5 * count, np.int32)  # the piece's come first
        self._count = np.int32(count)
        self._state = gpu.xp.empty(10, np.int32)

    def limb_width(self, top, height, number, depth, is_tip, unit, smallest):
        """The width of the piece of a top of that height if the top is a tip, else -1; in mm."""
        self._begin(top, number)
        width, of = np.float32(0), (depth, np.int32(top))
        while True:
            level = far_enough(height, width, unit, smallest)
            if level < 0:
                return np.float32(-1)
            state = self._grow("spread_limb", key_at(level + 1), *of, np.int32(-1), is_tip)
            width = max(width, width_in(state))
            if state[GIVEN_UP]:
                return np.float32(-1)
            if far_enough(height, width, unit, smallest) != level:
                continue
            if state[WAITING + self._turn] == 0:
                return np.float32(-1)
            self._launch("find_next", np.int32(self._round), np.int32(self._turn))
            following = int(self._gpu.get(self._state)[NEXT : NEXT + 2].view(np.uint64)[0])
            joining = following & 0xFFFFFFFF
            state = self._grow("spread_limb", following, *of, np.int32(joining), is_tip)
            if state[GIVEN_UP]:
                return np.float32(-1)
            width = max(width, width_in(state))
            is_tip_now = is_long((height - (following >> 32) + 1) * unit, width, smallest)
            own = self._gpu.get(depth.reshape(-1)[joining : joining + 1])[0]
            width = max(width, own)
            if is_tip_now:
                return width

    def cap_sizes(self, place, number, box, far, near):
        """How many voxels a cap has, and it with what is behind it; `voxels` begins with them."""
        self._begin(place, number)
        limits = [np.int32(n) for n in (near, *box)]
        return [
            int(self._grow("spread_cap", key_at(least), *limits)[COUNT]) for least in (far, near)
        ]

    def furthest_beyond(self, begun, best, number, steps):
        """The furthest voxel beyond an end of a skeleton; `begun` are voxels to go on from.

        `best` is the key of the furthest so far; see `furthest_beyond` in limbs.cu.
        """
        self._begin(int(begun[0]), number)
        self.voxels.reshape(5, -1)[3, : len(begun)] = begun
        self._state[LISTED : LISTED + 1] = len(begun)
        self._state[NEXT : NEXT + 2] = self._gpu.put(np.array([best], np.uint64).view(np.int32))
        state = self._rounds("spread_beyond", steps)
        return ~state[NEXT : NEXT + 1].view(np.uint32)[0]

    def _begin(self, voxel, number):
        self._round = self._turn = 0
        self._piece = self._state, self._visited, np.int32(number), self.voxels, self._count
        self._gpu.kernel(KERNELS, "begin")((1,), (1,), (*self._piece, np.int32(voxel)))

    def _grow(self, kernel, least, *args):
        """Let all join that is connected from a key on; the state."""
        self._turn ^= 1
        turn, least = np.int32(self._turn), np.uint64(least)
        self._launch("sift", np.int32(self._round), turn, least)
        return self._rounds(kernel, turn, least, *args)

    def _rounds(self, kernel, *args):
        batch = FEW_ROUNDS
        while True:
            for _ in range(batch):
                self._launch(kernel, np.int32(self._round), *args)
                self._round += 1
            state = self._gpu.get(self._state)
            if self._report is not None:
                self._report()
            if state[GIVEN_UP] or state[LISTED + self._round % 3] == 0:
                return state
            batch = min(2 * batch, MOST_ROUNDS)

    def _launch(self, name, *args):
        all_args = *self._volume, *self._piece, *args
        self._gpu.kernel(KERNELS, name)((BLOCKS,), (THREADS,), all_args)


def key_at(distance):
    """The first key of voxels at a distance; see `Volume::key`."""
    return (int(distance) + 1) << 32


def width_in(state):
    return state[WIDTH : WIDTH + 1].view(np.float32)[0]

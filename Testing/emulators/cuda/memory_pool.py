"""What CuPy's memory pool would hold, for the arrays of the emulated device.

A pool asks the device for memory where no free piece of it is large enough, takes the smallest
piece that is, splits it, joins it with free neighbours when it is freed, and gives nothing back by
itself.
"""

from __future__ import annotations

from dataclasses import dataclass

UNIT = 512  # bytes: all sizes are multiples


@dataclass(eq=False)
class Piece:
    """A part of memory that the device gave in one piece, between its neighbours there."""

    size: int
    before: Piece | None = None
    behind: Piece | None = None
    is_free: bool = False


class MemoryPool:
    """Follows `cupy.cuda.MemoryPool`.

    Attributes
    ----------
    total, used, peak : int
        Bytes that the device has given and that arrays have; the most that it had given.
    """

    def __init__(self) -> None:
        self._free: list[Piece] = []
        self.total = self.used = self.peak = 0

    def take(self, size: int) -> Piece:
        """Memory for an array."""
        size = max(-(-size // UNIT), 1) * UNIT
        large_enough = [piece for piece in self._free if piece.size >= size]
        if large_enough:
            piece = min(large_enough, key=lambda piece: piece.size)
            self._free.remove(piece)
            piece.is_free = False
            self._split(piece, size)
        else:
            piece = Piece(size)
            self.total += size
            self.peak = max(self.peak, self.total)
        self.used += size
        return piece

    def give_back(self, piece: Piece) -> None:
        """Free the memory of an array."""
        self.used -= piece.size
        for other in (piece.before, piece.behind):
            if other is not None and other.is_free:
                self._free.remove(other)
                piece = _joined(*((other, piece) if other is piece.before else (piece, other)))
        piece.is_free = True
        self._free.append(piece)

    def free_all_blocks(self) -> None:
        """Give the device what no array has any part of."""
        whole = [piece for piece in self._free if piece.before is None and piece.behind is None]
        self._free = [piece for piece in self._free if piece not in whole]
        self.total -= sum(piece.size for piece in whole)

    def _split(self, piece: Piece, size: int) -> None:
        if piece.size == size:
            return
        rest = Piece(piece.size - size, piece, piece.behind, is_free=True)
        if piece.behind is not None:
            piece.behind.before = rest
        piece.size, piece.behind = size, rest
        self._free.append(rest)


def _joined(first: Piece, second: Piece) -> Piece:
    first.size, first.behind = first.size + second.size, second.behind
    if second.behind is not None:
        second.behind.before = first
    return first

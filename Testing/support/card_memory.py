"""Memory of a real card that a run does not give back, while other processes use the card, too."""

from collections.abc import Callable

TRIES = 20


def lost_memory(run: Callable[[], object]) -> int:
    """Bytes that a run keeps: the least of several, as others take memory and give it back."""
    import cupy

    lost = []
    while len(lost) < TRIES and (not lost or min(lost) > 0):
        before = cupy.cuda.Device(0).mem_info[0]
        run()
        lost.append(before - cupy.cuda.Device(0).mem_info[0])
    return max(min(lost), 0)

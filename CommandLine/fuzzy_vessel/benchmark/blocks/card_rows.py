"""Rows on cards: the whole, with a quarter of the memory, over blocks on one and on more cards."""

from typing import Any

from FuzzyConnectedGPULib import connectedness as on_the_whole
from FuzzyConnectedGPULib.distributed.cuda.cards import card_words
from FuzzyConnectedGPULib.solvers.cuda import exact

from ..goals import Goal
from ..setting import Setting
from ..timing import measure
from .block_runs import Shape, by_blocks, by_processes, generated, hash_of, row
from .procedural_volume import AFFINITY, ProceduralVolume

QUARTER_GOAL = Goal(3.0, "x the whole")
SAMPLES = 4  # boxes that `dial` solves again
Rows = list[dict[str, Any]]


def on_cards(setting: Setting) -> Rows:
    """Everything of one volume, whose results must have one hash."""
    shape = (setting.sizes.blocks_on_cards,) * 3
    rows, expected = at_once(setting, shape)
    first, *others = partitions(shape[0])
    for cards in card_sets(setting):
        rows.append(_over_blocks(setting, shape, first, cards, expected)[0])
        if len(cards) > 1:
            rows.append(_by_processes(setting, shape, first, cards, expected))
    for block in others:
        rows.append(_over_blocks(setting, shape, block, cards[:1], expected)[0])
    return rows


def largest(setting: Setting) -> Rows:
    """A volume that no memory holds, so the partitions' hashes are compared with one another."""
    side = setting.sizes.blocks_largest
    shape, rows, expected = (side,) * 3, [], None
    first, second = partitions_of_largest(side)
    for cards in card_sets(setting):
        found, expected = _over_blocks(setting, shape, first, cards, expected)
        rows.append(found)
        if len(cards) > 1:
            rows.append(_by_processes(setting, shape, first, cards, expected))
    rows.append(_over_blocks(setting, shape, second, cards, expected)[0])
    return rows


def at_once(setting: Setting, shape: Shape) -> tuple[Rows, int]:
    """Calls of the default solver without a cap, and with a quarter of the memory; their hash."""
    volume = ProceduralVolume(shape)
    first, voxels = generated(volume)
    needed = (exact.BYTES_PER_VOXEL + voxels.itemsize) * voxels.size

    def timed(work: str, cap: int | None) -> tuple[dict[str, Any], int]:
        setting.tell(f"{work}, 1 card")
        keywords: dict[str, Any] = {"device": setting.cuda, "device_memory": cap}
        measured = measure(
            lambda: on_the_whole(voxels, volume.seeds, AFFINITY, **keywords), setting.repeats
        )
        card = measured.result.peak_bytes
        details = {"runs": measured.runs, "card": card and card / 1e6}
        made = row(volume, work, measured.seconds, "1 card", **details)
        return made, hash_of(measured.result.values)

    whole, expected = timed("whole", None)
    quarter, found = timed("with a quarter of the memory", needed // 4)
    ratio = quarter["seconds"] / whole["seconds"]
    met = None if setting.quick else QUARTER_GOAL.met_by(ratio)
    quarter |= {"ratio": ratio, "goal": str(QUARTER_GOAL), "met": met}
    whole["check"], quarter["check"] = f"hash {expected:016x}", compared(found, expected)
    return [first, whole, quarter], expected


def _over_blocks(
    setting: Setting, shape: Shape, block: Shape, cards: list[str], expected: int | None
) -> tuple[dict[str, Any], int]:
    """The row of a run, and its hash."""
    setting.tell(f"Blocks of {block}, {len(cards)} cards")
    made, found = by_blocks(shape, block, ",".join(cards), len(cards), SAMPLES)
    told = f"hash {found:016x}" if expected is None else compared(found, expected)
    made["check"] = f"{told}; {made['check']}"
    return made, found


def _by_processes(
    setting: Setting, shape: Shape, block: Shape, cards: list[str], expected: int
) -> dict[str, Any]:
    setting.tell(f"Blocks of {block}, {len(cards)} cards, a process each")
    made, found = by_processes(shape, block, ",".join(cards), len(cards))
    return {**made, "check": compared(found, expected)}


def partitions(side: int) -> list[Shape]:
    """Eight blocks, 24 of three different sides, and 64."""
    half, third, quarter = (-(-side // n) for n in (2, 3, 4))
    return [(half,) * 3, (third, half, quarter), (quarter,) * 3]


def partitions_of_largest(side: int) -> list[Shape]:
    """64 blocks, and 60 of three different sides."""
    third, quarter, fifth = (-(-side // n) for n in (3, 4, 5))
    return [(quarter,) * 3, (fifth, quarter, third)]


def card_sets(setting: Setting) -> list[list[str]]:
    """One card, two, four, ..., and all; only the one that was asked for if it is not the first."""
    every = card_words("cuda") if setting.gpu.ordinal == 0 else [setting.cuda]
    counts = {1 << n for n in range(len(every).bit_length())} | {len(every)}
    return [every[:count] for count in sorted(counts)]


def compared(found: int, expected: int) -> str:
    """What is said of two hashes of one volume's levels."""
    return "same hash" if found == expected else "the hashes differ"

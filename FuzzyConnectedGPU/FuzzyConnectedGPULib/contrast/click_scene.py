"""From clicks to the fuzzy scene: each click has its own threshold, and every click is honoured.

A voxel of contrast s has the membership ``s / (s + t)`` at threshold t: 0.5 where the contrast is
the threshold. Its connectedness is the membership, limited by the widest path from the clicks with
regard to the threshold of paths, which is near the noise: faint links connect, but only voxels with
contrast belong. Labels are the voxels of at least 0.5; another cut is "less" or "more".
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from .borders import move_to_half_contrast
from .clicks import Clicks
from .contrast_map import ContrastMap
from .contrast_threshold import CONTRAST_THRESHOLD
from .corrections import remove_leaks
from .faint_clicks import add_faint_click
from .halos import in_halo
from .main_object import Click, MainObject
from .neighbourhood import at_click


def click_scene(
    found: ContrastMap,
    clicks: Clicks,
    border: str = "drawn",
    progress: Progress | None = None,
) -> tuple[np.ndarray, float, list[tuple[int, ...]]]:
    """The fuzzy scene of clicks within the map's box, of which at least one is positive.

    Returns
    -------
    connectedness : ndarray, float32, of the map's shape
        0..1; positive clicks have 1, background clicks 0, and the object is the voxels of at least
        `CONTRAST_THRESHOLD`.
    threshold : float
        The contrast from which on a voxel belongs to the object.
    without : list of (K, J, I)
        The positive clicks that differ from their surroundings in no way: each has added a few
        similar voxels around it.
    """
    progress = Progress.of(progress)
    positive = [tuple(map(int, p)) for p in clicks.positive]
    negative = [tuple(map(int, q)) for q in clicks.negative]
    judged = [_click(found, p, n == 0) for n, p in enumerate(positive)]
    # By contrast: the result does not depend on the order of the further clicks.
    judged[1:] = sorted(judged[1:], key=lambda click: (-click.contrast, click.voxel))
    with ThreadPoolExecutor(1) as pool:  # new memory takes as long as the paths
        memory = pool.submit(np.full, found.contrast.shape, np.float32(0), np.float32)
        main = MainObject(found, judged)
    progress.check()
    main.raise_for(negative)
    main.lower_for(judged)
    progress.check()
    connectedness = memory.result()
    size = main.write_connectedness(connectedness)
    beside_object = size > 0
    without: list[tuple[int, ...]] = []
    for click in judged:
        if connectedness[click.voxel] < CONTRAST_THRESHOLD:
            progress.check()
            added, has_contrast = add_faint_click(
                connectedness, found, click.voxel, size, beside_object,
                near=main.learned_halos and in_halo(found, click.voxel, main.threshold),
            )  # fmt: skip
            size += added
            if not has_contrast:
                without.append(click.voxel)
    remove_leaks(connectedness, found, positive, negative, progress)
    if border == "half":
        progress.check()
        move_to_half_contrast(connectedness, found, CONTRAST_THRESHOLD)
    for voxel in positive:
        connectedness[voxel] = 1
    for voxel in negative:
        connectedness[voxel] = 0
    return connectedness, main.threshold, without


def _click(found: ContrastMap, voxel: tuple[int, ...], first: bool) -> Click:
    """A click with its contrast; the first may lie beside the middle of its vessel."""
    own = at_click(found.contrast, voxel)
    if not first:
        return Click(voxel, own, voxel)
    ridge, start = found.middle_near(voxel)
    return Click(voxel, max(own, ridge), start if ridge > own else voxel)

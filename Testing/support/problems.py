"""Random connectedness problems: small volumes of every type, with ties, plateaus and extremes."""

import numpy as np
from hypothesis import strategies as st

from FuzzyConnectedGPULib import GaussianAffinity

VOXEL_TYPES = (np.uint8, np.int16, np.uint16, np.int32, np.float32, np.float64)


@st.composite
def problems(draw, largest_side):
    """volume, seeds (n, 3), affinity, cut, mask or None with at least one seed inside."""
    shape = tuple(draw(st.integers(1, largest_side)) for _ in range(3))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(VOXEL_TYPES))
    texture = draw(st.sampled_from(["noise", "few values", "extremes"]))
    if texture == "noise":
        volume = random.normal(120, 30, shape).clip(0, 255)
    elif texture == "few values":
        volume = random.choice([100, 110, 120, 200], shape)
    else:
        info = np.iinfo(kind) if np.issubdtype(kind, np.integer) else np.finfo(np.float32)
        volume = random.choice(np.array([info.min, 119, 120, 121, info.max], float), shape)
    volume = volume.astype(kind)
    affinity = GaussianAffinity(
        mean=120,
        sigma=draw(st.sampled_from([1, 15, 40, 300])),
        gradient_sigma=draw(st.sampled_from([1, 10, 200])),
        form=draw(st.sampled_from(["geometric", "weighted"])),
        side=draw(st.sampled_from(["both", "bright", "dark"])),
    )
    seeds = random.integers(0, shape, (draw(st.integers(1, 3)), 3))
    cut = draw(st.sampled_from([0.0, 0.0, 1e-4, 0.3, 43691 / 65535, 0.9, 1.0]))
    mask = None
    if draw(st.booleans()):
        mask = (random.random(shape) < 0.7).astype(np.uint8)
        mask[tuple(seeds[0])] = 1
    return volume, seeds, affinity, cut, mask

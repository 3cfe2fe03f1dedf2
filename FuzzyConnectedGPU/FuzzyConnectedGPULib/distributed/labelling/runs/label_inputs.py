"""What labels over blocks are given: refused where it does not fit, and named for a later run."""

import hashlib
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from ....threshold.choice import check_threshold
from ...partition import Partition
from ...stores import Store
from ...tasks import is_dask
from ..object_blocks import is_labelmap
from .label_options import LabelOptions


def check_inputs(
    store: Store,
    threshold: float | None,
    region: Store | None,
    seeds: Any,
    target: Any,
    client: Any,
    options: LabelOptions,
) -> None:
    """Refuse what does not fit together."""
    check_threshold(threshold, options.cut)
    if threshold is not None and is_labelmap(store):
        raise InputError(
            f"The threshold is {threshold:g}, but the scene is a labelmap ({store.voxel_type}), "
            "whose object is where it is not 0: give None."
        )
    if options.components == "seeds" and seeds is None:
        raise InputError('components is "seeds", but no seeds are given: give seeds, too.')
    if region is not None and region.shape != store.shape:
        raise InputError(
            f"The mask has shape {region.shape}, the scene {store.shape}; they must agree."
        )
    inputs = [store.place] if region is None else [store.place, region.place]
    in_memory = [array for array in (*inputs, target) if isinstance(array, np.ndarray)]
    if in_memory and is_dask(client):
        raise InputError(
            "Dask's workers cannot reach an array of this process: give paths or zarr arrays."
        )
    if isinstance(target, np.ndarray) and any(
        np.may_share_memory(array, target) for array in in_memory[:-1]
    ):
        raise InputError("The target is the scene or the mask: give another array.")


def manifest_of(
    store: Store,
    threshold: float | None,
    region: Store | None,
    points: np.ndarray,
    barred: np.ndarray,
    options: LabelOptions,
    partition: Partition,
) -> dict[str, Any]:
    """What a run must agree in with the one that it continues."""
    return {
        "scene": store.fingerprint(),
        "mask": region and region.fingerprint(),
        "threshold": "automatic" if threshold is None else float(threshold),
        "seeds": _digest(points),
        "background seeds": _digest(barred),
        "block": partition.block,
        "target": options.target_type,
        "components": options.components,
        "smallest component": int(options.min_voxels),
        "filled gaps": int(options.fill_gaps),
        "cut": options.cut,
    }


def _digest(points: np.ndarray) -> str:
    return hashlib.blake2b(np.unique(points, axis=0).tobytes(), digest_size=16).hexdigest()

"""Stage 1: contrast of each voxel to its local background, in units of noise.

`tissue` and `tissue_statistics` find the background tissue, `denoising` takes the noise out,
`background` gives the local background, and `own_background` lowers the contrast of what is its own
background; `vessel_evidence` runs them and returns an `Evidence`, in which `near_click` finds what
lies around a click. The `cuda_*` files do the same on a CUDA device, bit for bit, with kernels in
the `.cu` files; by `DeviceVolume` the host reads from there.
"""

from collections.abc import Callable
from typing import Any

# find_evidence(volume, spacing, first_seed, mask, progress, gpu) -> Evidence
EvidenceFinder = Callable[..., Any]


def evidence_finder(find_evidence: EvidenceFinder | None = None) -> EvidenceFinder:
    """The given function, by default `vessel_evidence`."""
    if find_evidence is not None:
        return find_evidence
    from .vessel_evidence import vessel_evidence

    return vessel_evidence

"""The distances of `distances`, found on the host."""

from typing import Any

from .. import distances


def geodesic_distance(mask: Any, sources: Any, spacing: Any, gpu: Any, progress: Any = None) -> Any:
    """See `distances.geodesic_distance`."""
    found = distances.geodesic_distance(gpu.get(mask), gpu.get(sources), spacing, progress)
    return gpu.put(found)


def add_sources(found: Any, sources: Any, spacing: Any, gpu: Any, progress: Any = None) -> None:
    """See `distances.add_sources`."""
    on_host = gpu.get(found)
    distances.add_sources(on_host, gpu.get(gpu.xp.asarray(sources)), spacing, progress)
    found[...] = gpu.put(on_host)

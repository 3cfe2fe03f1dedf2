"""Names of `distances`."""

from ..distances import (  # noqa: F401
    add_sources,
    geodesic_distance,
    neighbour_steps,
    unit_of,
)

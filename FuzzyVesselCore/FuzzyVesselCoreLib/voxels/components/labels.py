"""Names of `labels`."""

from ..labels import (  # noqa: F401
    CUBE,
    Connectivity,
    component_boxes,
    component_sizes,
    count_components,
    fill_cavities,
    label_components,
)

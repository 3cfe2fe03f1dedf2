"""The folder of a run: filled components and their skeletons, for a run that goes on."""

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.step_folder import StepFolder
from FuzzyVesselCoreLib.translation import tr as _

from ..critical_points.critical_points import KINDS, CriticalPoint
from ..report import ComponentSkeleton

SCALARS = (
    "level_voxels", "joins", "removable", "is_thin", "characteristic", "charge_distance",
    "index_sum", "messages", "device",
)  # fmt: skip
ARRAYS = ("voxels", "positions", "traced")


@dataclass(frozen=True)
class ComponentFolder(StepFolder):
    """Arrays by kind ("filled" or "skeleton") and number of a component."""

    KINDS: ClassVar[tuple[str, ...]] = ("filled", "skeleton")
    MANIFEST: ClassVar[str] = "components.json"

    def put(self, kind: str, key: Any, **arrays: Any) -> None:
        """Keep arrays of a component."""
        try:
            self._write(
                self._place(kind, key).name, lambda file: np.savez_compressed(file, **arrays)
            )
        except OSError as error:
            raise InputError(
                _(
                    "Component {number} cannot be kept in {folder}: {reason}; free some space and "
                    "run the same again, finished components are kept."
                ).format(number=key, folder=self.path, reason=error.strerror or error)
            ) from error

    def put_skeleton(self, number: int, skeleton: ComponentSkeleton) -> None:
        """Keep the skeleton of a component."""
        points = skeleton.critical_points
        self.put(
            "skeleton",
            number,
            **{name: getattr(skeleton, name) for name in ARRAYS},
            scalars=json.dumps({name: getattr(skeleton, name) for name in SCALARS}, default=int),
            kinds=np.array([KINDS.index(point.kind) for point in points], int),
            roots=np.array([point.position for point in points]).reshape(-1, 3),
            is_complex=np.array([np.iscomplexobj(point.eigenvalues) for point in points], bool),
            eigenvalues=np.array([point.eigenvalues for point in points], complex).reshape(-1, 3),
            eigenvectors=np.array([p.eigenvectors for p in points], complex).reshape(-1, 3, 3),
        )

    def skeleton(self, number: int) -> ComponentSkeleton:
        """The kept skeleton of a component."""
        found = self.get("skeleton", number)
        scalars: dict[str, Any] = json.loads(str(found["scalars"]))
        scalars["messages"] = tuple(scalars["messages"])
        points = [
            CriticalPoint(position, KINDS[kind], *_numbers(is_complex, values, vectors))
            for position, kind, is_complex, values, vectors in zip(
                found["roots"], found["kinds"], found["is_complex"],
                found["eigenvalues"], found["eigenvectors"],
            )
        ]  # fmt: skip
        arrays: dict[str, Any] = {name: found[name] for name in ARRAYS}
        return ComponentSkeleton(**arrays, critical_points=points, **scalars)


def _numbers(is_complex: bool, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return arrays if is_complex else tuple(array.real.copy() for array in arrays)

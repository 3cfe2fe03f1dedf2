"""The folder of a run: filled components and their skeletons, for a run that goes on."""

import pickle
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.step_folder import StepFolder
from FuzzyVesselCoreLib.translation import tr as _

from ..report import ComponentSkeleton


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
        self.put("skeleton", number, pickled=np.frombuffer(pickle.dumps(skeleton), np.uint8))

    def skeleton(self, number: int) -> ComponentSkeleton:
        """The kept skeleton of a component."""
        return pickle.loads(self.get("skeleton", number)["pickled"].tobytes())

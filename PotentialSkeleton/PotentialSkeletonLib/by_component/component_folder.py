"""The folder of a run: filled components and their skeletons, for a run that goes on."""

import json
import os
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..component_skeleton import ComponentSkeleton
from ..critical_points.critical_points import KINDS, CriticalPoint

MANIFEST = "components.json"
SCALARS = (
    "level_voxels", "joins", "removable", "is_thin", "characteristic", "charge_distance",
    "index_sum", "messages",
)  # fmt: skip
ARRAYS = ("voxels", "positions", "traced")


@dataclass(frozen=True)
class ComponentFolder:
    """Arrays by kind ("filled" or "skeleton") and number; a file is complete or absent."""

    path: Path

    def begin(self, manifest: dict[str, Any]) -> None:
        """Write what the run is of, or compare it with what is there.

        Raises
        ------
        InputError
            A run of something else was begun here.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        place, text = self.path / MANIFEST, json.dumps(manifest, sort_keys=True)
        if not place.exists():
            if any(self.path.iterdir()):
                raise InputError(
                    _("{folder} holds other files; name a new or an empty folder.").format(
                        folder=self.path
                    )
                )
            place.write_text(text, encoding="utf-8")
        elif place.read_text(encoding="utf-8") != text:
            raise InputError(
                _(
                    "{folder} holds an unfinished run of other labels or options: give the same "
                    "again to go on, or delete the folder to begin anew."
                ).format(folder=self.path)
            )

    def has(self, kind: str, number: int) -> bool:
        """Whether there is a file."""
        return (self.path / f"{kind}-{number}.npz").exists()

    def put(self, kind: str, number: int, **arrays: Any) -> None:
        """Keep arrays of a component."""
        handle, temporary = tempfile.mkstemp(prefix=".part-", dir=self.path)
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez_compressed(file, **arrays)
            os.replace(temporary, self.path / f"{kind}-{number}.npz")
        except OSError as error:
            Path(temporary).unlink(missing_ok=True)
            raise InputError(
                _(
                    "Component {number} cannot be kept in {folder}: {reason}; free some space and "
                    "run the same again, finished components are kept."
                ).format(number=number, folder=self.path, reason=error.strerror or error)
            ) from error

    def get(self, kind: str, number: int) -> dict[str, np.ndarray]:
        """The arrays of a component."""
        place = self.path / f"{kind}-{number}.npz"
        try:
            with np.load(place) as file:  # zip: every array has a checksum
                return {name: file[name] for name in file.files}
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise InputError(
                _(
                    "The intermediate result {place} cannot be read ({reason}): delete this file, "
                    "and run the same again."
                ).format(place=place, reason=error)
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

    def remove(self) -> None:
        """Delete the files of the run, and the folder if nothing else is in it.

        What the run is of goes last: if this is ended, the same run can begin again.
        """
        for name in ("filled-*.npz", "skeleton-*.npz", ".part-*", MANIFEST):
            for place in self.path.glob(name):
                place.unlink()
        if not any(self.path.iterdir()):
            self.path.rmdir()


def _numbers(is_complex: bool, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return arrays if is_complex else tuple(array.real.copy() for array in arrays)

"""The folder of a run over blocks: what its steps have found."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from FuzzyVesselCoreLib.files.step_folder import StepFolder

from .face_graph import FaceGraph
from .partition import Group

FILES = "files"  # in the manifest: names, sizes and times of files
STOP = ".stop-"


@dataclass(frozen=True)
class RunFolder(StepFolder):
    """Face graphs, levels of face voxels and checksums of finished blocks, one file for each.

    And which chunks there were when the run began (`stores`).
    """

    KINDS: ClassVar[tuple[str, ...]] = ("chunks", "faces", "levels", "done")
    MARKS: ClassVar[tuple[str, ...]] = (f"{STOP}*",)

    def continues_with(self, manifest: dict[str, Any]) -> bool:
        """Write what the run is of, or compare it with what is there.

        Returns
        -------
        bool
            Whether the files of the source and the mask are those of the run that was begun here;
            others may hold the same voxels, for example a chunk that was copied again.

        Raises
        ------
        InputError
            As `begin`.
        """
        return self.begin(manifest, FILES).get(FILES) == manifest.get(FILES)

    def put_faces(self, group: Group, graph: FaceGraph) -> None:
        """Keep the face graph of a group."""
        self.put("faces", group, **graph._asdict())

    def faces(self, group: Group) -> FaceGraph:
        """The face graph of a group."""
        return FaceGraph(**self.get("faces", group))

    def put_levels(self, group: Group, levels: np.ndarray) -> None:
        """Keep the final levels of a group's face voxels."""
        self.put("levels", group, levels=levels)

    def levels(self, group: Group) -> np.ndarray:
        """The final levels of a group's face voxels."""
        return self.get("levels", group)["levels"]

    def put_done(self, group: Group, checksum: np.ndarray) -> None:
        """Keep that a block is written, and the checksum of its result."""
        self.put("done", group, checksum=checksum)

    def done(self, group: Group) -> np.ndarray:
        """The checksum of a written block's result."""
        return self.get("done", group)["checksum"]

    def request_stop(self, run: str) -> None:
        """Have the steps of a run end early in other processes."""
        if self.path.is_dir():
            (self.path / f"{STOP}{run}").touch()

    def stop_requested(self, run: str) -> bool:
        """Whether the steps of a run are to end; also if the folder is gone."""
        return (self.path / f"{STOP}{run}").exists() or not self.path.is_dir()

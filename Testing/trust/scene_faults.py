"""Faults of callbacks and of the scene: what a user, or a module, may do while a run goes on."""

from typing import ClassVar

import numpy as np

from .tally import Finding

VESSEL = np.zeros((10, 12, 14), bool)
VESSEL[2:8, 3:9, :] = True
SCAN = np.where(VESSEL, 200, 100) + np.random.default_rng(2).normal(0, 5, VESSEL.shape)
SCAN = SCAN.astype(np.int16)


class Boom(Exception):
    """What a callback raises that has nothing to do with us."""


def cases():
    """Each action at some moments of a run of each module."""
    for run in (Segmenting, Skeletonizing):
        for name in run.actions:
            # The last call of the callback is the moment before the scene is written.
            for moment in ("first", "middle", "last"):
                yield f"scene: {name}", _bear, (run, name, moment)


class Run:
    """One module's run on a scene of its own."""

    def __init__(self):
        import slicer

        slicer.mrmlScene.Clear(False)
        self.nodes = self.add_nodes()

    def boom(self):
        raise Boom

    def cancel(self):
        return False

    def close(self):
        import slicer

        slicer.mrmlScene.Clear(False)

    def replace(self):
        """Another scene whose nodes have the same IDs."""
        self.close()
        self.add_nodes()

    def second_run(self):
        self.work(lambda fraction: True)

    def remove(self, name):
        import slicer

        slicer.mrmlScene.RemoveNode(self.nodes[name])

    def lose_image(self):
        self.nodes["volume"].SetAndObserveImageData(None)

    def shrink_image(self):
        import slicer

        slicer.util.updateVolumeFromArray(self.nodes["volume"], np.zeros((2, 3, 4), np.uint8))


class Segmenting(Run):
    """FuzzyConnectedGPULogic.segment with all outputs given."""

    actions: ClassVar[dict] = {
        "the callback raises": Run.boom,
        "cancelled": Run.cancel,
        "scene closed": Run.close,
        "scene replaced": Run.replace,
        "a second run": Run.second_run,
        "volume removed": lambda run: run.remove("volume"),
        "seeds removed": lambda run: run.remove("seeds"),
        "mask removed": lambda run: run.remove("mask"),
        "labelmap removed": lambda run: run.remove("labelmap"),
        "fuzzy scene removed": lambda run: run.remove("scene"),
        "segmentation removed": lambda run: run.remove("segmentation"),
        "volume loses its image": Run.lose_image,
        "volume gets another image": Run.shrink_image,
    }

    def add_nodes(self):
        import slicer

        from support.mrml_cases import add_seeds, add_volume

        volume = add_volume(SCAN)
        mask = add_volume(np.ones(SCAN.shape, np.uint8), kind="vtkMRMLLabelMapVolumeNode")
        new = slicer.mrmlScene.AddNewNodeByClass
        return {
            "volume": volume,
            "seeds": add_seeds(volume, [(5, 6, 3)]),
            "mask": mask,
            "labelmap": new("vtkMRMLLabelMapVolumeNode"),
            "scene": new("vtkMRMLScalarVolumeNode"),
            "segmentation": new("vtkMRMLSegmentationNode"),
        }

    def work(self, progress):
        from FuzzyConnectedGPU import FuzzyConnectedGPULogic

        return FuzzyConnectedGPULogic().segment(
            self.nodes["volume"],
            self.nodes["seeds"],
            maskNode=self.nodes["mask"],
            labelmapNode=self.nodes["labelmap"],
            sceneVolumeNode=self.nodes["scene"],
            segmentationNode=self.nodes["segmentation"],
            threshold=0.01,
            device="cpu",
            progress=progress,
        )

    def check_result(self, result):
        import slicer

        labels = slicer.util.arrayFromVolume(result.labelmapNode)
        if labels.shape != SCAN.shape or not labels[VESSEL].mean() > 0.9:
            raise Finding("the labelmap is not the vessel")


class Skeletonizing(Run):
    """PotentialSkeletonLogic.extract with new outputs, and a labelmap that is given."""

    actions: ClassVar[dict] = {
        "the callback raises": Run.boom,
        "cancelled": Run.cancel,
        "scene closed": Run.close,
        "scene replaced": Run.replace,
        "a second run": Run.second_run,
        "labelmap removed": lambda run: run.remove("volume"),
        "output removed": lambda run: run.remove("labelmap"),
        "labelmap loses its image": Run.lose_image,
        "labelmap gets another image": Run.shrink_image,
    }

    def add_nodes(self):
        import slicer

        from support.mrml_cases import add_volume

        volume = add_volume(VESSEL.astype(np.uint8), kind="vtkMRMLLabelMapVolumeNode")
        output = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLLabelMapVolumeNode")
        return {"volume": volume, "labelmap": output}

    def work(self, progress):
        from PotentialSkeleton import PotentialSkeletonLogic

        return PotentialSkeletonLogic().extract(
            self.nodes["volume"],
            labelmapNode=self.nodes["labelmap"],
            device="cpu",
            progress=progress,
        )

    def check_result(self, result):
        if not result.skeleton.branches:
            raise Finding("the tube has no centreline")


def _bear(kind, name, moment):
    from fuzzy_vessel.slicer_host import headless
    from FuzzyVesselCoreLib.errors import FuzzyVesselError
    from support.mrml_cases import scene_text

    headless.start()
    place = {"first": 0, "middle": _calls(kind) // 2, "last": _calls(kind) - 1}[moment]
    run, calls, after = kind(), [], []

    def progress(fraction):
        calls.append(fraction)
        if len(calls) - 1 != place:
            return True
        after.append(scene_text())
        carry_on = kind.actions[name](run)
        after[:] = [scene_text()]
        return carry_on is not False

    error = None
    with headless.vtk_messages():
        try:
            run.check_result(run.work(progress))
        except (FuzzyVesselError, Boom) as raised:
            error = raised
    where = f"{kind.__name__}, {name} at the {moment} moment"
    if not after:
        raise Finding(f"{where}: it did not happen")
    if error is not None and scene_text() != after[0]:
        raise Finding(f"{where}: the run failed ({error}) and has changed the scene")
    if name == "the callback raises" and not isinstance(error, Boom):
        raise Finding(f"{where}: its error became {error!r}")
    if name == "a second run" and error is not None:
        raise Finding(f"{where}: {error}")
    again = kind()
    again.check_result(again.work(lambda fraction: True))


_known_calls = {}


def _calls(kind):
    """How often a run calls its callback, but for the first in the process, which waits."""
    if kind not in _known_calls:
        kind().work(lambda fraction: True)
        calls = []
        run = kind()
        run.work(lambda fraction: not calls.append(fraction))
        _known_calls[kind] = len(calls)
    return _known_calls[kind]

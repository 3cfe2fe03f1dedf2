"""Memory: many runs do not let the process grow; a run that gets none leaves things as before."""

import gc
import warnings

import numpy as np

from FuzzyConnectedGPULib import connectedness
from FuzzyVesselCoreLib.errors import DeviceError
from PotentialSkeletonLib import skeletonize

from .no_memory import allocations, failing_allocation
from .tally import Finding

# Runs that fill caches and pools; after them, the memory is looked at every so many runs.
FIRST_RUNS, LOOK_EVERY = 40, 10
# Pages that an allocator keeps come and go: what may be between two looks far apart.
SLACK = 24 << 20
# Every so many cases one of the runs gets no memory at one moment.
FAIL_EVERY = 2


class Part:
    """Even cases are runs of both modules whose memory is compared; odd ones fail at an allocation.

    On the CPU, with Slicer's libraries there, the runs are those of the modules on a MRML scene.
    """

    def __init__(self, options):
        self._device = options.device
        self._runs = 0
        self._looks = []
        self._work = None

    def __enter__(self):
        self._work = OnCard() if self._device == "cuda" else _on_scene() or OnArrays("cpu")
        self._work.run()
        self._places = self._work.places()
        return self

    def __exit__(self, *_):
        pass

    def check(self, number):
        """One run; what it was, or `Finding` for growth or for a failure that leaves traces."""
        if number % FAIL_EVERY:
            place = number // FAIL_EVERY % self._places
            self._work.fail(place)
            return "without memory at one moment"
        self._work.run()
        self._runs += 1
        if self._runs >= FIRST_RUNS and self._runs % LOOK_EVERY == 0:
            self._look()
        return "run"

    def notes(self):
        """How far the memory went after the first runs, and how many allocations a run has."""
        yield f"{self._runs} runs on {self._work.name}; {self._places} allocations of one can fail"
        if self._looks:
            grown = self._looks[-1] - self._looks[0]
            yield f"{grown / 2**20:+.1f} MiB from run {FIRST_RUNS} to the last"

    def _look(self):
        gc.collect()
        self._looks.append(self._work.held())
        # The least of the last looks: what is held for good.
        now = min(self._looks[-3:])
        if now > self._looks[0] + SLACK:
            grown = (now - self._looks[0]) >> 20
            raise Finding(f"{grown} MiB more after {self._runs} runs than after {FIRST_RUNS}")


class OnArrays:
    """The algorithms on arrays."""

    def __init__(self, device):
        self.name = device
        self.device = device
        shape = (16, 20, 24)
        self.solid = np.zeros(shape, bool)
        self.solid[4:12, 5:14, 2:22] = True
        noise = np.random.default_rng(4).normal(0, 5, shape)
        self.volume = (np.where(self.solid, 200, 100) + noise).astype(np.int16)
        self._wanted = None

    def results(self):
        """One run of both algorithms."""
        scene = connectedness(self.volume, [[8, 9, 10]], device=self.device)
        skeleton = skeletonize(self.solid, device=self.device)
        return scene.values, skeleton.voxels

    def run(self):
        """A run whose results must be those of the first."""
        found = self.results()
        if self._wanted is None:
            self._wanted = found
        if not self._as_first(found):
            raise Finding("a later run gives another result")

    def _as_first(self, found):
        return all(np.array_equal(a, b) for a, b in zip(found, self._wanted))

    def places(self):
        """How many allocations of a run can be made to fail."""
        with allocations() as counted:
            self.results()
        return counted.count

    def fail(self, place):
        """Let one allocation fail; the next run must be as ever."""
        before = self.state()
        with failing_allocation(place) as failing:
            try:
                found = self.results()
            except MemoryError:
                found = self._wanted
            except DeviceError as error:
                if "memory does not suffice" not in str(error):
                    raise Finding(f"allocation {place}: {error}") from error
                found = self._wanted
            except Exception as error:
                raise Finding(f"allocation {place}: {type(error).__name__}: {error}") from error
        if not failing.happened:
            raise Finding(f"allocation {place}: it did not happen")
        if not self._as_first(found):
            raise Finding(f"allocation {place}: a wrong result without an error")
        if found is self._wanted and self.state() != before:
            raise Finding(f"allocation {place}: the run failed and has changed the scene")
        self.run()

    def state(self):
        """What a failed run must leave as it is."""
        return None

    def held(self):
        """Bytes that the process holds."""
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmRSS"))


class OnScene(OnArrays):
    """The modules on a MRML scene."""

    def __init__(self):
        super().__init__("cpu")
        self.name = "a MRML scene"
        from fuzzy_vessel.slicer_host import headless
        from support.mrml_cases import add_seeds, add_volume

        self._application = headless.start()
        self._application.clear()
        self._volume = add_volume(self.volume)
        self._seeds = add_seeds(self._volume, [(8, 9, 10)])
        kind = "vtkMRMLLabelMapVolumeNode"
        self._labelmap = add_volume(self.solid.astype(np.uint8), kind=kind)
        self._own = self._present()

    def results(self):
        import slicer

        from FuzzyConnectedGPU import FuzzyConnectedGPULogic
        from PotentialSkeleton import PotentialSkeletonLogic

        segmentation = FuzzyConnectedGPULogic().segment(
            self._volume, self._seeds, threshold=0.01, device="cpu"
        )
        values = slicer.util.arrayFromVolume(segmentation.sceneNode).copy()
        self._remove_results()
        skeleton = PotentialSkeletonLogic().extract(self._labelmap, device="cpu")
        return values, skeleton.skeleton.voxels

    def run(self):
        super().run()
        self._remove_results()

    def places(self):
        count = super().places()
        self._remove_results()
        return count

    def fail(self, place):
        try:
            super().fail(place)
        finally:
            self._remove_results()

    def state(self):
        from support.mrml_cases import scene_text

        return scene_text()

    def _present(self):
        import slicer

        return set(slicer.util.getNodesByClass("vtkMRMLNode"))

    def _remove_results(self):
        import slicer

        for node in self._present() - self._own:
            slicer.mrmlScene.RemoveNode(node)


class OnCard(OnArrays):
    """The algorithms on the card, whose allocations fail; its memory has to come back."""

    def __init__(self):
        super().__init__("cuda")
        self.name = "the card"

    def places(self):
        from .no_memory import card_allocations

        with card_allocations() as counted:
            self.results()
        return counted.count

    def fail(self, place):
        """By "cuda" an error that says so, by "auto" a result; the card's memory is back."""
        from .no_memory import failing_card_allocation

        before = self.on_card()
        with failing_card_allocation(place), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.results()
            except DeviceError as error:
                if "too little memory" not in str(error):
                    raise Finding(f"allocation {place}: {error}") from error
        self.device = "auto"
        with failing_card_allocation(place), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.results()
            finally:
                self.device = "cuda"
        kept = before - self.on_card()
        if kept > SLACK:
            raise Finding(f"allocation {place}: {kept} bytes of the card are kept")
        self.run()

    def held(self):
        """Bytes of the process and of the card."""
        import cupy

        return super().held() + cupy.cuda.Device(0).mem_info[1] - self.on_card()

    def on_card(self):
        """Bytes that are free on the card."""
        import cupy

        return cupy.cuda.Device(0).mem_info[0]


def _on_scene():
    from importlib.util import find_spec

    return OnScene() if find_spec("slicer") else None

"""A child process that reads hostile files, so that a crash of a C++ library is seen from outside.

Each line on standard input is a case (JSON); each line on the file descriptor that the argument
names says what became of it.
"""

import io
import json
import os
import re
import resource
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from no_rendering import no_rendering

# What a case may need above the size of the voxels themselves, and how often it may copy these.
ROOM, COPIES = 192 << 20, 8
# What the whole process may reserve beyond what the libraries took at the start.
RESERVE = 3 << 30
# What the first whole run loads and compiles, in voxels' bytes.
LIBRARIES = 32 << 20
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
LONGEST_MESSAGE = 4000


def main():
    """Answer case after case until standard input ends."""
    answers = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    from fuzzy_vessel import segmenting, skeletonizing  # noqa: F401
    from fuzzy_vessel.slicer_host import headless

    application = headless.start()
    warm_up()
    limit = status("VmSize") + RESERVE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    print(json.dumps({"ready": True}), file=answers)
    for line in sys.stdin:
        case = json.loads(line)
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak of the case before
        before, start = status("VmRSS"), time.process_time()
        outcome, told, voxel_bytes = bear(case)
        grown = status("VmHWM") - before
        allowed = ROOM + COPIES * voxel_bytes
        if grown > allowed and outcome != "finding":
            outcome, told = "finding", f"{grown >> 20} MiB more memory for {told}"
        application.clear()
        answer = {"outcome": outcome, "told": told, "seconds": time.process_time() - start}
        print(json.dumps(answer), file=answers)


def warm_up():
    """Compile and load what the first run would, which is no memory of a case."""
    import numpy as np

    from FuzzyConnectedGPULib.segmentation import segment
    from PotentialSkeletonLib import skeletonize

    volume = np.random.default_rng(0).normal(100, 9, (4, 5, 6))
    for kind in (np.int16, np.uint8, np.float32):
        segment(volume.astype(kind), [[2, 2, 2]], threshold=0.5, device="cpu")
    skeletonize(volume > 95, device="cpu")


def bear(case):
    """Read the case and work with it; the outcome, what was told, and the bytes of its voxels."""
    from FuzzyVesselCoreLib.errors import FuzzyVesselError

    reader = READERS[case["kind"]]
    try:
        return reader(case)
    except FuzzyVesselError as error:
        return check_message(str(error), case), str(error)[:200], 0
    except Exception as error:
        import traceback

        place = traceback.format_tb(error.__traceback__)[-1].strip().replace("\n", " ")
        return "finding", f"{type(error).__name__}: {str(error)[:300]} ({place})", 0


def check_message(message, case):
    """Whether a refusal names the culprit, in one readable line of sensible length."""
    if CONTROL.search(message) or len(message) > LONGEST_MESSAGE:
        return "finding"
    known = Path(case["path"]).name in message or case.get("read")
    return "refused" if known else "finding"


def read_volume(case):
    """Read a volume; segment it."""
    from fuzzy_vessel.reading import formats, volumes
    from FuzzyConnectedGPU import FuzzyConnectedGPULogic
    from FuzzyVesselCoreLib.mrml.new_points import add_points

    path = Path(case["path"])
    node = volumes.read_volume(path, case["frame"])
    case["read"] = True
    sizes = node.GetImageData().GetDimensions()
    if path.is_file() and tuple(sizes) != tuple(formats.read_header(path).sizes):
        return "finding", f"read with the sizes {sizes}, unlike the header's", 0
    import numpy as np

    middle = np.array([[size // 2 for size in sizes[::-1]]])
    seeds = add_points(middle, node, "seeds", ["a"])
    FuzzyConnectedGPULogic().segment(node, seeds, threshold=0.5, device="cpu")
    return "read", f"{sizes}", voxel_bytes(node)


def read_labelmap(case):
    """Read a labelmap; take its voxels for the skeleton."""
    from fuzzy_vessel.reading import labelmaps
    from PotentialSkeleton import PotentialSkeletonLogic

    node, labels = labelmaps.read_labelmap(Path(case["path"]))
    case["read"] = True
    PotentialSkeletonLogic().extract(node, device="cpu")
    return "read", f"{labels.size} labels", voxel_bytes(node)


def read_mask(case):
    """Read a mask."""
    from fuzzy_vessel.reading import volumes

    node = volumes.read_mask(Path(case["path"]))
    return "read", "a mask", voxel_bytes(node)


def read_seeds(case):
    """Read a list of points, and go through its points."""
    from fuzzy_vessel.reading import seeds

    node = seeds.read_seeds(Path(case["path"]))
    for index in range(node.GetNumberOfControlPoints()):
        node.GetNthControlPointPositionWorld(index)
    return "read", f"{node.GetNumberOfControlPoints()} points", 0


def read_scene(case):
    """Load a scene as Slicer's Python console does."""
    import slicer

    try:
        loaded = slicer.util.loadScene(case["path"], {})
    except RuntimeError as error:  # how slicer.util says that a file cannot be loaded
        return "refused", str(error)[:200], 0
    return ("read" if loaded is not False else "refused"), "a scene", 0


def run_program(case):
    """The whole command line, except for the rendering in 3D."""
    from fuzzy_vessel.__main__ import main as program

    out = Path(case["path"]).parents[1] / "out"
    arguments = [case["command"], case["path"], "--device", "cpu", "--out", str(out)]
    arguments += ["--seed", "1,1,1"] if case["command"] == "segment" else []
    nowhere = io.StringIO()
    with no_rendering(), redirect_stdout(nowhere), redirect_stderr(nowhere):
        code = program(arguments)
    if code not in (0, 2):
        return "finding", f"exit code {code}", 0
    return ("read" if code == 0 else "refused"), f"exit code {code}", LIBRARIES


READERS = {
    "volume": read_volume,
    "labelmap": read_labelmap,
    "mask": read_mask,
    "seeds": read_seeds,
    "scene": read_scene,
    "program": run_program,
}


def voxel_bytes(node):
    """Bytes of a node's image."""
    return node.GetImageData().GetActualMemorySize() << 10


def status(name):
    """A number of bytes from /proc/self/status."""
    text = Path("/proc/self/status").read_text()
    return int(re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)[1]) << 10


if __name__ == "__main__":
    main()

"""Seconds from what a person does in the connectedness panel to the result's nodes, by stages.

    python Testing/benchmarks/apply_to_picture.py [DATA_FOLDER] [--repeats 3]

The liver CT of DATA_FOLDER (FUZZY_VESSEL_DATA, else ../shared/data beside the project), or without
one the liver phantom of its size, in the real panel on real MRML nodes (slicer-core), with Slicer's
widgets emulated: without the drawing of the views. A row is a function of the project or of MRML,
without those of the other rows that it calls; "else" is what no row has. Seconds, and seconds of
this program's processors, which others on the machine do not disturb: of each the median. The
3D surface is made by a thread: "window free" is the time in which the window waits for it and
handles events.
"""

import argparse
import functools
import importlib
import json
import os
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from skeletons import data_folder

from support.mrml_cases import add_seeds, add_volume

CT = "ircadb01_01_ct.nrrd"
FIRST, FURTHER = 0, 1  # of the scan's seeds: two places in the portal vein
THRESHOLDS = (0.55, 0.6, 0.45, 0.5, 0.65, 0.7)
SURFACE = "FuzzyConnectedGPUPanel.following.result_surface"
FREE = "surface: by its thread, window free"
# Stage -> functions (module, name, or module, class, name).
STAGES = {
    "connectedness": [("FuzzyConnectedGPUMRML.segmenting", "segment_arrays")],
    "voxels of the volume read": [("FuzzyVesselCoreLib.mrml.reading", "voxels_of")],
    "labels of a threshold": [("FuzzyConnectedGPUMRML.segmenting", "binarize")],
    "range of the map": [("FuzzyConnectedGPUMRML.segmenting", "scene_values")],
    "millilitres of the labels": [("FuzzyConnectedGPUMRML.segmenting", "_millilitres")],
    "images of labels and map": [("FuzzyVesselCoreLib.mrml.outputs", "image_from_array")],
    "segment made": [("FuzzyVesselCoreLib.mrml.outputs", "new_segment")],
    "volume nodes filled": [("FuzzyVesselCoreLib.mrml.outputs", "Writing", "fill")],
    "segment put": [("FuzzyVesselCoreLib.mrml.outputs", "put_segment")],
    "surface: voxels read": [(SURFACE, "surface_input")],
    "surface: shown": [
        (SURFACE, "polydata_of"),
        (SURFACE, "set_surface"),
        (SURFACE, "drop_surface"),
    ],
    "surface: last one shown": [(SURFACE, "put_surface")],
    "undo state": [("FuzzyConnectedGPUPanel.first_view.click_undo", "ClickUndo", "react")],
    "parameter node and panel": [("FuzzyVesselCoreLib.widgets.module_panel", "Panel", "update")],
    "volume curve": [("FuzzyConnectedGPUMRML.volume_curve", "volume_curve")],
    "labelled volume": [
        ("FuzzyConnectedGPUPanel.first_view.threshold_section", "labelled_millilitres")
    ],
    "plot": [("FuzzyConnectedGPUPanel.plots", "VolumePlot", "show_curve")],
    "inputs as text": [("FuzzyConnectedGPUMRML.run_inputs", "inputs_text")],
    "views fitted": [("FuzzyConnectedGPUPanel.connectedness_panel", "fit_views")],
}


class Stages:
    """Seconds of each stage, without those of the stages that it calls."""

    def __init__(self):
        self._open, self.found = [], {}
        for stage, functions in STAGES.items():
            for path, *names in functions:
                owner = importlib.import_module(path)
                for name in names[:-1]:
                    owner = getattr(owner, name)
                setattr(owner, names[-1], self._timed(stage, getattr(owner, names[-1])))

    def _timed(self, stage, function):
        @functools.wraps(function)
        def timed(*arguments, **options):
            return self.measure(stage, lambda: function(*arguments, **options))

        return timed

    def measure(self, stage, work):
        """What `work` returns; its seconds are those of the stage."""
        self._open.append([perf_counter(), process_time(), 0.0, 0.0])
        try:
            return work()
        finally:
            *begin, inner, inner_cpu = self._open.pop()
            taken = perf_counter() - begin[0], process_time() - begin[1]
            sums = self.found.setdefault(stage, [0.0, 0.0])
            for n, called in enumerate((inner, inner_cpu)):
                sums[n] += taken[n] - called
                if self._open:
                    self._open[-1][2 + n] += taken[n]

    def restart(self):
        """What came before was preparation: it counts for no stage."""
        self.found.clear()
        self._open[:] = [[perf_counter(), process_time(), 0.0, 0.0] for _ in self._open]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", help="with the scan (FUZZY_VESSEL_DATA)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file, too")
    options = parser.parse_args()
    found = measured(data_folder(options.folder), options.repeats)
    for action, runs in found.items():
        print(f"\n{action}")
        for stage in dict.fromkeys(stage for run in runs for stage in run):
            wall, cpu = (median(run.get(stage, (0, 0))[n] for run in runs) for n in range(2))
            if max(wall, cpu) >= 0.002:
                print(f"  {wall:7.3f} s  {cpu:7.3f} CPU s  {stage}")
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1), encoding="utf-8")


def measured(folder, repeats):
    """Action -> for each run the stages' seconds and processor seconds."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from emulators.qt.application import install

    install()
    from emulators.qt.panel import Panel

    volume, spacing, clicks = scan(folder)
    errors = []
    panel = Panel("FuzzyConnectedGPU", errors)
    geometry = np.diag([-spacing[2], -spacing[1], spacing[0], 1.0])
    node = add_volume(volume, geometry)
    panel.parameters.inputVolume = node
    panel.parameters.seeds = add_seeds(node, clicks[:1], "seeds")
    panel.parameters.autoUpdate = False
    panel.process_events()
    panel.click("applyButton")  # compiles, and makes the nodes
    stages, found = Stages(), {}
    actions = list(acts(panel, node, clicks, stages))
    for _ in range(repeats):
        for name, act in actions:
            stages.found = {}
            stages.measure("else", act)
            sums = [sum(stage[n] for stage in stages.found.values()) for n in range(2)]
            found.setdefault(name, []).append({"all": sums, **stages.found})
    if errors:
        raise errors[0]
    panel.close()
    return found


def acts(panel, node, clicks, stages):
    """Names of what a person does, and functions that do it."""
    import slicer

    surface = panel.widget.panel.display.surface
    thresholds = iter(THRESHOLDS * 1000)

    def settle():
        stages.measure(FREE, until_it_is_there)

    def until_it_is_there():
        panel.process_events()
        while surface.waits:
            panel.process_events()

    def another_volume():
        node.GetImageData().Modified()  # nothing of the run before is kept
        panel.widget.panel.logic.kept.__init__()
        panel.click("applyButton")

    def new_nodes():
        for node in (panel.parameters.sceneVolume, panel.parameters.labelmap):
            slicer.mrmlScene.RemoveNode(node)
        slicer.mrmlScene.RemoveNode(panel.parameters.segmentation)
        panel.process_events()
        stages.restart()
        panel.click("applyButton")

    def further_click():
        seeds = panel.parameters.seeds
        if seeds.GetNumberOfControlPoints() > 1:
            seeds.RemoveNthControlPoint(1)
            panel.click("applyButton")
            settle()
            stages.restart()
        seeds.AddControlPointWorld(add_seeds(node, clicks[1:2]).GetNthControlPointPositionWorld(0))
        panel.click("applyButton")

    def release():
        panel.ui.thresholdSpinBox.value = next(thresholds)
        panel.process_events()

    panel.parameters.show3D = False
    settle()

    def show_3d():
        panel.parameters.show3D = not panel.parameters.show3D
        settle()

    def with_surface(act):
        def acted():
            act()
            settle()

        return acted

    def all_anew():
        surface._last.clear()  # else the surface of the same voxels would be kept
        panel.parameters.segmentation.RemoveClosedSurfaceRepresentation()
        stages.restart()
        another_volume()

    yield "Apply, nothing kept: slices", another_volume
    yield "Apply, outputs anew: slices", new_nodes
    yield "Further click and Apply: slices", further_click
    yield "Threshold released: slices", release
    yield "Show in 3D", show_3d
    yield "Threshold released: slices and 3D", with_surface(release)
    yield "Apply, nothing kept: slices and 3D", with_surface(all_anew)
    yield "Hide in 3D", show_3d


def scan(folder):
    """Voxels (K, J, I), spacing (K, J, I) and clicks of the CT, or of the phantom."""
    from fuzzy_vessel.reading.formats.nrrd import read_voxels
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    if folder is None:
        phantom = liver_phantom((129, 512, 512))
        return phantom.volume, phantom.spacing, phantom.seeds[[FIRST, FURTHER]]
    voxels, spacing = read_voxels(folder / CT)
    seeds = json.loads((folder / "seeds.json").read_text(encoding="utf-8"))[CT]["seeds"]
    return voxels, spacing, [seeds[n]["ijk"][::-1] for n in (FIRST, FURTHER)]


if __name__ == "__main__":
    main()

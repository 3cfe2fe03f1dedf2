"""Section Input: the volume."""

from typing import Any

import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from FuzzyConnectedGPUMRML.views import composites, shown_volume
from FuzzyVesselCoreLib.mrml.ownership import KIND


class InputSection:
    """Which volume; the one in the slices is chosen until somebody chooses."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._tooltip = self.ui.inputSelector.toolTip
        self._observers = VTKObservationMixin()
        self._chosen = False  # once, in this scene: a volume that is removed is not replaced

    def watch_slices(self, on: bool) -> None:
        """While the module is open, the first volume that the slices show is chosen."""
        self._observers.removeObservers()
        if on:
            scene = slicer.mrmlScene
            self._observers.addObserver(scene, scene.NodeAddedEvent, self._on_node_added)
            for composite in composites():
                self._observers.addObserver(composite, vtk.vtkCommand.ModifiedEvent, self._look)
            self._look()

    @vtk.calldata_type(vtk.VTK_OBJECT)
    def _on_node_added(self, caller: Any, event: Any, node: Any) -> None:
        if node.IsA("vtkMRMLSliceCompositeNode"):
            self._observers.addObserver(node, vtk.vtkCommand.ModifiedEvent, self._look)
        elif node.IsA("vtkMRMLVolumeNode"):
            self._panel.update_soon()

    def _look(self, caller: Any = None, event: Any = None) -> None:
        parameters, volume = self._panel.parameters, shown_volume()
        if parameters is None or self._chosen or parameters.inputVolume is not None:
            return
        if self._fits(volume):
            parameters.inputVolume = volume

    def _fits(self, node: Any) -> bool:
        return self._panel.has_voxels(node) and node.GetAttribute(KIND) is None

    def candidates(self) -> int:
        """How many volumes there are to choose from."""
        nodes = slicer.util.getNodesByClass("vtkMRMLScalarVolumeNode")
        return sum(self._fits(node) and not node.IsA("vtkMRMLLabelMapVolumeNode") for node in nodes)

    def react(self, parameters: Any) -> None:
        """Remember that a volume was chosen."""
        self._chosen = self._chosen or parameters.inputVolume is not None

    def show(self, parameters: Any) -> None:
        volume, text = parameters.inputVolume, self._tooltip
        if self._panel.has_voxels(volume):
            size = " \u00d7 ".join(str(n) for n in volume.GetImageData().GetDimensions())
            spacing = " \u00d7 ".join(f"{mm:.3g}" for mm in volume.GetSpacing())
            described = _("{size} voxels of {spacing} mm").format(size=size, spacing=spacing)
            text = f"{text}\n{described}"
        self.ui.inputSelector.toolTip = text

    def forget(self) -> None:
        """The volume is gone."""
        self._chosen = False

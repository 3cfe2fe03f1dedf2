"""Section Input: which volume, and what belongs to each."""

from typing import Any

import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from FuzzyConnectedGPUMRML import volume_state
from FuzzyConnectedGPUMRML.vessels import vessels_of
from FuzzyConnectedGPUMRML.views import composites, shown_volume
from FuzzyVesselCoreLib.mrml.ownership import KIND

from .placing import list_of


class InputSection:
    """The volume: the one in the slices is chosen until somebody chooses.

    Points, threshold and automatic update belong to their volume and come and go with it; choosing
    a volume starts no run. Results of the module are not offered.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._tooltip = self.ui.inputSelector.toolTip
        self._observers = VTKObservationMixin()
        self._chosen = False  # once, in this scene: a volume that is removed is not replaced
        self._known: tuple = (None, {}, [])  # the volume, its values, its vessels

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

    def shows_another(self, volume: Any) -> bool:
        """Whether a volume of a slice is another one than that of the panel."""
        own = self._panel.parameters and self._panel.parameters.inputVolume
        another = self._fits(volume) and not volume.IsA("vtkMRMLLabelMapVolumeNode")
        return another and volume is not own

    def add_to(self, volume: Any, name: str, position: Any) -> None:
        """Add a point to a list; the volume that its slice shows is chosen, with its own lists."""
        panel, another = self._panel, self.shows_another(volume)
        if another:
            panel.parameters.inputVolume = volume
        list_of(panel.parameters, name).AddControlPointWorld(position)
        if another:
            text = _("The volume is now {name}, which the slice shows.")
            panel.say(text.format(name=volume.GetName()))

    def react(self, parameters: Any) -> None:
        """Where another volume was chosen, its own points and values take the earlier ones' place.

        What was changed together with the volume, as by a script, stays.
        """
        self._chosen = self._chosen or parameters.inputVolume is not None
        volume, (before, values, lists) = parameters.inputVolume, self._known
        names = (*volume_state.NODES, *volume_state.VALUES)
        if volume is None:
            return
        if before is not None and volume is not before:
            if slicer.mrmlScene.IsNodePresent(before):
                volume_state.store(before, values, lists)
            same = tuple(name for name in names if getattr(parameters, name) == values[name])
            volume_state.restore(parameters, volume, same)
            self._panel.volume_was_changed()
        values = {name: getattr(parameters, name) for name in names}
        self._known = volume, values, vessels_of(parameters)

    def show(self, parameters: Any) -> None:
        volume, text = parameters.inputVolume, self._tooltip
        if self._panel.has_voxels(volume):
            size = " \u00d7 ".join(str(n) for n in volume.GetImageData().GetDimensions())
            spacing = " \u00d7 ".join(f"{mm:.3g}" for mm in volume.GetSpacing())
            described = _("{size} voxels of {spacing} mm").format(size=size, spacing=spacing)
            text = f"{text}\n{described}"
        self.ui.inputSelector.toolTip = text
        nodes = slicer.util.getNodesByClass("vtkMRMLScalarVolumeNode")
        results = [
            each.GetID()
            for each in nodes
            if each.GetAttribute(KIND) is not None and each is not volume
        ]
        offered = self.ui.inputSelector.sortFilterProxyModel()
        if list(offered.hiddenNodeIDs) != results:
            offered.hiddenNodeIDs = results

    def forget(self) -> None:
        """The volume is gone."""
        self._chosen, self._known = False, (None, {}, [])

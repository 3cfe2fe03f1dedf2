"""Section Output: where results go, how they are shown, and how two of them differ."""

import qt
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import slice_layers
from FuzzyVesselCommon.errors import InputError
from FuzzyVesselCommon.mrml_changes import all_or_nothing

from .plots import millilitres
from .region_section import fill

SURFACE_WAIT = 250  # milliseconds of rest before the surface is made


class OutputSection:
    """Nodes that take the result."""

    def __init__(self, panel):
        self._panel, self.ui = panel, panel.ui
        self._segments, self._overlay = [], None
        self._timer = qt.QTimer()
        self._timer.setSingleShot(True)
        self._timer.setInterval(SURFACE_WAIT)
        self._timer.connect("timeout()", self.make_surface)
        self.ui.segmentComboBox.connect("activated(int)", self._choose_segment)
        self.ui.differenceButton.connect("clicked()", self.difference)
        self._say("")

    # --- what runs do

    def segment_to_write(self, parameters):
        """The segment that is overwritten because the user chose it; else an empty text."""
        node, wanted = parameters.segmentation, parameters.segmentID
        if node is None or not wanted or node.GetSegmentation().GetSegment(wanted) is None:
            return ""
        return wanted

    def written(self, parameters, result):
        """Show a result that was written just now."""
        parameters.labelmap = result.labelmapNode
        if result.sceneNode is not None:
            parameters.sceneVolume = result.sceneNode
        if result.segmentID:
            # The segment is drawn already; the labelmap over it would hide its outline.
            slice_layers.hide_labelmap(result.labelmapNode)
            if parameters.show3D:
                self._timer.start()
        else:
            slice_layers.show_labelmap(result.labelmapNode)

    def make_surface(self):
        """Make the surface of the segmentation for the 3D views, or take it away."""
        parameters = self._panel.parameters
        if parameters is None or parameters.segmentation is None:
            return
        if self._panel.seeds.dragging or self._panel.running.active:
            self._timer.start()
        elif parameters.show3D:
            parameters.segmentation.CreateClosedSurfaceRepresentation()
        else:
            parameters.segmentation.RemoveClosedSurfaceRepresentation()

    # --- what the user does

    def difference(self):
        """Make or fill the labelmap of where two results differ, and show it."""
        parameters = self._panel.parameters
        try:
            found = self._panel.logic.difference(
                parameters.firstResult,
                parameters.secondResult,
                parameters.inputVolume,
                parameters.differenceLabelmap,
            )
        except InputError as error:
            self._say(str(error))
            return
        parameters.differenceLabelmap = found.labelmapNode
        slice_layers.show_labelmap(found.labelmapNode)
        text = _(
            "In both {both}, only in the first {first} (orange), only in the second {second} "
            "(blue); Dice {dice:.3f}"
        )
        self._say(
            text.format(
                both=millilitres(found.bothMl),
                first=millilitres(found.onlyFirstMl),
                second=millilitres(found.onlySecondMl),
                dice=found.dice,
            )
        )

    def _say(self, text):
        self.ui.differenceNoteLabel.text = text
        self.ui.differenceNoteLabel.setVisible(bool(text))

    def _choose_segment(self, index):
        if self._panel.parameters is not None:
            self._panel.parameters.segmentID = self._segments[index][0]

    # --- what is shown

    def show(self, parameters):
        self._show_segments(parameters)
        self._show_overlay(parameters)
        self._show_difference(parameters)
        segmentation = parameters.segmentation
        if segmentation is not None and not self._timer.active:
            inner = segmentation.GetSegmentation()
            surface = inner.ContainsRepresentation("Closed surface")
            if inner.GetNumberOfSegments() and surface != parameters.show3D:
                self._timer.start()

    def _show_segments(self, parameters):
        segments, node = [("", _("New, or that of these seeds"))], parameters.segmentation
        if node is not None:
            inner = node.GetSegmentation()
            segments += [
                (each, _("Overwrite: {name}").format(name=inner.GetSegment(each).GetName()))
                for each in inner.GetSegmentIDs()
            ]
        self._segments = fill(
            self.ui.segmentComboBox, self._segments, segments, parameters.segmentID
        )

    def _show_overlay(self, parameters):
        scene_node = self._panel.result_scene()
        why = "" if scene_node else _("There is no fuzzy scene yet: press Apply.")
        self._panel.enable(self.ui.overlayCheckBox, why)
        self._panel.enable(self.ui.overlaySlider, why)
        wanted = None
        if scene_node is not None:
            opacity = parameters.overlayOpacity if parameters.showOverlay else 0.0
            wanted = (scene_node.GetID(), opacity)
        if wanted != self._overlay:
            if wanted is not None and (wanted[1] or self._overlay):
                slice_layers.show_scene(scene_node, wanted[1])
            self._overlay = wanted

    def _show_difference(self, parameters):
        first, second = parameters.firstResult, parameters.secondResult
        why = ""
        if not self._panel.has_voxels(parameters.inputVolume):
            why = _("Choose the volume first.")
        elif first is None or second is None or first is second:
            why = _("Choose two results to compare.")
        self._panel.enable(self.ui.differenceButton, why)

    def forget(self):
        """All nodes are gone."""
        self._timer.stop()
        self._segments, self._overlay = [], None
        self.ui.segmentComboBox.clear()
        self._say("")


def new_segmentation(volume_node):
    """A context that adds a segmentation for a volume, and takes it away again on an error."""
    return _NewSegmentation(volume_node)


class _NewSegmentation:
    def __init__(self, volume_node):
        self._volume_node, self._change = volume_node, all_or_nothing()

    def __enter__(self):
        add = self._change.__enter__()
        name = _("{volume} segmentation").format(volume=self._volume_node.GetName())
        return add("vtkMRMLSegmentationNode", name)

    def __exit__(self, *error):
        return self._change.__exit__(*error)

"""The branch tools that wait for clicks in the views, and the straightened view of one of them."""

from typing import Any

import numpy as np
import qt
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.points import placed_points
from FuzzyVesselCoreLib.mrml.writing import in_scene, remove_node
from PotentialSkeletonMRML.tree import Tree
from PotentialSkeletonMRML.vessels import is_straightened, patient_position

from .result_section import hidden_node, highlight

POINTS = "Branch tool"  # name of the list of clicks
ASKS = {
    "cut": _("Click the branch where it is to be cut."),
    "remove": _("Click the branch that is to be removed."),
    "bridge": _("Click into the gap, between the two ends."),
    "distance": _("Click two places on the vessels."),
    "section": _("Click a place on a vessel."),
    "stenosis": _("Click the narrow place, then a healthy one of the same vessel."),
    "straighten": _("Click two places on the vessels, or choose a branch first."),
    "patient": _("Click a place in the straightened view."),
}
TWO_CLICKS = ("distance", "stenosis", "straighten")
WAY_RADIUS, DIAMETER_RADIUS = 0.8, 0.4  # mm, of a way and a diameter as they are drawn
SLICE = "vtkMRMLSliceNode"
LAYOUT_NAME = "Green"  # coronal in Slicer's own layouts
MARGIN = 1.05


class Clicks:
    """Cut, remove, bridge, and the distance of two places: one waits for its clicks at a time."""

    def __init__(self, tools: Any) -> None:
        self._tools, self._place = tools, tools.ui.clickPlaceWidget
        self._kind = ""
        self._points: Any = None  # a list of points, neither saved nor listed
        self._buttons = {kind: getattr(tools.ui, f"{kind}Button") for kind in ASKS}
        for kind, button in self._buttons.items():
            button.connect("clicked(bool)", lambda on, kind=kind: self._on_button(kind, on))
        self._view = StraightenedView()
        tools.ui.turnSlider.connect("valueChanged(int)", self._view.turn)
        tools.ui.closeButton.connect("clicked()", self.close_view)
        self._place.connect("activeMarkupsPlaceModeChanged(bool)", self._on_mode)

    def show(self) -> None:
        """Show what belongs to a straightened view while there is one."""
        for name in ("turnLabel", "turnSlider", "patientButton", "closeButton"):
            getattr(self._tools.ui, name).setVisible(self._view.volume is not None)

    def close_view(self) -> None:
        """Restore the slice view of the straightened view."""
        self._view.hide()
        self._tools.say("")
        self.show()

    def end(self) -> None:
        """Stop waiting for clicks."""
        points, self._points, self._kind = self._points, None, ""
        for button in self._buttons.values():
            button.checked = False
        if points is not None:
            self._place.placeModeEnabled = False
            self._place.setCurrentNode(None)
            remove_node(points)

    def _on_button(self, kind: str, on: bool) -> None:
        self.end()
        chosen = self._tools.panel.result.chosen() if kind == "straighten" else []
        if not on:
            self._tools.say("")
            return
        if len(chosen) == 1:
            self._straighten(chosen[0][1])
            return
        node = hidden_node("vtkMRMLMarkupsFiducialNode", POINTS)
        node.GetDisplayNode().SetPointLabelsVisibility(False)
        self._kind, self._points = kind, node
        self._buttons[kind].checked = True
        self._tools.say(ASKS[kind])
        node.AddObserver(node.PointPositionDefinedEvent, self._on_point)
        multiple = slicer.qSlicerMarkupsPlaceWidget.ForcePlaceMultipleMarkups
        self._place.placeMultipleMarkups = multiple
        self._place.setCurrentNode(node)
        self._place.placeModeEnabled = True

    def _on_mode(self, _on: bool) -> None:
        """Placing may have been ended with the right mouse button, Escape or another tool."""
        qt.QTimer.singleShot(0, self._end_unless_placing)

    def _end_unless_placing(self) -> None:
        if self._points is not None and not self._place.placeModeEnabled:
            self.end()
            self._tools.say("")

    def _on_point(self, caller: Any, event: Any) -> None:
        """A place was clicked; the list goes when its own event is over."""
        if len(placed_points(caller).world) >= 1 + (self._kind in TWO_CLICKS):
            qt.QTimer.singleShot(0, self._finish)

    def _finish(self) -> None:
        if self._points is None:
            return
        places, kind = placed_points(self._points).world, self._kind
        self.end()
        if kind == "straighten":
            self._straighten(tuple(places[:2]))
        elif kind in ("cut", "remove", "bridge"):
            self._tools.change(lambda tree: getattr(tree, kind)(places[0]))
        else:
            self._tools.attempt(lambda tree: getattr(self, f"_{kind}")(tree, places))

    def _distance(self, tree: Tree, places: np.ndarray) -> str:
        way = tree.distance(*places[:2])
        highlight(tree.model, [(way.points, np.full(len(way.points), WAY_RADIUS))])
        text = _("{way.length:.1f} mm along the vessels, {way.straight:.1f} mm straight")
        if np.isfinite(way.tortuosity):
            text += _(
                "; tortuosity {way.tortuosity:.2f}, curvature {way.curvature:.3f}/mm, torsion "
                "{way.torsion:.3f}/mm"
            )
        return f"{text}.".format(way=way)

    def _section(self, tree: Tree, places: np.ndarray) -> str:
        found = tree.section(places[0])
        show_diameters(found)
        text = _(
            "{found.area:.1f} mm2; diameters {found.largest_diameter:.1f} and "
            "{found.smallest_diameter:.1f} mm, {found.equivalent_diameter:.1f} mm of a circle of "
            "this area"
        )
        if found.filled:
            text += _("; {found.filled:.1f} mm2 are filled holes")
        return f"{text}.".format(found=found)

    def _stenosis(self, tree: Tree, places: np.ndarray) -> str:
        narrow, healthy = (tree.section(place) for place in places[:2])
        show_diameters(narrow, healthy)
        by_diameter, by_area = narrow.stenosis(healthy)
        text = _(
            "Stenosis of {by_diameter:.0f} % by diameter ({narrow:.1f} mm; reference, the second "
            "click: {healthy:.1f} mm), {by_area:.0f} % by area."
        )
        diameters = dict(narrow=narrow.equivalent_diameter, healthy=healthy.equivalent_diameter)
        return text.format(by_diameter=by_diameter, by_area=by_area, **diameters)

    def _straighten(self, way: Any) -> None:
        """Let a run make the volume of a branch or a way, and show it in one slice view."""
        volume = background_volume()

        def work(tree: Tree, progress: Any) -> str:
            if volume is None:
                raise InputError(_("Show the volume in a slice view first."))
            nodes = tree.straighten(way, volume, progress=progress)
            text, view = _("{name} is shown in the view {view}."), self._view.show(nodes)
            self._tools.ui.turnSlider.value = 0  # as the new view is
            return text.format(name=nodes.volumeNode.GetName(), view=view)

        self._tools.start(work)
        self.show()

    def _patient(self, _tree: Tree, places: np.ndarray) -> str:
        self._view.go_to_patient(places[0])
        return _("The other slices show this place in the patient.")


def show_diameters(*sections: Any) -> None:
    """Show the largest and the smallest diameter of sections in the views."""
    ends = [each[:, ::-1] for found in sections for each in (found.largest, found.smallest)]
    highlight(None, [(pair, np.full(2, DIAMETER_RADIUS)) for pair in ends])


# ---- A straightened volume in one slice view, turned about the vessel, and the way to the patient


def background_volume() -> Any:
    """The patient's volume that most slice views show, or None."""
    composites = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")
    shown = [slicer.mrmlScene.GetNodeByID(c.GetBackgroundVolumeID() or "") for c in composites]
    shown = [node for node in shown if node is not None and not is_straightened(node)]
    return max(shown, key=shown.count, default=None)


class StraightenedView:
    """Shows a straightened volume in the view `LAYOUT_NAME`, or in the last one without it."""

    def __init__(self) -> None:
        self._nodes: Any = None  # of `Tree.straighten`
        self._view: Any = None
        self._before: list = []  # the nodes of the view, and a copy of each
        self._size: tuple = ()

    @property
    def volume(self) -> Any:
        """The volume that is shown; None without one, or if it left the scene."""
        node = self._nodes and self._nodes.volumeNode
        return node if in_scene(node) else None

    def show(self, nodes: Any) -> str:
        """Show nodes of `Tree.straighten`, whole, and return the name of the view."""
        self.hide()
        composites = list(slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode"))
        named = (each for each in composites if each.GetLayoutName() == LAYOUT_NAME)
        composite, views = next(named, composites[-1]), slicer.util.getNodesByClass(SLICE)
        name = composite.GetLayoutName()
        view = self._view = next(each for each in views if each.GetLayoutName() == name)
        self._nodes, self._before = nodes, [(each, type(each)()) for each in (composite, view)]
        for node, copy in self._before:
            copy.Copy(node)
        self._size = view.GetFieldOfView()  # which a copy fits to its window
        composite.SetBackgroundVolumeID(nodes.volumeNode.GetID())
        composite.SetLabelVolumeID(nodes.labelmapNode.GetID())
        view.SetUseLabelOutline(True)
        self.turn(0)
        width, height, depth = view.GetFieldOfView()
        sides = np.ptp(self._bounds(), axis=1)
        tall = MARGIN * max(sides[2], sides[0] * height / width)
        view.SetFieldOfView(width * tall / height, tall, depth)
        return name

    def hide(self) -> None:
        """Restore the view; the volumes stay in the scene."""
        for node, copy in self._before:
            node.Copy(copy)
            self._view.SetFieldOfView(*self._size)
        self._nodes, self._before = None, []

    def turn(self, degrees: float) -> None:
        """Turn the view about the vessel."""
        if self.volume is not None:
            cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
            normal, across = (-sine, cosine, 0.0), (-cosine, -sine, 0.0)
            self._view.SetSliceToRASByNTP(*normal, *across, *self._bounds().mean(axis=1), 0)

    def go_to_patient(self, position: Any) -> None:
        """Centre the other slices on a place of the straightened volume (R, A, S).

        `InputError` where the place lies beside it.
        """
        low, high = self._bounds().T
        if ((position < low) | (position > high)).any():
            raise InputError(_("This is not in the straightened view."))
        there = patient_position(self.volume, position)
        for view in slicer.util.getNodesByClass(SLICE):
            if view is not self._view:
                view.JumpSliceByCentering(*there)

    def _bounds(self) -> np.ndarray:
        bounds = [0.0] * 6
        self.volume.GetRASBounds(bounds)
        return np.reshape(bounds, (3, 2))

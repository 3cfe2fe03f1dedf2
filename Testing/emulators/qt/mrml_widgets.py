"""Stand-ins for Slicer's widgets that show what is in the scene."""

import slicer
import vtk
from PySide6.QtCore import Property, QSortFilterProxyModel, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from .ctk_widgets import stored


class _WithScene(QWidget):
    """Has a scene."""

    mrmlSceneChanged = Signal(object)

    def __init__(self, parent=None):
        super().__init__(parent)
        self._scene = None

    def _take(self, scene):
        self._scene = scene

    def setMRMLScene(self, scene):
        self._take(scene)
        self.mrmlSceneChanged.emit(scene)


class qMRMLWidget(_WithScene):
    """The root of a panel's `.ui` file: it hands its scene on."""


class qSlicerWidget(_WithScene):
    """Any other widget with a scene."""


def _id_of(node):
    """The ID of a node, or "" for None and for a node that is in no scene."""
    return (node.GetID() or "") if node is not None else ""


class qMRMLSortFilterProxyModel(QSortFilterProxyModel):
    """Which nodes a list does not offer."""

    hiddenNodeIDs = stored("QStringList", "hidden_ids", (), lambda model: model.parent()._fill())


class qMRMLNodeComboBox(QWidget):
    """A list of the scene's nodes of some classes."""

    currentNodeChanged = Signal((object,), (bool,))
    nodeAddedByUser = Signal(object)
    nodeActivated = Signal(object)

    def __init__(self, parent=None):
        super().__init__(parent)
        self._scene, self._tags, self._ids, self._last = None, [], [], ""
        self._model = qMRMLSortFilterProxyModel(self)
        self._combo = QComboBox()
        self._combo.setSizeAdjustPolicy(QComboBox.AdjustToMinimumContentsLengthWithIcon)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._combo)
        self.setFocusProxy(self._combo)
        self._combo.currentIndexChanged.connect(lambda _: self._tell())
        self._combo.activated.connect(lambda _: self.nodeActivated.emit(self.currentNode()))

    def setMRMLScene(self, scene):
        for tag in self._tags:
            self._scene.RemoveObserver(tag)
        self._scene = scene
        events = (
            scene and (scene.NodeAddedEvent, scene.NodeRemovedEvent, scene.EndBatchProcessEvent)
        ) or ()
        self._tags = [scene.AddObserver(event, lambda *_: self._fill()) for event in events]
        if scene is not None:
            self._tags.append(
                scene.AddObserver(scene.NodeAboutToBeRemovedEvent, self._forgetter(), -10.0)
            )
        self._fill()

    def _forgetter(self):
        """What takes the row of a node away that is about to go.

        As in `qMRMLSceneModel`: the row goes before the node does, after all other observers were
        told, and QComboBox chooses another row itself where it was the current one.
        """

        @vtk.calldata_type(vtk.VTK_OBJECT)
        def forget(_scene, _event, node):
            if node.GetID() in self._ids and not self._scene.IsClosing():
                row = self._ids.index(node.GetID())
                del self._ids[row]
                self._combo.removeItem(row)
                self._tell()

        return forget

    def _nodes(self):
        scene = self._scene
        if scene is None:
            return []
        kinds, others = self.nodeTypes, self.hideChildNodeTypes
        nodes = [scene.GetNthNode(n) for n in range(scene.GetNumberOfNodes())]
        return [
            node
            for node in nodes
            if any(node.IsA(kind) for kind in kinds)
            and not any(node.IsA(kind) for kind in others)
            and node.GetID() not in self._model.hiddenNodeIDs
            and not node.GetHideFromEditors()
        ]

    def _fill(self):
        nodes, current = self._nodes(), self._last
        self._combo.blockSignals(True)
        self._combo.clear()
        self._ids = [""] if self.noneEnabled else []
        if self.noneEnabled:
            self._combo.addItem(self.noneDisplay)
        for node in nodes:
            self._combo.addItem(node.GetName())
            self._ids.append(node.GetID())
        index = self._ids.index(current) if current in self._ids else (0 if self._ids else -1)
        self._combo.setCurrentIndex(index)
        self._combo.blockSignals(False)
        self._tell()

    def _tell(self):
        current = self._current_id()
        if current != self._last:
            self._last = current
            self.currentNodeChanged.emit(self.currentNode())
            self.currentNodeChanged[bool].emit(bool(current))

    def _current_id(self):
        index = self._combo.currentIndex
        return self._ids[index] if 0 <= index < len(self._ids) else ""

    def currentNode(self):
        current = self._current_id()
        return self._scene.GetNodeByID(current) if self._scene and current else None

    def setCurrentNode(self, node):
        node_id = node if isinstance(node, str) else _id_of(node)
        self._combo.setCurrentIndex(self._ids.index(node_id) if node_id in self._ids else -1)

    def removeCurrentNode(self):
        if self.currentNode() is not None:
            self._scene.RemoveNode(self.currentNode())

    def sortFilterProxyModel(self):
        return self._model

    def nodeCount(self):
        return len(self._nodes())

    def nodeFromIndex(self, index):
        return self._nodes()[index]

    nodeTypes = stored("QStringList", "node_types", [], _fill)
    hideChildNodeTypes = stored("QStringList", "hidden_types", [], _fill)
    noneEnabled = stored(bool, "none_enabled", False, _fill)
    noneDisplay = stored(str, "none_display", "None", _fill)


class qMRMLSegmentSelectorWidget(qMRMLWidget):
    """A segmentation and one of its segments, or several."""

    currentNodeChanged = Signal((object,), (bool,))
    currentSegmentChanged = Signal(str)
    segmentSelectionChanged = Signal("QStringList")

    def __init__(self, parent=None):
        super().__init__(parent)
        self._nodes = qMRMLNodeComboBox()
        self._nodes.nodeTypes = ["vtkMRMLSegmentationNode"]  # and never none, if there is one
        self._label, self._segments = QLabel("Segment: "), QComboBox()
        palette = QPalette()  # several names are no hint
        palette.setColor(QPalette.PlaceholderText, palette.text().color())
        self._segments.setPalette(palette)
        self._observed, self._tags, self._current = None, [], ""
        self._selected = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._nodes)
        inside = QHBoxLayout()
        inside.setContentsMargins(4, 0, 0, 0)
        inside.addWidget(self._label)
        inside.addWidget(self._segments, 1)
        layout.addLayout(inside)
        self.setFocusProxy(self._segments)
        self._nodes.currentNodeChanged.connect(self._on_node)
        self._segments.currentIndexChanged.connect(lambda _: self._tell())

    def _take(self, scene):
        super()._take(scene)
        self._nodes.setMRMLScene(scene)

    def currentNode(self):
        return self._nodes.currentNode()

    def setCurrentNode(self, node):
        self._nodes.setCurrentNode(node)

    def currentSegmentID(self):
        return self._current  # also after the segment or the segmentation has gone

    def setCurrentSegmentID(self, segment_id):
        index = self._segments.findData(segment_id)
        if index >= 0:
            self._segments.setCurrentIndex(index)

    def selectedSegmentIDs(self):
        return tuple(self._selected)

    def setSelectedSegmentIDs(self, segment_ids):
        if list(segment_ids) != self._selected:
            self._selected = list(segment_ids)
            node = self.currentNode()
            inner = node and node.GetSegmentation()
            names = [inner.GetSegment(each).GetName() for each in segment_ids]
            self._segments.setPlaceholderText(", ".join(names))
            self.segmentSelectionChanged.emit(self._selected)

    def _on_node(self, node):
        for tag in self._tags:
            self._observed.RemoveObserver(tag)
        kind = slicer.vtkSegmentation
        events = (kind.SegmentAdded, kind.SegmentRemoved, kind.SegmentModified)
        self._observed = node
        self._tags = [
            node.AddObserver(event, lambda *_: self._fill()) for event in events if node is not None
        ]
        self._fill()
        self.currentNodeChanged.emit(node)
        self.currentNodeChanged[bool].emit(node is not None)

    def _fill(self):
        node = self.currentNode()
        ids = list(node.GetSegmentation().GetSegmentIDs()) if node is not None else []
        self._segments.blockSignals(True)
        self._segments.clear()
        self._segments.setVisible(bool(ids))
        self._label.setVisible(bool(ids))
        if self.noneEnabled and ids:
            self._segments.addItem("None", "")
        for each in ids:
            self._segments.addItem(node.GetSegmentation().GetSegment(each).GetName(), each)
        keep = self._current in ids or (self.noneEnabled and not self._current)
        self._segments.setCurrentIndex(self._segments.findData(self._current) if keep else -1)
        self._segments.blockSignals(False)
        if self.multiSelection:
            self.setSelectedSegmentIDs([each for each in self._selected if each in ids])
        elif ids and not keep:
            self._segments.setCurrentIndex(1 if self.noneEnabled else 0)

    def _change_mode(self):
        self._current, self._selected = "", []
        self._fill()

    def _tell(self):
        if self.currentNode() is not None:
            self._current = self._segments.currentData or ""
            self.currentSegmentChanged.emit(self._current)

    noneEnabled = stored(bool, "none", False, _fill)
    multiSelection = stored(bool, "several", False, _change_mode)
    segmentationNodeSelectorVisible = Property(
        bool,
        lambda self: not self._nodes.isHidden(),
        lambda self, visible: self._nodes.setVisible(visible),
    )


class qSlicerScriptedLoadableModuleWidget(qSlicerWidget):
    """What Slicer puts a scripted module's panel into."""

    def __init__(self, parent=None):
        super().__init__(parent)
        self._entered, self._self, self._make = False, None, None
        QVBoxLayout(self)

    def self(self):
        return self._self

    def reload(self):
        self._self = self._make(self)
        self._self.setup()

    def enter(self):
        self._entered = True
        if hasattr(self._self, "enter"):
            self._self.enter()

    def exit(self):
        self._entered = False
        if hasattr(self._self, "exit"):
            self._self.exit()

    isEntered = Property(bool, lambda self: self._entered)


WIDGETS = (
    qMRMLNodeComboBox,
    qMRMLSegmentSelectorWidget,
    qMRMLSortFilterProxyModel,
    qMRMLWidget,
    qSlicerScriptedLoadableModuleWidget,
    qSlicerWidget,
)

"""Stand-ins for the Segment Editor: the host of a scripted effect, and the editor round it.

What the editor does with voxels (resampling the source volume, masking, overwriting, undo) is done
by its own logic, `vtkSlicerSegmentEditorLogic`, which slicer-core has.
"""

import importlib.util
import sys
import types
from pathlib import Path

import slicer
import vtk
from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QVector3D
from PySide6.QtWidgets import QFormLayout, QFrame, QWidget

from .ctk_widgets import stored
from .mrml_widgets import qMRMLWidget

EFFECTS = "qSlicerSegmentationsEditorEffectsPythonQt"
OWN_BASE = (
    "Modules/Loadable/Segmentations/EditorEffects/Python/SegmentEditorEffects/"
    "AbstractScriptedSegmentEditorEffect.py"
)


class qMRMLSliceWidget(qMRMLWidget):
    """A slice view; the slice's node is what the stand-in knows of it."""

    def __init__(self, parent=None):
        super().__init__(parent)
        self._slice_node = None

    def mrmlSliceNode(self):
        return self._slice_node

    def setMRMLSliceNode(self, node):
        self._slice_node = node


class qSlicerSegmentEditorAbstractEffect(QObject):
    """What an effect asks its editor for."""

    ModificationModeAdd = "ModificationModeAdd"  # enumerators of the editor's logic
    ModificationModeRemove = "ModificationModeRemove"

    name = stored(str, "name", "")
    title = stored(str, "title", "")
    perSegment = stored(bool, "perSegment", True)
    requireSegments = stored(bool, "requireSegments", True)

    def __init__(self, parent=None):
        super().__init__(parent)
        self._node = self._logic = None
        self._frame = QFrame()
        QFormLayout(self._frame)

    def parameterSetNode(self):
        return self._node

    def setParameterSetNode(self, node):
        self._node = node

    # --- options

    def optionsFrame(self):
        return self._frame

    def addOptionsWidget(self, new):
        if isinstance(new, QWidget):
            new.setParent(self._frame)
        self._frame.layout().addRow(new)

    # --- images

    def _updated(self, image, done):
        return image if done else None

    def sourceVolumeImageData(self):
        done = self._logic.UpdateAlignedSourceVolume()
        return self._updated(self._logic.GetAlignedSourceVolume(), done)

    def defaultModifierLabelmap(self):
        done = self._logic.ResetModifierLabelmapToDefault()
        return self._updated(self._logic.GetModifierLabelmap(), done)

    def saveStateForUndo(self):
        self._logic.SaveStateForUndo()

    def modifySegmentByLabelmap(
        self, segmentation_node, segment_id, labelmap, mode, bypass_masking=False
    ):
        self._logic.ModifySegmentByLabelmap(
            segmentation_node,
            segment_id,
            labelmap,
            getattr(self._logic, mode),
            self.perSegment,
            bypass_masking,
        )

    # --- views

    def xyToRas(self, xy, slice_widget):
        assert isinstance(xy, QPoint)
        ras = [0.0, 0.0, 0.0]
        place = [float(xy.x()), float(xy.y())]
        slicer.vtkSlicerSegmentEditorLogic.XyToRas(place, ras, slice_widget.mrmlSliceNode())
        return QVector3D(*ras)


class qSlicerSegmentEditorScriptedEffect(qSlicerSegmentEditorAbstractEffect):
    """The host of an effect that is written in Python."""

    def __init__(self, parent=None):
        super().__init__(parent)
        self._self, self._source = None, ""
        self.name = "UnnamedScriptedEffect"

    def pythonSource(self):
        return self._source

    def setPythonSource(self, path):
        """Load a file under the name of its folder, unless that one has the class already."""
        module_name = Path(path).parent.name
        module = sys.modules.get(module_name)
        if not hasattr(module, "SegmentEditorEffect"):
            spec = importlib.util.spec_from_file_location(module_name, path)
            module = sys.modules[module_name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        self._self = module.SegmentEditorEffect(self)
        self._source = path
        return True

    def self(self):
        return self._self

    def active(self):
        return self.__dict__.get("_active", False)

    def activate(self):
        self._active = True
        self._frame.setVisible(True)
        self._self.activate()

    def deactivate(self):
        self._frame.setVisible(False)
        self._active = False
        self._self.deactivate()

    def cleanup(self):
        self._self.cleanup()


class qSlicerSegmentEditorEffectFactory(QObject):
    """Knows the effects of which each editor clones its own."""

    _only = None

    def __init__(self, parent=None):
        super().__init__(parent)
        self._effects = []

    @staticmethod
    def instance():
        cls = qSlicerSegmentEditorEffectFactory
        cls._only = cls._only or cls()
        return cls._only

    def registerEffect(self, effect):
        known = any(each.name == effect.name for each in self._effects)
        if not known:
            self._effects.append(effect)
        return not known

    def registeredEffects(self):
        return list(self._effects)


class Editor:
    """A Segment Editor that calls a registered effect as `qMRMLSegmentEditorWidget` does.

    Attributes
    ----------
    node : vtkMRMLSegmentEditorNode
    logic : vtkSlicerSegmentEditorLogic
        For undo and redo.
    effect : qSlicerSegmentEditorScriptedEffect
        The editor's clone; `effect.self()` is the effect's own class.
    """

    def __init__(self, name, segmentation_node, volume_node):
        self.node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentEditorNode")
        self.logic = slicer.vtkSlicerSegmentEditorLogic()
        self.logic.SetMRMLScene(slicer.mrmlScene)
        self.logic.SetSegmentEditorNode(self.node)
        self.node.SetAndObserveSegmentationNode(segmentation_node)
        self.node.SetAndObserveSourceVolumeNode(volume_node)
        factory = qSlicerSegmentEditorEffectFactory.instance()
        (registered,) = [each for each in factory.registeredEffects() if each.name == name]
        self.effect = registered.self().clone()
        self.effect._logic = self.logic
        self.effect.setParameterSetNode(self.node)
        self.effect.self().setupOptionsFrame()
        self.effect.optionsFrame().setVisible(False)
        self._view = ()

    def select(self, segment_id):
        self.node.SetSelectedSegmentID(segment_id)

    def observe(self, view):
        """Hand the events of a slice view (`support.slice_view.SliceView`) to the effect."""
        widget = qMRMLSliceWidget()
        widget.setMRMLSliceNode(view.node)

        def hand_on(interactor, name):
            event = vtk.vtkCommand.GetEventIdFromString(name)
            taken = self.effect.self().processInteractionEvents(interactor, event, widget)
            assert isinstance(taken, bool)
            view.interactor.GetCommand(tag).SetAbortFlag(int(taken))

        tag = view.interactor.AddObserver("LeftButtonPressEvent", hand_on, 1.0)
        self._view = view, tag, widget

    def close(self):
        if self._view:
            self._view[0].interactor.RemoveObserver(self._view[1])
        if self.effect.active():
            self.effect.deactivate()
        self.effect.cleanup()
        self.effect.optionsFrame().deleteLater()


class qMRMLSegmentEditorWidget(qMRMLWidget):
    """As much of the widget as a self test needs; an `Editor` while an effect is active."""

    def __init__(self):
        super().__init__(None)
        self._editor = None

    def setMRMLSegmentEditorNode(self, node):
        """An `Editor` makes its own."""

    def setSegmentationNode(self, node):
        self._segmentation = node

    def setSourceVolumeNode(self, node):
        self._volume = node

    def setCurrentSegmentID(self, segment_id):
        self._segment_id = segment_id

    def availableEffectNames(self):
        factory = qSlicerSegmentEditorEffectFactory.instance()
        return [each.name for each in factory.registeredEffects()]

    def setActiveEffectByName(self, name):
        if self._editor is not None:
            self._editor.close()
        self._editor = Editor(name, self._segmentation, self._volume) if name else None
        if name:
            self._editor.select(self._segment_id)
            self._editor.effect.activate()

    def activeEffect(self):
        return self._editor.effect


def make_modules(source=None):
    """Make what effects import: the host's class, and the base class of scripted effects.

    With a checkout of Slicer the base class is Slicer's own.
    """
    effects = sys.modules[EFFECTS] = types.ModuleType(EFFECTS)
    effects.qSlicerSegmentEditorScriptedEffect = qSlicerSegmentEditorScriptedEffect
    base = AbstractScriptedSegmentEditorEffect
    path = Path(source or "", OWN_BASE)
    if source and path.is_file():
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        base = module.AbstractScriptedSegmentEditorEffect
    package = sys.modules["SegmentEditorEffects"] = types.ModuleType("SegmentEditorEffects")
    package.AbstractScriptedSegmentEditorEffect = base


class AbstractScriptedSegmentEditorEffect:
    """The part of the base class that effects use."""

    def __init__(self, scriptedEffect):
        self.scriptedEffect = scriptedEffect

    def register(self):
        qSlicerSegmentEditorEffectFactory.instance().registerEffect(self.scriptedEffect)

    def xyToRas(self, xy, viewWidget):
        found = self.scriptedEffect.xyToRas(QPoint(xy[0], xy[1]), viewWidget)
        return [found.x(), found.y(), found.z()]


CLASSES = (
    qMRMLSegmentEditorWidget,
    qMRMLSliceWidget,
    qSlicerSegmentEditorAbstractEffect,
    qSlicerSegmentEditorEffectFactory,
    qSlicerSegmentEditorScriptedEffect,
)

"""Real slice and 3D views off screen, with the mouse, for the tests of the panels.

Slicer's own displayable managers and interaction run in them; only the Qt widget round the render
window is missing. On Linux they need EGL (see the README).
"""

import ctypes
import os
import sys

import numpy as np
import pytest
import slicer
import vtk
from vtk.util.numpy_support import vtk_to_numpy

SLICE_MANAGERS = (
    "vtkMRMLCrosshairDisplayableManager",
    "vtkMRMLModelSliceDisplayableManager",
    "vtkMRMLRulerDisplayableManager",
    "vtkMRMLSegmentationsDisplayableManager2D",
    "vtkMRMLMarkupsDisplayableManager",
)
MANAGERS_3D = (
    "vtkMRMLCameraDisplayableManager",
    "vtkMRMLViewDisplayableManager",
    "vtkMRMLModelDisplayableManager",
    "vtkMRMLSegmentationsDisplayableManager3D",
    "vtkMRMLMarkupsDisplayableManager",
)


def need_rendering():
    """Skip a test where nothing can be drawn without a screen."""
    if sys.platform.startswith("linux"):
        try:
            ctypes.CDLL("libEGL.so.1")
        except OSError:
            pytest.skip("there is no EGL to draw with (Debian: apt-get install libegl1)")
        os.environ["VTK_DEFAULT_OPENGL_WINDOW"] = "vtkEGLRenderWindow"


def _bring_mouse_modes_back():
    """Without the application, a scene that was cleared lacks what says what a click does."""
    application = slicer.app.applicationLogic()
    for node in (application.GetInteractionNode(), application.GetSelectionNode()):
        if not slicer.mrmlScene.IsNodePresent(node):
            slicer.mrmlScene.AddNode(node)


class _View:
    def __init__(self, size):
        need_rendering()
        _bring_mouse_modes_back()
        self.renderer = vtk.vtkRenderer()
        self.window = vtk.vtkRenderWindow()
        self.window.SetOffScreenRendering(1)
        self.window.SetMultiSamples(0)
        self.window.SetAlphaBitPlanes(1)
        self.window.SetSize(*size)
        self.window.AddRenderer(self.renderer)
        self.interactor = vtk.vtkRenderWindowInteractor()
        self.interactor.SetRenderWindow(self.window)
        self.interactor.Initialize()

    def _manage(self, factory, managers):
        factory = factory.GetInstance()
        factory.SetMRMLApplicationLogic(slicer.app.applicationLogic())
        for name in managers:
            if not factory.IsDisplayableManagerRegistered(name):
                factory.RegisterDisplayableManager(name)
        self.group = slicer.vtkMRMLDisplayableManagerGroup()
        self.group.Initialize(factory, self.renderer)

    def _send(self, event, x, y):
        self.interactor.SetEventInformation(round(x), round(y), 0, 0)
        self.interactor.InvokeEvent(event)

    def move(self, x, y):
        """Move the mouse to a pixel, counted from the lower left."""
        self._send("MouseMoveEvent", x, y)

    def press(self, x, y, button="Left"):
        self.move(x, y)
        self._send(f"{button}ButtonPressEvent", x, y)

    def release(self, x, y, button="Left"):
        self._send(f"{button}ButtonReleaseEvent", x, y)

    def click(self, x, y, button="Left"):
        """Press and release a button at a pixel."""
        self.press(x, y, button)
        self.release(x, y, button)

    def pixels(self):
        """What is to be seen: ndarray (rows, columns, 3), from the top."""
        self.window.Render()
        grab = vtk.vtkWindowToImageFilter()
        grab.SetInput(self.window)
        grab.ReadFrontBufferOff()
        grab.Update()
        image = grab.GetOutput()
        width, height, _ = image.GetDimensions()
        array = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, -1)
        return array[::-1, :, :3].copy()

    def close(self):
        """Let go of the mouse, then of the scene, then of the window: each while all is there.

        A window that ended while a style or an actor still knew it ended the process at times.
        """
        self._style.SetInteractor(None)
        self.interactor.SetInteractorStyle(None)
        for number in range(self.group.GetDisplayableManagerCount()):
            # None may draw because of a node that leaves the scene after the window.
            self.group.GetNthDisplayableManager(number).SetMRMLScene(None)
        self.group.SetMRMLDisplayableNode(None)
        self.renderer.RemoveAllViewProps()
        self.window.RemoveRenderer(self.renderer)
        self.window.Finalize()


class SliceView(_View):
    """A slice view: its slice is that of a node of the scene."""

    def __init__(self, name="Red", orientation="Axial", size=(400, 400)):
        super().__init__(size)
        self._manage(slicer.vtkMRMLSliceViewDisplayableManagerFactory, SLICE_MANAGERS)
        self.renderer.GetActiveCamera().ParallelProjectionOn()
        application = slicer.app.applicationLogic()
        self.logic = slicer.vtkMRMLSliceLogic()
        self.logic.SetMRMLApplicationLogic(application)
        application.GetSliceLogics().AddItem(self.logic)
        self._style = slicer.vtkMRMLSliceViewInteractorStyle()
        self._style.SetSliceLogic(self.logic)
        self._style.SetDisplayableManagers(self.group)
        self._mapper = vtk.vtkImageMapper()
        self._mapper.SetColorWindow(255)
        self._mapper.SetColorLevel(127.5)
        self._actor = vtk.vtkActor2D()
        self._actor.SetMapper(self._mapper)
        self._actor.GetProperty().SetDisplayLocationToBackground()
        self.renderer.AddViewProp(self._actor)
        self.logic.SetMRMLScene(slicer.mrmlScene)
        self.node = self.logic.AddSliceNode(name)
        self.node.SetMappedInLayout(1)
        self.node.SetOrientation(orientation)
        self.group.SetMRMLDisplayableNode(self.node)
        self.interactor.SetInteractorStyle(vtk.vtkInteractorStyleUser())
        self._style.SetInteractor(self.interactor)
        self._tag = self.logic.AddObserver("ModifiedEvent", self._connect_image)
        self.logic.ResizeSliceNode(*size)
        self._connect_image()

    def _connect_image(self, *_event):
        connection = self.logic.GetImageDataConnection()
        self._mapper.SetInputConnection(connection)
        self._actor.SetVisibility(bool(connection))

    @property
    def composite(self):
        return self.logic.GetSliceCompositeNode()

    def show(self, volume_node):
        """Show a volume, all of it."""
        self.composite.SetBackgroundVolumeID(volume_node.GetID())
        self.logic.FitSliceToBackground()
        self._connect_image()

    def pixel_of(self, world):
        """The pixel that shows a point of the world (its distance from the slice left out)."""
        to_pixels = vtk.vtkMatrix4x4()
        vtk.vtkMatrix4x4.Invert(self.node.GetXYToRAS(), to_pixels)
        return to_pixels.MultiplyPoint((*world, 1))[:2]

    def colored(self):
        """How many pixels are not grey."""
        return int(np.count_nonzero(np.ptp(self.pixels().astype(int), axis=2) > 30))

    def close(self):
        nodes = self.composite, self.node
        self.logic.RemoveObserver(self._tag)
        slicer.app.applicationLogic().GetSliceLogics().RemoveItem(self.logic)
        super().close()
        self.logic.SetMRMLScene(None)
        # Another view of that name shall get nodes of its own; clearing the scene keeps these.
        for node in nodes:
            slicer.mrmlScene.RemoveNode(node)


class View3D(_View):
    """A 3D view."""

    def __init__(self, name="1", size=(400, 400)):
        super().__init__(size)
        self._manage(slicer.vtkMRMLThreeDViewDisplayableManagerFactory, MANAGERS_3D)
        self._style = slicer.vtkMRMLThreeDViewInteractorStyle()
        self._style.SetDisplayableManagers(self.group)
        self._style.SetInteractor(self.interactor)
        application = slicer.app.applicationLogic()
        self.logic = slicer.vtkMRMLViewLogic()
        self.logic.SetMRMLApplicationLogic(application)
        application.GetViewLogics().AddItem(self.logic)
        self.logic.SetMRMLScene(slicer.mrmlScene)
        self.node = self.logic.AddViewNode(name)
        self.node.SetMappedInLayout(1)
        self.node.SetBoxVisible(False)
        self.node.SetAxisLabelsVisible(False)
        self.group.SetMRMLDisplayableNode(self.node)

    def look(self, elevation=0):
        """Show everything, from the front."""
        self.renderer.ResetCamera()
        camera = self.renderer.GetActiveCamera()
        x, y, z = camera.GetFocalPoint()
        camera.SetPosition(x, y + camera.GetDistance(), z)
        camera.SetViewUp(0, 0, 1)
        camera.Elevation(elevation)
        self.renderer.ResetCameraClippingRange()

    def close(self):
        slicer.app.applicationLogic().GetViewLogics().RemoveItem(self.logic)
        super().close()
        slicer.mrmlScene.RemoveNode(self.node)

"""Slice views off screen, drawn by Slicer's own displayable managers."""

from typing import Any

ORIENTATIONS = {"Red": "Axial", "Yellow": "Sagittal", "Green": "Coronal"}
MANAGERS = (
    "vtkMRMLSegmentationsDisplayableManager2D",
    "vtkMRMLMarkupsDisplayableManager",
)


class SliceView:
    """One slice view with a volume; it shows what Slicer's shows, without the Qt widget round it.

    Parameters
    ----------
    name : str
        One of `ORIENTATIONS`.
    volume_node : vtkMRMLScalarVolumeNode
    side : int
        Width and height in pixels.
    """

    def __init__(self, name: str, volume_node: Any, side: int) -> None:
        import slicer
        import vtk

        _bring_mouse_modes_back()
        self._renderer, self._window = vtk.vtkRenderer(), vtk.vtkRenderWindow()
        self._window.SetOffScreenRendering(1)
        self._window.SetMultiSamples(0)
        self._window.SetSize(side, side)
        self._window.AddRenderer(self._renderer)
        self._interactor = vtk.vtkRenderWindowInteractor()  # markups crash without one
        self._interactor.SetRenderWindow(self._window)
        self._interactor.Initialize()
        self._renderer.GetActiveCamera().ParallelProjectionOn()
        application = slicer.app.applicationLogic()
        factory = slicer.vtkMRMLSliceViewDisplayableManagerFactory.GetInstance()
        factory.SetMRMLApplicationLogic(application)
        for manager in MANAGERS:
            if not factory.IsDisplayableManagerRegistered(manager):
                factory.RegisterDisplayableManager(manager)
        self._group = slicer.vtkMRMLDisplayableManagerGroup()
        self._group.Initialize(factory, self._renderer)
        self._logic = slicer.vtkMRMLSliceLogic()
        self._logic.SetMRMLApplicationLogic(application)
        application.GetSliceLogics().AddItem(self._logic)
        self._logic.SetMRMLScene(slicer.mrmlScene)
        self.node = self._logic.AddSliceNode(name)
        self.node.SetMappedInLayout(1)
        self.node.SetOrientation(ORIENTATIONS[name])
        self._group.SetMRMLDisplayableNode(self.node)
        self._logic.ResizeSliceNode(side, side)
        self._logic.GetSliceCompositeNode().SetBackgroundVolumeID(volume_node.GetID())
        self._logic.FitSliceToBackground()
        mapper = vtk.vtkImageMapper()
        mapper.SetColorWindow(255)
        mapper.SetColorLevel(127.5)
        mapper.SetInputConnection(self._logic.GetImageDataConnection())
        image = vtk.vtkActor2D()
        image.SetMapper(mapper)
        image.GetProperty().SetDisplayLocationToBackground()
        self._renderer.AddViewProp(image)

    def draw(self) -> Any:
        """Draw what is to be seen now, and wait for the picture: vtkUnsignedCharArray of pixels."""
        import vtk

        self._window.Render()
        pixels, (width, height) = vtk.vtkUnsignedCharArray(), self._window.GetSize()
        self._window.GetRGBACharPixelData(0, 0, width - 1, height - 1, 0, pixels)
        return pixels

    def close(self) -> None:
        """Let go of the scene and the window."""
        import slicer

        slicer.app.applicationLogic().GetSliceLogics().RemoveItem(self._logic)
        self._group.SetMRMLDisplayableNode(None)
        self._window.Finalize()
        for node in (self._logic.GetSliceCompositeNode(), self.node):
            slicer.mrmlScene.RemoveNode(node)


def _bring_mouse_modes_back() -> None:
    """Without the application, a scene that was cleared lacks what says what a click does."""
    import slicer

    application = slicer.app.applicationLogic()
    for node in (application.GetInteractionNode(), application.GetSelectionNode()):
        if not slicer.mrmlScene.IsNodePresent(node):
            slicer.mrmlScene.AddNode(node)

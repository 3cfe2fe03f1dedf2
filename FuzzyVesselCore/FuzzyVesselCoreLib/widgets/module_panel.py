"""A panel's life: its widgets, the parameters in the scene that they show, and its runs."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import qt
import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from ..errors import Cancelled, FuzzyVesselError
from . import packages
from .packages import DeviceLine
from .run import PanelRun, clock
from .wording import common_sentence

# Of a sentence in the status line; it can be read on light and on dark.
PROBLEM_STYLE = "color: #d0402b"


class Panel:
    """What the panels of all modules do alike.

    A module's widget makes one in its `setup` and hands on `enter`, `exit` and `cleanup`; see
    `PotentialSkeleton.py`. The `.ui` file `Resources/UI/X.ui` is a qMRMLWidget; its widgets with
    the dynamic property SlicerParameterName follow the parameters of that name. It has applyButton,
    cancelButton, progressBar, statusLabel, deviceLabel and installButton.

    A subclass fills in `connect`, `show`, `why_not`, `run` and, where needed, `react` and `forget`.
    All are called by this class, `why_not` also by its subclasses. `ui` are the widgets by their
    names, `parameters` what the panel shows: None while another module is open, or the scene is
    being closed.
    """

    requirements = packages.REQUIREMENTS  # of pip: before a run, what is missing is asked for
    problem = False  # whether the status line says why the last run failed
    _said_of: Any = None  # the subject of the status line's text

    def __init__(self, widget: Any) -> None:
        self._widget, self.logic = widget, widget.logic
        self.parameters: Any = None
        self._gui_tag: int | None = None
        self._observers = VTKObservationMixin()
        self._tooltips: dict[str, str] = {}
        self._left = self._waiting = self._changing = False
        self._window, self.ui = self.load_ui(widget.moduleName)
        widget.layout.addWidget(self._window)
        self.running = PanelRun(self.ui.progressBar, self.update, self.title())
        self.device = DeviceLine(self.ui.deviceLabel, self.ui.installButton, self.title())
        self.ui.applyButton.connect("clicked()", self.apply)
        self.ui.cancelButton.connect("clicked()", self.running.cancel)
        for each in vars(self.ui).values():
            if each.className() == "ctkCollapsibleButton":
                # What is hidden while a section is closed comes up when it is opened.
                each.connect("contentsCollapsed(bool)", lambda _collapsed: self.update())
        self.say("")
        self.connect()
        scene = slicer.mrmlScene
        for event, method in (
            (scene.StartCloseEvent, self._on_start_close),
            (scene.EndCloseEvent, self._on_scene_changed),
            (scene.EndImportEvent, self._on_scene_changed),
            (scene.EndRestoreEvent, self._on_scene_changed),
            (scene.NodeAboutToBeRemovedEvent, self._on_node_leaving),
            (scene.NodeRemovedEvent, self.update_soon),
        ):
            self._observers.addObserver(scene, event, method)
        self.set_parameters(self.logic.getParameterNode())

    def load_ui(self, name: str) -> tuple[Any, Any]:
        """The window of a `.ui` file of the module, and its widgets by their names."""
        window = slicer.util.loadUI(self._widget.resourcePath(f"UI/{name}.ui"))
        window.setMRMLScene(slicer.mrmlScene)
        return window, slicer.util.childWidgetVariables(window)

    # --- for subclasses

    def title(self) -> str:
        """The module's name as the user knows it."""
        return self._widget.moduleName

    def connect(self) -> None:
        """Connect widgets; called once."""

    def react(self) -> None:
        """Change what follows from a person's act or a changed node, before `show` draws it.

        Beside runs, slots of widgets and `enter`, this is the only place that changes nodes.
        """

    def show(self) -> None:
        """Show what follows from `parameters`, which is not None; it only draws."""

    def why_not(self) -> str:
        """Why Apply cannot be pressed, as a sentence; an empty text where it can."""
        return ""

    def run(self, parameters: Any, progress: Any) -> str:
        """Do the module's work, and return the message to show.

        Any error but `Cancelled` is shown.
        """
        raise NotImplementedError

    def subject(self) -> Any:
        """What a text in the status line speaks of: the text goes when that changes."""

    def worded(self, said: Any) -> str:
        """Return the sentence of an error; a module adds those of its own library."""
        return common_sentence(said)

    def forget(self) -> None:
        """Drop what belongs to the scene that is being closed."""

    # --- what the module's widget hands on

    def enter(self) -> None:
        """The module is opened."""
        self.set_parameters(self._parameters_now())
        self.device.enter()

    def exit(self) -> None:
        """Another module is opened; a run goes on."""
        self.set_parameters(None)

    def cleanup(self) -> None:
        """The panel ends."""
        self._left = True
        self.running.leave()
        self.device.leave()
        self.set_parameters(None)
        self.forget()
        self._observers.removeObservers()

    # --- parameters

    def set_parameters(self, parameters: Any) -> None:
        """Show and follow other parameters; None shows none."""
        modified = vtk.vtkCommand.ModifiedEvent
        if self.parameters is not None:
            self.parameters.disconnectGui(self._gui_tag)
            self._observers.removeObserver(self.parameters, modified, self.update)
        self.parameters = parameters
        if parameters is not None:
            self._gui_tag = parameters.connectGui(self._window)
            self._observers.addObserver(parameters, modified, self.update)
            self.update()

    def update(self, *_event: Any) -> None:
        """Show everything again."""
        if self.parameters is None or self._left or self._changing:
            return
        with self.changing():
            self.react()
        if self.parameters is None:
            return
        if self._said_of is not None and self._said_of != self.subject():
            self.say("")
        self.show()
        why = self.running.why_busy() or self.why_not()
        self.enable(self.ui.applyButton, why)
        self.ui.cancelButton.enabled = self.running.active

    @contextmanager
    def changing(self) -> Iterator[None]:
        """While nodes and parameters are changed, what follows from each waits for the last."""
        before, self._changing = self._changing, True
        try:
            yield
        finally:
            self._changing = before

    def update_soon(self, *_event: Any) -> None:
        """Show everything again when what goes on now is over; many calls make one."""
        if not self._waiting:
            self._waiting = True
            qt.QTimer.singleShot(0, self._update_now)

    def _update_now(self) -> None:
        self._waiting = False
        self.update()

    def enable(self, button: Any, why_not: str) -> None:
        """Enable a widget, or disable it with the reason as its tooltip."""
        tooltip = self._tooltips.setdefault(button.name, button.toolTip)
        button.enabled = not why_not
        button.toolTip = why_not or tooltip

    def say(self, text: str, problem: bool = False) -> None:
        """Show a text below the buttons; in another colour where the user must act."""
        self.problem = problem and bool(text)
        self._said_of = self.subject() if text and self.parameters is not None else None
        if not self._left:
            self.ui.statusLabel.text = text
            self.ui.statusLabel.styleSheet = PROBLEM_STYLE if problem else ""

    # --- the scene

    def _on_start_close(self, caller: Any, event: Any) -> None:
        self.running.cancel()
        self.set_parameters(None)
        self.forget()
        self.say("")

    def _on_scene_changed(self, caller: Any, event: Any) -> None:
        if self._widget.parent.isEntered:
            self.set_parameters(self._parameters_now())

    def _parameters_now(self) -> Any:
        """The parameters, read again: the wrapper keeps what it read before a scene was loaded."""
        parameters = self.logic.getParameterNode()
        parameters.Modified()
        return parameters

    @vtk.calldata_type(vtk.VTK_OBJECT)
    def _on_node_leaving(self, caller: Any, event: Any, node: Any) -> None:
        """Empty the parameters that name a node, before its selectors choose another by themselves.

        The selectors' lists lose the node after all observers of this event (priority -10).
        """
        parameters = self.parameters
        if parameters is None or caller.IsClosing():
            return
        for name in parameters.allParameters:
            if getattr(parameters, name) is node:
                setattr(parameters, name, None)

    # --- runs

    def apply(self) -> None:
        """Run with the parameters as they are now."""
        self.start(self.run)

    def start(self, work: Callable[[Any, Any], str]) -> None:
        """Let a run do some work, which is a function like `run`.

        What a person can put right is a sentence in the panel; only faults are shown in a dialog.
        """
        if self.running.busy or self.parameters is None:
            return
        with slicer.util.tryWithErrorDisplay(_("{title} failed.").format(title=self.title())):
            declined = packages.install_missing(self.requirements, self.title())
            if self.parameters is None or self.running.busy:  # events were handled while asking
                return
            parameters = self.parameters
            self.say("")
            try:
                with self.running as progress:
                    text = work(parameters, progress)
                first, *rest = text.split("\n")
                if self.running.seconds >= 1:
                    first += f"  ({clock(self.running.seconds)})"
                self.say("\n".join([first, *rest]))
            except Cancelled as error:
                self.say(self.worded(error))  # Cancel, or the input that was removed meanwhile
            except Exception as error:
                self.say(self.worded(error), problem=True)
                if declined and packages.lacks_package(error):
                    self.say(_("{reason} Press Apply to be asked again.").format(reason=declined))
                elif not isinstance(error, FuzzyVesselError):
                    raise
            finally:
                self.update()
                self.device.enter()


def prepare_reload(widget: Any) -> None:
    """Cancel a module's run and unload its panel and scene code, so that Reload reads them again.

    The libraries stay loaded: other modules hold their classes, and what numba compiled would be
    compiled again. To read changes of a library, restart Slicer.
    """
    if widget.panel is not None:
        widget.panel.running.cancel()
    own = tuple(widget.moduleName + end for end in ("MRML", "Panel"))
    for name in [each for each in sys.modules if each.partition(".")[0] in own]:
        del sys.modules[name]


class EditObserver:
    """Calls ``edited(caller, event)`` after each edit of volumes, segmentations or regions.

    A result depends on them, and they are edited in other modules.
    """

    def __init__(self, edited: Callable[..., None]) -> None:
        self._edited = edited
        self._observers = VTKObservationMixin()
        self._sources: list[tuple[Any, Any]] = []

    def follow(self, nodes: Iterable[Any]) -> None:
        """Observe these nodes and no others; None among them is skipped."""
        sources = list(dict.fromkeys(_source(node) for node in nodes if node is not None))
        if sources == self._sources:
            return
        self._observers.removeObservers()
        self._sources = sources
        for source, event in sources:
            self._observers.addObserver(source, event, self._edited)


def _source(node: Any) -> tuple[Any, Any]:
    """What is observed of a node, and the event that tells of an edit."""
    if node.IsA("vtkMRMLVolumeNode"):
        return node, slicer.vtkMRMLVolumeNode.ImageDataModifiedEvent
    if node.IsA("vtkMRMLSegmentationNode"):
        return node.GetSegmentation(), slicer.vtkSegmentation.SourceRepresentationModified
    return node, vtk.vtkCommand.ModifiedEvent

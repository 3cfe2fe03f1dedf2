"""The page: three slices and 3D by trame-slicer's views, and a column of what to do.

The column's look is in ``column.html``; its buttons call the session's methods by the names in
`Page.build`, and what it shows is what `Page.say` tells.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzzy_vessel import headless
from FuzzyConnectedGPUMRML.vessel_lists import color_of
from FuzzyVesselCoreLib.mrml.points import BACKGROUND_COLOR

from .session import Session

TITLE = "FuzzyVesselGPU"
MIDDLE = 0.5  # of the slider, before there is a result
KEYS = """
window.addEventListener('keydown', (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  const name = { z: event.shiftKey ? 'redo' : 'undo', y: 'redo' }[event.key.toLowerCase()];
  if (name) { event.preventDefault(); trigger(name); }
})
"""
STYLE = """
html { overflow: hidden; }
.grid { display: grid; height: 100vh; gap: 2px; background: #333;
  grid-template: minmax(0, 1fr) minmax(0, 1fr) / minmax(0, 1fr) minmax(0, 1fr); }
.pane { position: relative; background: black; overflow: hidden; }
.pane .label { position: absolute; top: 6px; left: 10px; color: #bbb; pointer-events: none;
  font-size: 13px; text-shadow: 0 0 3px black; }
.pane .fit { position: absolute; top: 0; right: 2px; color: #bbb; }
.pane .slice { position: absolute; bottom: 2px; left: 12px; right: 12px; opacity: 0.75; }
.column .v-btn { text-transform: none; letter-spacing: 0; }
.hint { font-size: 14px; line-height: 1.45; min-height: 62px; }
.vessel { gap: 10px; cursor: pointer; }
.vessel.chosen { background: #ffffff22; }
.swatch { width: 12px; height: 12px; border-radius: 50%; flex: none; }
.ml { min-width: 68px; text-align: right; }
.branches th, .branches td { padding: 0 4px !important; }
#said { font-size: 13px; overflow-wrap: anywhere; max-height: 120px; overflow-y: auto; }
"""


class Page:
    """Views and column; `say` brings what the session knows to the browser."""

    _session: Session

    def __init__(self, server: Any) -> None:
        from trame_slicer.core.view_manager import ViewManager
        from trame_slicer.rca_view import register_rca_factories

        self._server, self._state = server, server.state
        application = headless.start()
        self._views = ViewManager(application.scene, application.applicationLogic())
        register_rca_factories(
            self._views,
            server,
            slice_view_ui_f=_slice_controls,
            three_d_view_ui_f=_controls,
            rca_encoder="jpeg",
            blur_fps=15,
            interactive_quality=70,
        )
        self._unfitted: set[Any] = set()

    # --- what changes

    def show(self, what: str) -> None:
        """Fit the views to a new volume, or the 3D view to the first surface."""
        if what == "surface":
            for view in self._views.get_threed_views():
                view.reset_view()
            return
        for view in self._views.get_slice_views():
            view.set_background_volume_id(self._session.volume.GetID())
            view.reset_view()
            self._unfitted.add(view)  # the browser may not have told its size yet

    def _resized(self, view: Any) -> None:
        if view in self._unfitted and self._session.volume is not None:
            self._unfitted.discard(view)
            view.reset_view()

    def download(self, address: str) -> None:
        """Let the browser fetch a file."""
        self._fetch.exec(address)

    def say(self) -> None:
        """Tell the browser how things are."""
        session = self._session
        result, volume, threshold = session.result, session.volume, session.threshold
        if threshold is None:
            threshold = MIDDLE if result is None else float(result.threshold)
        with self._state as state:
            state.title = "" if volume is None else volume.GetName()
            state.step = session.next_step()
            state.said, state.problem = session.said, session.problem
            state.work, state.percent = session.work, round(100 * session.share)
            state.mode, state.current = session.mode, session.current
            history = session.history
            state.can_undo, state.can_redo = history.can_undo, history.can_redo
            state.automatic, state.has_result = session.threshold is None, result is not None
            state.amount = round(1 - threshold, 3)
            state.branches, state.background = session.branches, _css(BACKGROUND_COLOR)
            state.vessels = [self._vessel(node) for node in session.vessels]

    def _vessel(self, node: Any) -> dict[str, Any]:
        found = self._session.millilitres(node)
        return {
            "name": node.GetName(),
            "color": _css(color_of(node)),
            "points": node.GetNumberOfDefinedControlPoints(),
            "ml": "" if found is None else f"{found:.1f} ml",
        }

    # --- the layout

    def build(self, session: Session, save: Callable[[], Any]) -> None:
        """Make the views and the layout; called once."""
        import slicer
        from trame.ui.vuetify3 import VAppLayout
        from trame.widgets import client, html, vuetify3
        from trame_slicer.views import ViewLayoutDefinition

        self._session = session
        self._state.trame__title, self._state.trame__favicon = TITLE, None
        actions = {
            "mode": session.set_mode,
            "vessel": session.choose_vessel,
            "add_vessel": session.add_vessel,
            "undo": session.undo,
            "redo": session.redo,
            "amount": lambda amount: session.set_threshold(1 - float(amount)),
            "automatic": session.set_threshold,
            "centrelines": lambda: session.begin(session.find_centrelines()),
            "cancel": session.cancel,
            "save": lambda: session.begin(save()),
        }
        for name, action in actions.items():
            self._server.controller.trigger(name)(action)
        kind = ViewLayoutDefinition
        wanted = kind.axial_view(), kind.threed_view(), kind.coronal_view(), kind.sagittal_view()
        for each in wanted:
            view = self._views.create_view(each)
            view.render_window().SetMultiSamples(0)  # twice the frames where Mesa draws
            view.interactor().AddObserver("WindowResizeEvent", lambda *_, v=view: self._resized(v))
        self._views.set_current_view_ids([each.singleton_tag for each in wanted])
        interaction = slicer.mrmlScene.GetNodeByID("vtkMRMLInteractionNodeSingleton")
        interaction.AddObserver(
            interaction.InteractionModeChangedEvent, lambda *_: session.follow_mode()
        )
        self.say()
        with VAppLayout(self._server, full_height=True) as layout:
            layout.root.theme = "dark"
            client.Style(STYLE)
            client.ClientTriggers(mounted=KEYS)
            self._fetch = client.JSEval(exec="window.open($event, 'sent')")
            drawer = vuetify3.VNavigationDrawer(
                location="right", permanent=True, width=340, classes="column"
            )
            column = Path(__file__).with_name("column.html").read_text(encoding="utf-8")
            drawer.add_child(column)
            with vuetify3.VMain(classes="fill-height"), html.Div(classes="grid"):
                for each in wanted:
                    with html.Div(classes="pane"):
                        client.ServerTemplate(name=each.singleton_tag)


def _css(color: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in color)


def _slice_controls(server: Any, name: str, view: Any) -> None:
    """A slice's name, and the slider through the volume."""
    from trame.widgets import html
    from trame_slicer.app.logic.slice_view_logic import connect_slice_view_slider_to_state
    from trame_slicer.app.ui.slider import Slider

    _controls(server, name, view)
    state = connect_slice_view_slider_to_state(server, view)
    with html.Div(classes="slice"):
        Slider(typed_state=state, density="compact", color="grey-lighten-1")


def _controls(_server: Any, _name: str, view: Any) -> None:
    """A view's name, and a button that fits it."""
    from trame.widgets import html, vuetify3

    html.Div(getattr(view, "get_orientation", lambda: "3D")(), classes="label")
    with html.Div(classes="fit"):
        vuetify3.VBtn(
            icon="mdi-fit-to-screen-outline",
            size="x-small",
            variant="text",
            title="Show all of it",
            click=view.reset_view,
        )

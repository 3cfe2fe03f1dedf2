"""Panels without Slicer: PySide6 off screen, with stand-ins for Slicer's and CTK's widgets.

A test asks the fixture `open_panel` for a panel; it has the module's real `.ui` file, real MRML
nodes, and real logic::

    def test_apply_needs_an_input(slicer_scene, open_panel):
        panel = open_panel("PotentialSkeleton")
        assert not panel.ui.applyButton.enabled          # PythonQt: no parentheses
        panel.parameters.input = add_volume(array, kind=LABELMAP)
        panel.process_events()
        panel.click("applyButton")                        # fails if the button is disabled
        panel.grab(tmp_path / "panel.png")                # a picture, 420 pixels wide

Errors in slots and observers are kept in `panel.errors`; those that a test does not take with
`panel.take_errors()` fail it. `panel.window.exit()` and `.enter()` switch modules.

The stand-ins offer nothing that the real widgets lack: `test_qt_emulator.py` holds their names,
signals and properties, the `.ui` files, and what the modules use against `widgets.json` (see
`table`). Set FUZZYVESSEL_SLICER_SOURCE to a checkout of Slicer to run the same tests on its own
base classes and parameter nodes.

To run something while a panel works, replace `slicer.app.processEvents` by monkeypatch: the panel
calls it between two steps of a run.
"""


def stand_ins_of():
    """All stand-ins for classes of Slicer and CTK."""
    from .application import install

    install()
    from .stand_ins import OTHERS, WIDGETS

    return (*WIDGETS, *OTHERS)

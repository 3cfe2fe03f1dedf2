"""The script of the documents' pictures finds all that it uses; on small phantoms."""

import pytest

from FuzzyConnectedGPUMRML import sample_data
from FuzzyVesselCoreLib.phantom.liver import liver_phantom


@pytest.mark.parametrize("name", ["tutorial", "branches", "vessels"])
def test_pictures_are_drawn(open_panel, monkeypatch, tmp_path, name):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    import pictures

    pictures.slice_view.need_rendering()
    drawn, windows, Window = [], [], pictures.Window

    def small_window(*arguments):
        windows.append(Window(*arguments, size=(90, 90)))
        return windows[-1]

    monkeypatch.setattr(sample_data, "PHANTOM_SIZE", 64)
    monkeypatch.setattr(pictures, "liver_phantom", lambda *_: liver_phantom((64, 64, 64)))
    monkeypatch.setattr(pictures, "Window", small_window)
    monkeypatch.setattr(pictures, "write", lambda picture, path: drawn.append(picture.std()))
    try:
        pictures.SETS[name](tmp_path)
    except BaseException:
        windows[-1].close()  # one that is left open crashes the process
        raise
    assert min(drawn) > 9

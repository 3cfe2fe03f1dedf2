"""Fixtures of the command line's tests."""

import pytest


@pytest.fixture
def without_3d(monkeypatch):
    """Spare the seconds of rendering where the picture is not what is tested."""
    from fuzzy_vessel import pictures
    from fuzzy_vessel.rendering import CannotRender

    def cannot(*_):
        raise CannotRender("no 3D in this test")

    monkeypatch.setattr(pictures, "render", cannot)


@pytest.fixture(autouse=True)
def read_here(request, monkeypatch):
    """Read files in the test's own process, but in tests marked `child`: a start takes a second."""
    from fuzzy_vessel.reading import process

    if not request.node.get_closest_marker("child"):
        monkeypatch.setattr(process, "_run", lambda path, folder: process.main(folder) or "")
        monkeypatch.setattr(process, "limit_memory", lambda size: None)

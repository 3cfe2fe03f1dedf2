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

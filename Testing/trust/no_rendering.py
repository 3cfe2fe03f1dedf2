"""Spares the seconds of rendering in 3D where the picture is not what is tested."""

from contextlib import contextmanager


@contextmanager
def no_rendering():
    """In the block, pictures are made as on a machine that cannot render off screen."""
    from fuzzy_vessel.pictures import offscreen

    def cannot(*_):
        raise offscreen.CannotRender("no 3D in this test")

    earlier, offscreen.render = offscreen.render, cannot
    try:
        yield
    finally:
        offscreen.render = earlier

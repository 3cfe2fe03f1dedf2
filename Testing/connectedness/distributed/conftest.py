"""What the tests of runs over blocks share: a volume, its connectedness, and a zarr array of it."""

import pytest

from support import block_scene


@pytest.fixture(scope="module")
def volume():
    return block_scene.noisy_volume()


@pytest.fixture(scope="module")
def whole(volume):
    return block_scene.on_the_whole(volume)


@pytest.fixture
def source(volume, tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3")
    path = tmp_path / "source.zarr"
    zarr.create_array(str(path), data=volume, chunks=(7, 8, 9))
    return path

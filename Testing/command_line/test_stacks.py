"""OME-Zarr and TIFF in, labels out: by zarr and tifffile; hostile files; packages missing."""

import gzip
import json
import sys

import numpy as np
import pytest

from fuzzy_vessel.reading import volumes
from fuzzy_vessel.reading.process import Choice
from FuzzyVesselCoreLib.errors import InputError

pytest.importorskip("slicer", reason="slicer-core is not installed")
zarr = pytest.importorskip("zarr", reason="zarr is not installed")
tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
SHAPE = (12, 20, 28)


def vessel():
    """A bright tube along I, with a texture that tells each voxel."""
    k, j, i = np.indices(SHAPE)
    rng = np.random.default_rng(3)
    tube = (k - 6) ** 2 + (j - 10) ** 2 <= 9
    return (np.where(tube, 300, 90) + rng.normal(0, 8, SHAPE) + i % 3).astype(np.uint16)


def write_zarr(path, array, axes="zyx", unit="micrometer", version="0.4", **more):
    """An OME-Zarr image of two resolutions with voxels of 2, 0.5, 0.5 units, at 10, 20, 30."""
    space = {"z": (2.0, 10.0), "y": (0.5, 20.0), "x": (0.5, 30.0)}
    kinds = {"t": "time", "c": "channel"}
    datasets = []
    group = zarr.open_group(str(path), mode="w", zarr_format=2 if version == "0.4" else 3)
    for level in (0, 1):
        step = 2**level
        part = array[..., ::1, ::step, ::step]
        size = [space.get(a, (1.0, 0.0))[0] * (step if a in "yx" else 1) for a in axes]
        at = [space.get(a, (1.0, 0.0))[1] for a in axes]
        placed = [{"type": "scale", "scale": size}, {"type": "translation", "translation": at}]
        datasets.append({"path": f"level {level}", "coordinateTransformations": placed})
        chunks = tuple(min(8, n) for n in part.shape)
        group.create_array(f"level {level}", data=part, chunks=chunks, **more)
    units = {a: {"unit": unit} for a in "zyx" if unit}
    listed = [{"name": a, "type": kinds.get(a, "space"), **units.get(a, {})} for a in axes]
    content = {"multiscales": [{"version": version, "axes": listed, "datasets": datasets}]}
    group.attrs.update(content if version == "0.4" else {"ome": content})
    return path


def voxels(node):
    import slicer

    return slicer.util.arrayFromVolume(node)


# --- OME-Zarr in


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_an_ome_zarr_is_a_volume_in_its_place(slicer_scene, tmp_path, version):
    from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras

    path = write_zarr(tmp_path / "brain, left.ome.zarr", vessel(), version=version)
    node = volumes.read_volume(path)
    assert np.array_equal(voxels(node), vessel())
    expected = np.diag([-0.0005, -0.0005, 0.002, 1.0])
    expected[:3, 3] = -0.030, -0.020, 0.010
    np.testing.assert_allclose(ijk_to_ras(node), expected, atol=1e-9)
    assert node.GetName() == "brain, left"
    coarse = volumes.read_volume(path / "level 1")
    assert np.array_equal(voxels(coarse), vessel()[:, ::2, ::2])
    np.testing.assert_allclose(coarse.GetSpacing(), (0.001, 0.001, 0.002))


def changed(path, **values):
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, **values}))


def huge(path):
    changed(path / "level 0/.zarray", shape=[10**5] * 3)


def link(path):
    (path / "level 0/0.0.0").unlink()
    (path / "level 0/0.0.0").symlink_to("/dev/zero")


def deflate_bomb(path):
    changed(path / "level 0/.zarray", compressor={"id": "gzip", "level": 1}, filters=None)
    for chunk in (path / "level 0").glob("?.?.?"):
        chunk.unlink()
    (path / "level 0/0.0.0").write_bytes(gzip.compress(bytes(1 << 26)))


def no_multiscales(path):
    (path / ".zattrs").write_text("{}")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (huge, "GiB, more than this machine"),
        (link, "'0.0.0' is no regular file"),
        (deflate_bomb, "longer than its header declares"),
        (no_multiscales, "no OME-Zarr image"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_hostile_folders_are_refused_by_name(slicer_scene, tmp_path, damage, message):
    path = write_zarr(tmp_path / "bad.zarr", vessel())
    damage(path)
    with pytest.raises(InputError, match=message) as error:
        volumes.read_volume(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


# --- TIFF in


def test_an_imagej_stack_has_its_spacing(slicer_scene, tmp_path):
    path = tmp_path / "stack, 1.tif"
    told = {"spacing": 3.0, "unit": "um", "axes": "ZYX"}
    tifffile.imwrite(path, vessel(), imagej=True, resolution=(2, 4), metadata=told)
    node = volumes.read_volume(path)
    assert np.array_equal(voxels(node), vessel())
    np.testing.assert_allclose(node.GetSpacing(), (0.0005, 0.00025, 0.003))
    assert volumes.notes_of(node) == []


def test_an_ome_tiff_has_its_spacing_and_channels(slicer_scene, tmp_path):
    path = tmp_path / "stack.ome.tiff"
    both = np.stack([vessel(), vessel() + 5], axis=1)
    told = {
        "axes": "ZCYX",
        **{f"PhysicalSize{a}": size for a, size in zip("XYZ", (0.4, 0.5, 2))},
        **{f"PhysicalSize{a}Unit": "µm" for a in "XYZ"},
    }
    tifffile.imwrite(path, both, metadata=told, compression="zlib")
    with pytest.raises(InputError, match="--channel N"):
        volumes.read_volume(path)
    node = volumes.read_volume(path, Choice(channel=1))
    assert np.array_equal(voxels(node), vessel() + 5)
    np.testing.assert_allclose(node.GetSpacing(), (0.0004, 0.0005, 0.002))


@pytest.mark.parametrize(("cut", "imagej"), [(0, False), (5, True), (200, False), (-40, True)])
def test_a_tiff_that_was_cut_short_is_refused(slicer_scene, tmp_path, cut, imagej):
    path = tmp_path / "cut.tif"
    tifffile.imwrite(path, vessel(), imagej=imagej)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"cut\.tif") as error:
        volumes.read_volume(path)
    assert "\n" not in str(error.value)


# --- from end to end


@pytest.mark.parametrize(("package", "extra"), [("zarr", "zarr"), ("tifffile", "tiff")])
def test_a_missing_package_is_named(slicer_scene, tmp_path, monkeypatch, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    path = write_zarr(tmp_path / "a.zarr", vessel()) if extra == "zarr" else tmp_path / "a.tif"
    if extra == "tiff":
        path.write_bytes(b"II*\0")
    with pytest.raises(InputError, match=rf"pip install 'fuzzy-vessel-gpu\[{extra}\]'"):
        volumes.read_volume(path)

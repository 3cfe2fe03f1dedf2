"""Files in: values and geometry against bytes written here, one clear line for every bad file.

Tests marked `child` read in a process of their own, as users do.
"""

import gzip
import json
import random
import re
import shutil
import struct
import sys
import zipfile

import numpy as np
import pytest

from fuzzy_vessel import headless
from fuzzy_vessel.reading import process, volumes
from fuzzy_vessel.reading.process import Choice
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras
from support import dicom_files
from support.image_files import write_metaimage, write_nifti, write_nrrd

slicer = pytest.importorskip("slicer", reason="slicer-core is not installed")


RNG = np.random.default_rng(5)
VALUES = RNG.integers(-1000, 1000, (4, 5, 6)).astype(np.int16)
FRAMES = RNG.integers(0, 1000, (3, 4, 5, 6)).astype(np.int16)
WRITERS = [
    ("a.nrrd", write_nrrd, {}, [-10, -20, 30]),
    ("b.nrrd", write_nrrd, {"packed": True}, [-10, -20, 30]),
    ("c.mha", write_metaimage, {}, [-5, -5, 5]),
    ("d.mha", write_metaimage, {"packed": True}, [-5, -5, 5]),
    ("e.mhd", write_metaimage, {"data_name": "e.raw"}, [-5, -5, 5]),
    ("f.nii", write_nifti, {}, [3, 4, 5]),
    ("g.nii.gz", write_nifti, {}, [3, 4, 5]),
]
each_format = pytest.mark.parametrize(("name", "write", "options", "origin"), WRITERS)


@pytest.fixture(autouse=True)
def application():
    app = headless.start()
    yield app
    app.clear()


def array_of(node):
    return slicer.util.arrayFromVolume(node)


def refusal(path, read=volumes.read_volume, named=None):
    """The one line that refuses a file, which it names."""
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert (named or path).name in message
    assert message.isprintable()
    assert len(message) < 1000
    return message


# ---- what is in the file


@each_format
def test_values_and_geometry_are_those_of_the_file(tmp_path, name, write, options, origin):
    node = volumes.read_volume(write(tmp_path / name, VALUES, **options))
    np.testing.assert_array_equal(array_of(node), VALUES)
    assert array_of(node).dtype == VALUES.dtype
    expected = np.diag([1, 1, 2, 1.0] if ".nii" in name else [-1, -1, 2, 1.0])
    expected[:3, 3] = origin
    np.testing.assert_allclose(ijk_to_ras(node), expected, atol=1e-6)
    assert node.GetName() == name.split(".")[0]
    assert not node.GetAttribute(volumes.K_REVERSED)


@pytest.mark.parametrize(
    "name", ["head_mra_oblique.nii.gz", "aorta_mra.mha", "circle_of_willis_mra_small.nrrd", "left"]
)
def test_volumes_are_those_that_slicers_own_reader_makes(data_folder, tmp_path, name):
    path = data_folder / name
    if name == "left":
        directions = ["(0.8,0.6,0)", "(-0.6,0.8,0)", "(0,0,-2)"]
        path = write_nrrd(tmp_path / "left.nrrd", VALUES, directions=directions)
    ours = volumes.read_volume(path)
    theirs = slicer.modules.volumes.logic().AddArchetypeVolume(str(path), "own", 4)
    np.testing.assert_array_equal(array_of(ours), array_of(theirs))
    assert array_of(ours).dtype == array_of(theirs).dtype
    np.testing.assert_allclose(ijk_to_ras(ours), ijk_to_ras(theirs), atol=1e-9)
    assert bool(ours.GetAttribute(volumes.K_REVERSED)) == (name == "left")


def write_time_first(path, frames):
    directions = ["none", "(1,0,0)", "(0,1,0)", "(0,0,2)"]
    kinds = ["list", "domain", "domain", "domain"]
    return write_nrrd(path, np.moveaxis(frames, 0, -1).copy(), kinds=kinds, directions=directions)


@pytest.mark.parametrize(
    ("name", "write", "origin"),
    [
        ("b.nii.gz", write_nifti, [3, 4, 5]),
        ("c.mha", write_metaimage, [-5, -5, 5]),
        ("d.seq.nrrd", write_time_first, [-10, -20, 30]),
    ],
)
def test_one_frame_of_a_4d_file(tmp_path, name, write, origin):
    path = write(tmp_path / name, FRAMES)
    with pytest.raises(InputError, match=r"3 frames .*--frame N, N = 0 to 2"):
        volumes.read_volume(path)
    with pytest.raises(InputError, match="no --frame 3"):
        volumes.read_volume(path, Choice(frame=3))
    node = volumes.read_volume(path, Choice(frame=2))
    np.testing.assert_array_equal(array_of(node), FRAMES[2])
    np.testing.assert_allclose(ijk_to_ras(node)[:3, 3], origin, atol=1e-6)
    np.testing.assert_allclose(node.GetSpacing(), [1, 1, 2], atol=1e-6)


# ---- bad files


@pytest.mark.child
@each_format
def test_a_file_that_was_cut_short(tmp_path, name, write, options, origin):
    path = write(tmp_path / name, VALUES, keep=100, **options)
    assert re.search("cut short|not read completely|got only|received 100", refusal(path))
    path = write(tmp_path / name, VALUES, **options)
    if options.get("packed") or name.endswith(".gz"):  # damaged in the middle
        content = bytearray(path.read_bytes())
        content[-60] ^= 1
        path.write_bytes(content)
    else:
        data = path if name != "e.mhd" else tmp_path / "e.raw"
        data.write_bytes(data.read_bytes()[:-40])
    refusal(path)


def test_what_cannot_be_read_is_named(tmp_path):
    colours = RNG.integers(0, 255, (4, 5, 6, 3)).astype(np.uint8)
    directions = ["none", "(1,0,0)", "(0,1,0)", "(0,0,2)"]
    kinds = ["RGB-color", "domain", "domain", "domain"]
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8")
    (tmp_path / "series.tar.gz").write_bytes(b"\x1f\x8b")
    (tmp_path / "empty.nii").write_bytes(b"")
    (tmp_path / "letter.mha").write_text("Dear colleague, please find the scan attached.\n" * 20)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("nothing here")
    nan, flat = ["(nan,0,0)", "(0,1,0)", "(0,0,2)"], ["(1,0,0)", "(1,0,0)", "(0,0,2)"]
    for path, said in (
        (tmp_path / "gone.nrrd", "there is no such file"),
        (tmp_path / "photo.jpg", "files of this kind are not read; .nrrd"),
        (tmp_path / "series.tar.gz", "an archive must be unpacked"),
        (tmp_path / "empty.nii", "the file is empty"),
        (tmp_path / "letter.mha", "this is not an image"),
        (tmp_path / "folder", "no DICOM image"),
        (write_nrrd(tmp_path / "a.nrrd", VALUES.astype(np.int64)), "voxel type int64 is not supp"),
        (write_nrrd(tmp_path / "c.nrrd", colours, kinds=kinds, directions=directions), "3 values"),
        (write_metaimage(tmp_path / "b.mha", colours, channels=3), "each voxel holds 3 values"),
        (write_nifti(tmp_path / "c.nii", colours, colours=True), "each voxel holds 3 values"),
        (write_nrrd(tmp_path / "n.nrrd", VALUES, directions=nan), ""),
        (write_nrrd(tmp_path / "p.nrrd", VALUES, directions=flat), ""),
    ):
        assert said in refusal(path)


@pytest.mark.child
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does it")
def test_sizes_that_no_file_can_hold_cost_no_memory(tmp_path, monkeypatch):
    path = write_nrrd(tmp_path / "a.nrrd", VALUES)
    text = path.read_bytes()
    path.write_bytes(text.replace(b"sizes: 6 5 4", b"sizes: 65536 65536 65536"))
    assert "more than this machine's memory can hold" in refusal(path)
    monkeypatch.setattr(process, "memory_of_the_machine", lambda: 400)
    assert "GiB" in refusal(write_nrrd(tmp_path / "b.nrrd", VALUES))
    assert "GiB" in refusal(write_nifti(tmp_path / "b.nii.gz", VALUES))


@pytest.mark.child
def test_a_reader_that_hangs_or_crashes_is_one_line(tmp_path, monkeypatch):
    path = write_nrrd(tmp_path / "a.nrrd", VALUES)
    child = tmp_path / "child.py"
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(process, "CHILD", "child")
    child.write_text("import os; os.write(2, b'last words\\n'); os.abort()")
    assert "last words" in refusal(path)
    monkeypatch.setattr(process, "SECONDS", 1)
    child.write_text("import time; time.sleep(60)")
    assert "took too long" in refusal(path)


@pytest.mark.child
@pytest.mark.parametrize("name", ["a.nrrd", "z.nrrd", "a.mha", "z.mha", "a.nii"])
def test_mutated_headers_are_read_or_refused(tmp_path, name):
    """Bytes changed at random: SimpleITK alone crashes on one file in twenty."""
    write = {"nrrd": write_nrrd, "mha": write_metaimage, "nii": write_nifti}[name.split(".")[1]]
    options = {"packed": True} if name.startswith("z") else {}
    content = write(tmp_path / name, VALUES, **options).read_bytes()
    source = random.Random(name)
    for _ in range(3):
        changed = bytearray(content)
        for _ in range(source.choice([1, 3, 8])):
            changed[source.randrange(340)] ^= 1 << source.randrange(8)
        digits = list(re.finditer(rb"\d+", bytes(changed[:340])))
        if digits and source.random() < 0.5:
            found = source.choice(digits)
            changed[found.start() : found.end()] = source.choice([b"-1", b"99999999", b"1e300"])
        path = tmp_path / f"mutated {name}"
        path.write_bytes(changed)
        said = f"{path}: "
        try:
            assert np.isfinite(ijk_to_ras(volumes.read_volume(path))).all()
        except InputError as error:
            said = str(error)
        assert said.startswith(f"{path}: ")
        assert said.isprintable()


# ---- DICOM: twelve original slices, under names that say nothing about their order


@pytest.fixture(scope="module")
def dicom_slices(data_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dicom")
    with zipfile.ZipFile(data_folder / "ircadb01_01_dicom_12slices.zip") as archive:
        archive.extractall(folder)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def shuffled(slices, folder):
    """Copy files under new names in a random order; return the folder."""
    folder.mkdir()
    for number, place in enumerate(np.random.default_rng(1).permutation(len(slices))):
        shutil.copy(slices[place], folder / f"{number:02d}.dcm")
    return folder


def test_dicom_slices_are_ordered_by_their_position(dicom_slices, data_folder, tmp_path):
    folder = shuffled(dicom_slices, tmp_path / "liver scan")
    (folder / "readme.txt").write_text("not an image")
    node = volumes.read_volume(folder)
    whole = volumes.read_volume(data_folder / "ircadb01_01_ct.nrrd")
    np.testing.assert_array_equal(array_of(node), array_of(whole)[60:72])
    expected = ijk_to_ras(whole)
    expected[:, 3] = expected @ [0, 0, 60, 1]
    np.testing.assert_allclose(ijk_to_ras(node), expected, atol=1e-5)
    assert node.GetName() == "liver scan"


def test_gaps_doubles_and_other_series_are_named(dicom_slices, tmp_path):
    folder = shuffled(dicom_slices[:5] + dicom_slices[6:], tmp_path / "gap")
    assert re.search(r"3\.20 mm between .*positions 102\.40 and 105\.60", refusal(folder))
    folder = shuffled(dicom_slices, tmp_path / "twice")
    shutil.copy(dicom_slices[3], folder / "copy.dcm")
    assert re.search(r"0\.00 mm between .*positions 100\.80 and 100\.80 mm", refusal(folder))
    folder = shuffled(dicom_slices[:8], tmp_path / "mixed")
    for path in dicom_slices[8:]:
        content = path.read_bytes()
        uid = content.index(b"1.2.826.0.1.3680043.2.1125.9647753419956608505832502991212815128")
        (folder / path.name).write_bytes(content[:uid] + b"9" + content[uid + 1 :])
    assert re.search(r"holds 2 series: .*\(8 images .*\(4 images", refusal(folder))


@pytest.mark.child
@pytest.mark.parametrize("number", [0, 3])
def test_a_damaged_slice_is_not_left_out(tmp_path, number):
    # The first and the last one leave no gap: the volume would be shorter without a word.
    path = dicom_files.write_series(tmp_path / "scan")[number]
    path.write_bytes(path.read_bytes()[:-40])
    refusal(tmp_path / "scan")
    path.write_bytes(path.read_bytes()[:300])
    assert path.name in refusal(tmp_path / "scan")


@pytest.mark.parametrize(
    ("tag", "value", "message"),
    [
        ((0x0020, 0x0032), (b"DS", "nan\\nan\\nan"), "the position or the orientation"),
        ((0x0028, 0x0100), (b"US", struct.pack("<H", 12)), "pixels have 12 bits"),
        ((0x0028, 0x0100), (b"US", struct.pack("<H", 8)), "2 series"),
        ((0x0028, 0x0103), (b"US", struct.pack("<H", 0)), "2 series"),
    ],
)
def test_slices_that_cannot_stand_beside_each_other(tmp_path, tag, value, message):
    path = dicom_files.write_series(tmp_path / "scan")[2]
    path.write_bytes(dicom_files.dicom_bytes({**dicom_files.slice_tags(2), tag: value}))
    assert message in refusal(tmp_path / "scan")


# ---- lists of points


@pytest.mark.parametrize(("system", "expected"), [("RAS", [1, 2, 3]), ("LPS", [-1, -2, 3])])
@pytest.mark.parametrize("strange", [[[]], "", {"a": 1}])
def test_points_in_both_coordinate_systems(tmp_path, system, expected, strange):
    """And what no seed needs is not looked at: Slicer's reader ended the process there."""
    point = {"label": "aorta", "position": [1, 2, 3], "orientation": strange}
    unplaced = {"label": "later", "positionStatus": "undefined"}
    markup = {"type": "Fiducial", "controlPoints": [point, unplaced], "measurements": strange}
    path = tmp_path / "seeds.mrk.json"
    path.write_text(json.dumps({"markups": [{**markup, "coordinateSystem": system}]}))
    node = volumes.read_seeds(path)
    np.testing.assert_allclose(slicer.util.arrayFromMarkupsControlPoints(node), [expected])
    assert node.GetNthControlPointLabel(0) == "aorta"
    assert node.GetStorageNode() is None


@pytest.mark.parametrize(
    "text",
    [
        "265,206,70",
        "[" * 100_000,
        '{"markups": [{"type": "Line"}]}',
        '{"markups": [{"type": ["Fiducial"]}]}',
        '{"markups": {"type": "Fiducial"}}',
        '{"markups": [{"type": "\\u001b[2J"}]}',
        '{"markups": [{"type": "Fiducial", "controlPoints": [[]]}]}',
        '{"markups": [{"type": "Fiducial", "controlPoints": {"a": 1}}]}',
        '{"markups": [{"type": "Fiducial", "controlPoints": [{"position": [1, 2]}]}]}',
        '{"markups": [{"type": "Fiducial", "controlPoints": [{"position": [1, 2, NaN]}]}]}',
        '{"markups": [{"type": "Fiducial", "controlPoints": [{"positionStatus": "lost"}]}]}',
        '{"markups": [{"type": "Fiducial", "coordinateSystem": "XYZ"}]}',
    ],
)
def test_points_that_are_none(tmp_path, text):
    path = tmp_path / "seeds.mrk.json"
    path.write_text(text)
    refusal(path, volumes.read_seeds)


# ---- OME-Zarr and TIFF in, labels out: by zarr and tifffile; hostile files; packages missing


zarr = pytest.importorskip("zarr", reason="zarr is not installed")
tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
SHAPE = (12, 20, 28)


def vessel():
    """A bright tube along I, with a texture that tells each voxel."""
    k, j, i = np.indices(SHAPE)
    rng = np.random.default_rng(3)
    tube = (k - 6) ** 2 + (j - 10) ** 2 <= 9
    return (np.where(tube, 300, 90) + rng.normal(0, 8, SHAPE) + i % 3).astype(np.uint16)


def write_zarr(path, array, version="0.4"):
    """An OME-Zarr image of two resolutions with voxels of 2, 0.5, 0.5 um, at 10, 20, 30."""
    datasets, at = [], [10.0, 20.0, 30.0]
    group = zarr.open_group(str(path), mode="w", zarr_format=2 if version == "0.4" else 3)
    for level, step in enumerate((1, 2)):
        size = [2.0, 0.5 * step, 0.5 * step]
        placed = [{"type": "scale", "scale": size}, {"type": "translation", "translation": at}]
        datasets.append({"path": f"level {level}", "coordinateTransformations": placed})
        group.create_array(f"level {level}", data=array[:, ::step, ::step], chunks=(8, 8, 8))
    axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    content = {"multiscales": [{"version": version, "axes": axes, "datasets": datasets}]}
    group.attrs.update(content if version == "0.4" else {"ome": content})
    return path


# --- OME-Zarr in


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_an_ome_zarr_is_a_volume_in_its_place(slicer_scene, tmp_path, version):
    path = write_zarr(tmp_path / "brain, left.ome.zarr", vessel(), version=version)
    node = volumes.read_volume(path)
    assert np.array_equal(array_of(node), vessel())
    expected = np.diag([-0.0005, -0.0005, 0.002, 1.0])
    expected[:3, 3] = -0.030, -0.020, 0.010
    np.testing.assert_allclose(ijk_to_ras(node), expected, atol=1e-9)
    assert node.GetName() == "brain, left"
    coarse = volumes.read_volume(path / "level 1")
    assert np.array_equal(array_of(coarse), vessel()[:, ::2, ::2])
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
    assert np.array_equal(array_of(node), vessel())
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
    assert np.array_equal(array_of(node), vessel() + 5)
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

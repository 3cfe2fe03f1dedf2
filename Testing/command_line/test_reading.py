"""Files in: values and geometry against bytes written here, a clear word for every bad file."""

import gzip
import json
import shutil
import struct
import zipfile

import numpy as np
import pytest

from support.image_files import write_metaimage, write_nifti, write_nrrd

pytest.importorskip("slicer", reason="slicer-core is not installed")

from fuzzy_vessel.reading import seeds, volumes
from fuzzy_vessel.slicer_host import headless
from FuzzyVesselCoreLib.errors import InputError

RNG = np.random.default_rng(5)
VALUES = RNG.integers(-1000, 1000, (4, 5, 6)).astype(np.int16)
FRAMES = RNG.integers(0, 1000, (3, 4, 5, 6)).astype(np.int16)


@pytest.fixture(autouse=True)
def application():
    app = headless.start()
    yield app
    app.clear()


def array_of(node):
    import slicer

    return slicer.util.arrayFromVolume(node)


def ijk_to_ras(node):
    import slicer
    import vtk

    matrix = vtk.vtkMatrix4x4()
    node.GetIJKToRASMatrix(matrix)
    return slicer.util.arrayFromVTKMatrix(matrix)


@pytest.mark.parametrize(
    ("name", "write", "options", "expected_matrix"),
    [
        ("a.nrrd", write_nrrd, {}, ([-1, -1, 2], [-10, -20, 30])),
        ("b.nrrd", write_nrrd, {"packed": True}, ([-1, -1, 2], [-10, -20, 30])),
        ("c.mha", write_metaimage, {}, ([-1, -1, 2], [-5, -5, 5])),
        ("d.mha", write_metaimage, {"packed": True}, ([-1, -1, 2], [-5, -5, 5])),
        ("e.mhd", write_metaimage, {"data_name": "e.raw"}, ([-1, -1, 2], [-5, -5, 5])),
        ("f.nii", write_nifti, {}, ([1, 1, 2], [3, 4, 5])),
        ("g.nii.gz", write_nifti, {}, ([1, 1, 2], [3, 4, 5])),
    ],
)
def test_values_and_geometry_are_those_of_the_file(tmp_path, name, write, options, expected_matrix):
    node = volumes.read_volume(write(tmp_path / name, VALUES, **options))
    np.testing.assert_array_equal(array_of(node), VALUES)
    assert array_of(node).dtype == VALUES.dtype
    diagonal, origin = expected_matrix
    expected = np.diag([*diagonal, 1.0])
    expected[:3, 3] = origin
    np.testing.assert_allclose(ijk_to_ras(node), expected, atol=1e-6)
    assert node.GetName() == name.split(".")[0]
    assert not node.GetAttribute(volumes.K_REVERSED)


def test_slices_that_slicer_turns_round_are_marked(tmp_path):
    directions = ["(1,0,0)", "(0,1,0)", "(0,0,-2)"]
    node = volumes.read_volume(write_nrrd(tmp_path / "a.nrrd", VALUES, directions=directions))
    np.testing.assert_array_equal(array_of(node), VALUES[::-1])
    assert node.GetAttribute(volumes.K_REVERSED)


def test_a_file_is_read_alone_although_its_neighbours_have_numbers(tmp_path):
    for number in range(3):
        write_nrrd(tmp_path / f"scan{number}.nrrd", VALUES + np.int16(number))
    node = volumes.read_volume(tmp_path / "scan1.nrrd")
    np.testing.assert_array_equal(array_of(node), VALUES + 1)


def write_time_first(path, frames):
    directions = ["none", "(1,0,0)", "(0,1,0)", "(0,0,2)"]
    kinds = ["list", "domain", "domain", "domain"]
    return write_nrrd(path, np.moveaxis(frames, 0, -1).copy(), kinds=kinds, directions=directions)


def write_time_last(path, frames):
    directions = ["(1,0,0)", "(0,1,0)", "(0,0,2)", "none"]
    kinds = ["domain", "domain", "domain", "time"]
    return write_nrrd(path, frames, packed=True, kinds=kinds, directions=directions)


@pytest.mark.parametrize(
    ("name", "write", "origin"),
    [
        ("a.nii", write_nifti, [3, 4, 5]),
        ("b.nii.gz", write_nifti, [3, 4, 5]),
        ("c.mha", write_metaimage, [-5, -5, 5]),
        ("d.seq.nrrd", write_time_first, [-10, -20, 30]),
        ("e.nrrd", write_time_last, [-10, -20, 30]),
    ],
)
def test_one_frame_of_a_4d_file(tmp_path, name, write, origin):
    path = write(tmp_path / name, FRAMES)
    with pytest.raises(InputError, match=r"3 frames .*--frame N, N = 0 to 2"):
        volumes.read_volume(path)
    with pytest.raises(InputError, match="no frame 3"):
        volumes.read_volume(path, frame=3)
    node = volumes.read_volume(path, frame=2)
    np.testing.assert_array_equal(array_of(node), FRAMES[2])
    np.testing.assert_allclose(ijk_to_ras(node)[:3, 3], origin, atol=1e-6)
    np.testing.assert_allclose(node.GetSpacing(), [1, 1, 2], atol=1e-6)


def test_the_frame_of_a_3d_file_is_left_out(tmp_path):
    path = write_nrrd(tmp_path / "a.nrrd", VALUES)
    with pytest.raises(InputError, match="one frame only"):
        volumes.read_volume(path, frame=1)


@pytest.mark.parametrize(
    ("name", "write", "options"),
    [
        ("a.nrrd", write_nrrd, {"keep": 100}),
        ("b.nrrd", write_nrrd, {"keep": 100, "packed": True}),
        ("c.mha", write_metaimage, {"keep": 100}),
        ("d.mha", write_metaimage, {"keep": 100, "packed": True}),
        ("e.mhd", write_metaimage, {"keep": 100, "data_name": "e.raw"}),
        ("f.nii", write_nifti, {"keep": 100}),
        ("g.nii.gz", write_nifti, {"keep": 100}),
    ],
)
def test_a_file_that_was_cut_short(tmp_path, name, write, options):
    path = write(tmp_path / name, VALUES, **options)
    with pytest.raises(InputError, match=rf"{name}: .*140 of 240 bytes"):
        volumes.read_volume(path)


def test_a_packed_file_that_lost_its_end(tmp_path):
    path = write_nifti(tmp_path / "a.nii.gz", VALUES, cut_file=300)
    with pytest.raises(InputError, match="cut short"):
        volumes.read_volume(path)


@pytest.mark.parametrize("name", ["a.nrrd", "a.nhdr", "a.mha", "a.mhd", "a.nii", "a.nii.gz"])
def test_what_is_no_image(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"a\..*: the file is empty"):
        volumes.read_volume(path)
    path.write_text("Dear colleague, please find the scan attached.\n" * 20)
    with pytest.raises(InputError, match=r"a\..*: this is not an image"):
        volumes.read_volume(path)


def test_a_missing_file_and_an_unknown_kind(tmp_path):
    with pytest.raises(InputError, match=r"gone\.nrrd: there is no such file"):
        volumes.read_volume(tmp_path / "gone.nrrd")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8")
    with pytest.raises(InputError, match=r"photo\.jpg: files of this kind are not read; \.nrrd"):
        volumes.read_volume(tmp_path / "photo.jpg")
    path = write_metaimage(tmp_path / "a.mhd", VALUES, data_name="a.raw")
    (tmp_path / "a.raw").unlink()
    with pytest.raises(InputError, match=r"a\.mhd: .*a\.raw is missing"):
        volumes.read_volume(path)


@pytest.mark.parametrize("name", ["scan.zip", "series.tar.gz", "SCAN.ZIP"])
def test_an_archive_has_to_be_unpacked(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(InputError, match=r"this is an archive: unpack it"):
        volumes.read_volume(tmp_path / name)


def test_colours_are_refused(tmp_path):
    colours = RNG.integers(0, 255, (4, 5, 6, 3)).astype(np.uint8)
    directions = ["none", "(1,0,0)", "(0,1,0)", "(0,0,2)"]
    kinds = ["RGB-color", "domain", "domain", "domain"]
    for path in (
        write_nrrd(tmp_path / "a.nrrd", colours, kinds=kinds, directions=directions),
        write_metaimage(tmp_path / "b.mha", colours, channels=3),
        write_nifti(tmp_path / "c.nii", colours, colours=True),
    ):
        with pytest.raises(InputError, match=rf"{path.name}: each voxel holds 3 values"):
            volumes.read_volume(path)


@pytest.mark.parametrize("kind", ["int8", "uint32", "int64"])
def test_voxel_types_that_would_be_converted_silently_are_refused(tmp_path, kind):
    path = write_nrrd(tmp_path / "a.nrrd", VALUES.astype(kind))
    with pytest.raises(InputError, match=rf"a\.nrrd: the voxel type {kind} is not supported"):
        volumes.read_volume(path)


def test_a_mask_of_any_type_becomes_0_and_1(tmp_path):
    mask = (VALUES > 0).astype(np.int64) * 255
    node = volumes.read_mask(write_nifti(tmp_path / "mask.nii.gz", mask))
    assert node.IsA("vtkMRMLLabelMapVolumeNode")
    np.testing.assert_array_equal(array_of(node), VALUES > 0)


def test_a_mask_that_is_not_a_number_outside_is_refused(tmp_path):
    mask = np.where(VALUES > 0, 1, np.nan).astype(np.float32)
    path = write_nrrd(tmp_path / "mask.nrrd", mask)
    with pytest.raises(InputError, match=r"mask\.nrrd: the mask has voxels that are not a number"):
        volumes.read_mask(path)


def write_points(path, kind="Fiducial", system="RAS"):
    points = [{"id": "1", "label": "aorta", "position": [1, 2, 3], "positionStatus": "defined"}]
    markup = {"type": kind, "coordinateSystem": system, "controlPoints": points}
    path.write_text(json.dumps({"markups": [markup]}))
    return path


def test_points_in_both_coordinate_systems(tmp_path):
    import slicer

    for system, expected in (("RAS", [1, 2, 3]), ("LPS", [-1, -2, 3])):
        node = seeds.read_seeds(write_points(tmp_path / f"{system}.mrk.json", system=system))
        np.testing.assert_allclose(slicer.util.arrayFromMarkupsControlPoints(node), [expected])
        assert node.GetNthControlPointLabel(0) == "aorta"


def test_what_is_no_list_of_points(tmp_path):
    path = tmp_path / "seeds.mrk.json"
    with pytest.raises(InputError, match="no such file"):
        seeds.read_seeds(path)
    path.write_text("265,206,70")
    with pytest.raises(InputError, match=r"not a markups file.*--seed I,J,K"):
        seeds.read_seeds(path)
    with pytest.raises(InputError, match="the file holds Line"):
        seeds.read_seeds(write_points(path, kind="Line"))


def test_seeds_that_must_not_be_read_are_no_other_format(tmp_path):
    path = tmp_path / "seeds.mrk.json"
    path.mkdir()  # refused to everyone, unlike a file without permission
    with pytest.raises(InputError, match="seeds cannot be read: Is a directory"):
        seeds.read_seeds(path)


# DICOM: the twelve original slices, under names that say nothing about their order.


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


def test_a_missing_slice_is_named_by_its_neighbours(dicom_slices, tmp_path):
    folder = shuffled(dicom_slices[:5] + dicom_slices[6:], tmp_path / "gap")
    with pytest.raises(InputError, match=r"3\.20 mm between .*positions 102\.40 and 105\.60"):
        volumes.read_volume(folder)


def test_a_slice_that_is_there_twice_is_named(dicom_slices, tmp_path):
    folder = shuffled(dicom_slices, tmp_path / "twice")
    shutil.copy(dicom_slices[3], folder / "copy.dcm")
    with pytest.raises(InputError, match=r"same position 100\.80 mm: .*copy\.dcm"):
        volumes.read_volume(folder)


def test_two_series_in_one_folder_are_listed(dicom_slices, tmp_path):
    folder = shuffled(dicom_slices[:8], tmp_path / "mixed")
    for path in dicom_slices[8:]:
        content = path.read_bytes()
        uid = content.index(b"1.2.826.0.1.3680043.2.1125.9647753419956608505832502991212815128")
        changed = content[:uid] + b"9" + content[uid + 1 :]
        (folder / path.name).write_bytes(changed)
    with pytest.raises(InputError, match=r"holds 2 series: .*\(8 images .*\(4 images"):
        volumes.read_volume(folder)


def test_a_folder_without_dicom(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing here")
    with pytest.raises(InputError, match="no DICOM image"):
        volumes.read_volume(tmp_path)


@pytest.mark.parametrize("frame", [0, 1])
def test_a_frame_of_a_left_handed_oblique_scan_lies_where_its_header_says(data_folder, frame):
    path = data_folder / "oblique_lefthanded_4d.nii.gz"
    content = gzip.decompress(path.read_bytes())
    (offset,) = struct.unpack_from("<f", content, 108)
    frames = np.frombuffer(content, "<i2", 2 * 24 * 96 * 128, int(offset)).reshape(2, 24, 96, 128)
    file_to_ras = np.array(struct.unpack_from("<12f", content, 280)).reshape(3, 4)
    assert np.linalg.det(file_to_ras[:, :3]) < 0

    node = volumes.read_volume(path, frame=frame)
    assert node.GetAttribute(volumes.K_REVERSED)
    voxels = array_of(node)
    assert voxels.shape == frames.shape[1:]
    # Slicer turns left-handed axes round: the voxels are compared by their place in space.
    for i, j, k in [(64, 48, 12), (10, 80, 3), (100, 20, 20)]:
        place = np.append(file_to_ras @ [i, j, k, 1], 1)
        here = np.linalg.inv(ijk_to_ras(node)) @ place
        np.testing.assert_allclose(here, here.round(), atol=1e-3)
        x, y, z = here[:3].round().astype(int)
        assert voxels[z, y, x] == frames[frame, k, j, i]

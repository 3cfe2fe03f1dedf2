"""Files that mean harm or are badly damaged: what `Testing/trust` found, one case each."""

import gzip
import json
import resource
import struct
import sys
import tarfile
import zipfile

import numpy as np
import pytest

from support import dicom_files
from support.hostile_cases import zeros
from support.image_files import write_metaimage, write_nifti, write_nrrd

pytest.importorskip("slicer", reason="slicer-core is not installed")

from fuzzy_vessel.reading import formats, seeds, volumes
from fuzzy_vessel.slicer_host import headless
from fuzzy_vessel.writing.output_folder import OutputFolder
from FuzzyVesselCoreLib.errors import InputError

VALUES = np.random.default_rng(5).integers(-1000, 1000, (4, 5, 6)).astype(np.int16)


@pytest.fixture(autouse=True)
def application():
    app = headless.start()
    yield app
    app.clear()


def refusal(path, read=volumes.read_volume):
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert path.name in message
    assert message.isprintable()
    assert len(message) < 1000
    return message


# ---- sizes that no file can hold


@pytest.mark.parametrize("encoding", ["raw", "gzip", "ascii", "hex"])
@pytest.mark.parametrize("sizes", ["2147483647 2147483647 2147483647", "1 4294967296 1"])
def test_absurd_sizes_are_refused_before_any_memory_is_taken(tmp_path, encoding, sizes):
    path = tmp_path / "a.nrrd"
    data = gzip.compress(bytes(240)) if encoding == "gzip" else bytes(240)
    header = f"NRRD0004\ntype: short\ndimension: 3\nsizes: {sizes}\nendian: little\n"
    path.write_bytes(f"{header}encoding: {encoding}\n\n".encode() + data)
    assert "cut short" in refusal(path)


def test_absurd_sizes_of_text_in_a_metaimage(tmp_path):
    # Slicer's reader ended the process here: it reserved what the header claims.
    path = write_metaimage(tmp_path / "a.mha", VALUES)
    content = path.read_bytes().replace(b"BinaryData = True", b"BinaryData = False")
    path.write_bytes(content.replace(b"DimSize = 6 5 4", b"DimSize = 6 5 1099511627776"))
    assert "cut short" in refusal(path)


def test_a_length_at_the_end_of_gzip_is_not_believed(tmp_path):
    path = write_nrrd(tmp_path / "a.nrrd", VALUES, packed=True)
    content = path.read_bytes().replace(b"sizes: 6 5 4", b"sizes: 65536 65536 1")
    path.write_bytes(content[:-4] + struct.pack("<I", 2 * 65536 * 65536 % 2**32))
    refusal(path)


def test_text_and_hexadecimal_voxels_are_still_read(tmp_path):
    import slicer

    header = "NRRD0004\ntype: short\ndimension: 3\nsizes: 6 5 4\nendian: little\nencoding: "
    (tmp_path / "a.nrrd").write_text(header + "ascii\n\n" + " ".join(map(str, VALUES.flat)) + "\n")
    (tmp_path / "b.nrrd").write_text(header + "hex\n\n" + VALUES.tobytes().hex() + "\n")
    for name in ("a.nrrd", "b.nrrd"):
        node = volumes.read_volume(tmp_path / name)
        np.testing.assert_array_equal(slicer.util.arrayFromVolume(node), VALUES)


@pytest.mark.parametrize("name", ["LIST", "slice%02d.raw 0 3 1"])
def test_voxels_in_several_files_are_refused(tmp_path, name):
    path = write_metaimage(tmp_path / "a.mhd", VALUES, data_name="slice00.raw")
    path.write_text(path.read_text().replace("slice00.raw", name))
    assert "several files" in refusal(path)


# ---- packed data


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read as Linux tells it")
@pytest.mark.parametrize("name", ["a.nrrd", "a.mha", "a.nii.gz"])
def test_a_small_file_that_unpacks_to_a_gigabyte(tmp_path, name):
    bomb = zeros(1 << 30)
    path = tmp_path / name
    if name == "a.nrrd":
        header = "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 6 6 6\nencoding: gzip\n\n"
        path.write_bytes(header.encode() + bomb)
    elif name == "a.mha":
        write_metaimage(path, VALUES, packed=True)
        content = path.read_bytes()
        start = content.index(b"\n", content.index(b"ElementDataFile")) + 1
        path.write_bytes(content[:start] + bomb)
    else:
        start = write_nifti(tmp_path / "start.nii", VALUES).read_bytes()
        path.write_bytes(gzip.compress(start) + bomb)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "longer than its header declares" in refusal(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10  # KiB


@pytest.mark.parametrize("write", [write_nrrd, write_nifti])
def test_changed_bytes_in_packed_voxels_are_noticed(tmp_path, write):
    # Stored as they are within the gzip stream, so that only the checksum tells.
    path = write(tmp_path / ("a.nii" if write is write_nifti else "a.nrrd"), VALUES)
    content = path.read_bytes()
    if write is write_nifti:
        start, plain = b"", content
        path = tmp_path / "a.nii.gz"
    else:
        start, plain = content[: -VALUES.nbytes], content[-VALUES.nbytes :]
        start = start.replace(b"encoding: raw", b"encoding: gzip")
    packed = bytearray(gzip.compress(plain, 0))
    packed[-20] ^= 1
    path.write_bytes(start + packed)
    assert "damaged" in refusal(path)


def test_padding_behind_packed_data_does_no_harm(tmp_path):
    path = write_nifti(tmp_path / "a.nii.gz", VALUES)
    path.write_bytes(path.read_bytes() + bytes(512))
    assert formats.read_header(path).missing_bytes() == 0


# ---- headers


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        (b"DimSize = 6 5 4\n", b"DimSize = 6 5 4\nDimSize = 4 5 6\n"),
        (b"NDims = 3", b"NDims = 1.5"),
        (b"NDims = 3", b"NDims = 2"),
        (b"BinaryData = True", b"BinaryData = inf"),
        (b"CompressedData = False", b"CompressedData = 2"),
        (b"CompressedData = False", b"CompressedData = True\nCompressedDataSize = 99999999999999"),
        (b"CompressedData = False", b"CompressedData = True\nCompressedDataSize = -1"),
    ],
)
def test_an_ambiguous_metaimage_is_refused(tmp_path, there, instead):
    # Slicer's reader may take it for something else, and reserve or read what is not there.
    path = write_metaimage(tmp_path / "a.mha", VALUES)
    path.write_bytes(path.read_bytes().replace(there, instead))
    assert "its header" in refusal(path)


def test_a_long_line_in_a_nrrd_header_is_refused(tmp_path):
    # Slicer's reader ended the process here.
    path = write_nrrd(tmp_path / "a.nrrd", VALUES)
    path.write_bytes(path.read_bytes().replace(b"type:", b"A" * 70_000 + b": 1\ntype:"))
    assert "line 2 of its header has 70,003 characters" in refusal(path)
    long = b"patient note:=" + b"A" * 70_000 + b"\n\n"
    path = write_nrrd(tmp_path / "b.nrrd", VALUES)
    path.write_bytes(path.read_bytes().replace(b"\n\n", b"\n" + long, 1))
    volumes.read_volume(path)


@pytest.mark.parametrize("spacing", ["(nan,0,0) (0,1,0) (0,0,2)", "(1,0,0) (1,0,0) (0,0,2)"])
def test_axes_that_span_no_space_are_refused(tmp_path, spacing):
    refusal(write_nrrd(tmp_path / "a.nrrd", VALUES, directions=spacing.split()))


@pytest.mark.parametrize("code_at", [252, 254])
@pytest.mark.parametrize("wild", [np.nan, np.inf, 3e38])
def test_transforms_of_a_nifti_file_that_are_no_lengths(tmp_path, code_at, wild):
    # Slicer's reader did not come to an end with some of them.
    path = write_nifti(tmp_path / "a.nii", VALUES)
    content = bytearray(path.read_bytes())
    struct.pack_into("<h", content, code_at, 1)
    struct.pack_into("<f", content, 268 if code_at == 252 else 280, wild)  # qoffset_x, srow_x
    path.write_bytes(content)
    assert "position or axes" in refusal(path)


def test_a_message_quotes_no_control_characters(tmp_path):
    path = write_nrrd(tmp_path / "a.nrrd", VALUES)
    path.write_bytes(path.read_bytes().replace(b"type: short", b"type: \x1b[2Jshort" + b"x" * 5000))
    refusal(path)


# ---- lists of points


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"markups": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"markups": [{"type": ["Fiducial"]}]}',
        '{"markups": [{"type": null}]}',
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
    refusal(path, seeds.read_seeds)


@pytest.mark.parametrize("strange", [[[]], "", {"a": 1}, [[[[]]]]])
def test_what_no_seed_needs_is_not_handed_on(tmp_path, strange):
    # Slicer's reader ended the process at measurements that are no objects.
    point = {"label": "a", "position": [1, 2, 3], "orientation": strange, "measurements": strange}
    markup = {"type": "Fiducial", "measurements": strange, "display": strange}
    path = tmp_path / "seeds.mrk.json"
    path.write_text(json.dumps({"markups": [{**markup, "controlPoints": [point]}]}))
    node = seeds.read_seeds(path)
    assert node.GetNthControlPointPosition(0) == (-1, -2, 3)  # LPS, where no system is named
    assert node.GetNthControlPointLabel(0) == "a"
    assert node.GetStorageNode() is None


def test_points_that_were_not_placed_are_kept_as_such(tmp_path):
    points = [{"positionStatus": "undefined"}, {"position": [1, 2, 3]}]
    path = tmp_path / "seeds.mrk.json"
    path.write_text(json.dumps({"markups": [{"type": "Fiducial", "controlPoints": points}]}))
    node = seeds.read_seeds(path)
    assert node.GetNumberOfControlPoints() == 2
    assert node.GetNumberOfDefinedControlPoints() == 1


@pytest.mark.parametrize("text", ["[" * 100_000, '{"program": "fuzzy-vessel", "files": [[1]]}'])
def test_a_folder_whose_report_is_none_is_left_alone(tmp_path, text):
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(InputError, match="holds other files"), OutputFolder(tmp_path):
        pass
    assert (tmp_path / "report.json").read_text() == text


# ---- DICOM


def test_the_written_slices_are_dicom(tmp_path):
    paths = dicom_files.write_series(tmp_path / "scan")
    node = volumes.read_volume(tmp_path / "scan")
    assert node.GetImageData().GetDimensions() == (7, 6, len(paths))
    assert node.GetSpacing() == (1.0, 1.0, 2.0)


@pytest.mark.parametrize("number", [0, 3])
def test_a_damaged_slice_is_not_left_out(tmp_path, number):
    # The first and the last one leave no gap: the volume would be shorter without a word.
    path = dicom_files.write_series(tmp_path / "scan")[number]
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=rf"{path.name}: the DICOM file is damaged: the element"):
        volumes.read_volume(tmp_path / "scan")


def test_a_length_beyond_the_file_costs_no_memory(tmp_path):
    path = dicom_files.write_series(tmp_path / "scan")[1]
    tags = dicom_files.slice_tags(1)
    long = dicom_files.element(0x0009, 0x0010, b"OB", b"")[:-4] + struct.pack("<I", 0x7FFFFFF0)
    content = dicom_files.dicom_bytes(tags)
    at = content.index(struct.pack("<HH", 0x0020, 0x000D))
    path.write_bytes(content[:at] + long + content[at:])
    with pytest.raises(InputError, match=r"\(0009,0010\) .* claims 2,147,483,632 bytes"):
        volumes.read_volume(tmp_path / "scan")


@pytest.mark.parametrize("value", ["nan\\nan\\nan", "inf\\0\\0", "1e400\\0\\0"])
def test_positions_that_are_no_numbers_are_refused(tmp_path, value):
    path = dicom_files.write_series(tmp_path / "scan")[1]
    tags = dicom_files.slice_tags(1)
    tags[0x0020, 0x0032] = b"DS", value
    path.write_bytes(dicom_files.dicom_bytes(tags))
    with pytest.raises(InputError, match=rf"{path.name}: the position"):
        volumes.read_volume(tmp_path / "scan")


@pytest.mark.parametrize(
    ("tag", "value", "message"),
    [
        ((0x0028, 0x0100), 12, "its pixels have 12 bits"),
        ((0x0028, 0x0100), 8, "pixels are of another kind"),
        ((0x0028, 0x0103), 0, "pixels are of another kind"),
    ],
)
def test_slices_whose_pixels_differ(tmp_path, tag, value, message):
    # With 12 bits among 16 the reader spoilt the process's memory.
    path = dicom_files.write_series(tmp_path / "scan")[2]
    tags = dicom_files.slice_tags(2)
    tags[tag] = b"US", struct.pack("<H", value)
    path.write_bytes(dicom_files.dicom_bytes(tags))
    with pytest.raises(InputError, match=rf"{path.name}: .*{message.removeprefix('its ')}"):
        volumes.read_volume(tmp_path / "scan")


def test_tags_that_are_no_utf8(tmp_path):
    paths = dicom_files.write_series(tmp_path / "scan")
    for number, path in enumerate(paths):
        tags = dicom_files.slice_tags(number)
        tags[0x0008, 0x103E] = b"LO", "Caf\xe9 \x1b[2J"
        path.write_bytes(dicom_files.dicom_bytes(tags))
    assert volumes.read_volume(tmp_path / "scan").GetImageData().GetDimensions()[2] == len(paths)


def test_nested_and_packed_elements_are_walked_through(tmp_path):
    from fuzzy_vessel.reading.formats.dicom_elements import check_elements

    undefined = struct.pack("<I", 0xFFFFFFFF)
    item = struct.pack("<HHI", 0xFFFE, 0xE000, 0xFFFFFFFF)
    ends = struct.pack("<HHI", 0xFFFE, 0xE00D, 0), struct.pack("<HHI", 0xFFFE, 0xE0DD, 0)
    inner = dicom_files.element(0x0008, 0x0100, b"SH", "CODE")
    sequence = struct.pack("<HH", 0x0008, 0x1140) + b"SQ\0\0" + undefined
    sequence += item + inner + ends[0] + ends[1]
    fragments = struct.pack("<HHI", 0xFFFE, 0xE000, 4) + b"\x08\x00\xff\xff"
    pixels = struct.pack("<HH", 0x7FE0, 0x0010) + b"OB\0\0" + undefined + fragments + ends[1]
    start = dicom_files.dicom_bytes({})
    path = tmp_path / "a.dcm"
    path.write_bytes(start + sequence + pixels)
    check_elements(path)
    path.write_bytes(start + sequence.replace(b"\x04\x00CODE", b"\x40\x00CODE"))
    with pytest.raises(ValueError, match=r"\(0008,0100\)"):
        check_elements(path)


# ---- scenes in one file


def write_bundle(path, name="scene/a.txt", mode=None):
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("scene/scene.mrml", '<MRML version="Slicer4.4.0"></MRML>')
        part = zipfile.ZipInfo(name)
        if mode:
            part.create_system, part.external_attr = 3, mode << 16
        bundle.writestr(part, "/tmp")
    return path


def load(path):
    import slicer

    return slicer.util.loadScene(str(path), {})


def test_a_bundle_is_still_read(tmp_path):
    import slicer

    volume = slicer.util.addVolumeFromArray(VALUES)
    volume.SetName("scan")
    assert slicer.util.saveScene(str(tmp_path / "a.mrb"), {})
    slicer.mrmlScene.Clear(False)
    load(tmp_path / "a.mrb")
    np.testing.assert_array_equal(slicer.util.arrayFromVolume(slicer.util.getNode("scan")), VALUES)


@pytest.mark.parametrize(
    "name", ["../evil.txt", "scene/../../evil.txt", "/evil.txt", "..\\evil.txt", "C:/evil.txt"]
)
def test_parts_of_a_bundle_stay_within_it(tmp_path, name):
    path = write_bundle(tmp_path / "a.mrb", name)
    with pytest.raises(InputError, match=r"a\.mrb: .* would lie outside"):
        load(path)


def test_a_bundle_holds_no_links(tmp_path):
    with pytest.raises(InputError, match="would lie outside"):
        load(write_bundle(tmp_path / "a.mrb", "scene/link", mode=0o120777))


def test_an_archive_of_another_kind_is_no_bundle(tmp_path):
    (tmp_path / "a.txt").write_text("evil")
    path = tmp_path / "a.mrb"
    with tarfile.open(path, "w") as archive:
        archive.add(tmp_path / "a.txt", "../../evil.txt")
    with pytest.raises(InputError, match=r"a\.mrb: this is no scene"):
        load(path)


def test_the_schema_of_points_is_not_fetched(tmp_path):
    markup = {"type": "Fiducial", "coordinateSystem": "RAS", "controlPoints": []}
    path = tmp_path / "a.mrk.json"
    path.write_text(json.dumps({"@schema": "http://localhost:1/x", "markups": [markup]}))
    assert seeds.read_seeds(path).GetNumberOfControlPoints() == 0

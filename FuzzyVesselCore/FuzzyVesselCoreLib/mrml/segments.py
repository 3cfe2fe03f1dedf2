"""From labels to a segment of a segmentation, without losing what a user made of an earlier one.

A segment that a run wrote has tags with its list of points, its volume and a checksum of its
voxels. An ID alone identifies no node: another scene, or this one after it was saved without a
node, gives the same ID to another list or scan, and a segmentation file that is loaded there brings
the tags along. So a node that was used carries a key, which its tag holds as well; a copy of the
node has the key, but another ID. A node that shows the time points of a sequence takes the
attributes of each of them, so that its browser carries the key.
"""

import re
import zlib
from collections.abc import Container, Iterator
from typing import Any
from uuid import uuid4

import numpy as np

from ..errors import InputError
from ..translation import tr as _
from ..voxels.masks import bounding_box, full_box
from .points import color_of
from .reading import (
    BINARY_LABELMAP,
    VOXELS_TAG,
    array_from_image,
    check_segment,
    ijk_to_ras,
    image_from_array,
    is_result,
    node_name,
    oriented_grid,
    tag_text,
    transform_between,
)
from .surfaces import SURFACE, has_surface

# ---- what a segment is, in SNOMED CT: DICOM SEG export and other extensions read it
# An entry is one text of seven parts between ``~``: list, category, type, type modifier, list of
# regions, region, region modifier; a code is ``scheme^value^meaning`` (Slicer's developer guide,
# Segmentations, "TerminologyEntry tag").

_GENERAL = "Segmentation category and type - 3D Slicer General Anatomy list"
_DICOM = "Segmentation category and type - DICOM master list"
_TISSUE = "SCT^85756007^Tissue"
_STRUCTURE = "SCT^123037004^Anatomical Structure"

# Kind -> list, category and code. Slicer opens a segment's entry in its list, so that the short
# one (3D Slicer General Anatomy) is named where it has the vessel.
_CODES = {
    "blood vessel": (_DICOM, _TISSUE, "59820001^Blood vessel"),
    "artery": (_GENERAL, _TISSUE, "51114001^Artery"),
    "vein": (_GENERAL, _TISSUE, "29092000^Vein"),
    "aorta": (_GENERAL, _STRUCTURE, "15825003^Aorta"),
    "hepatic artery": (_DICOM, _STRUCTURE, "76015000^Hepatic artery"),
    "pulmonary artery": (_DICOM, _STRUCTURE, "81040000^Pulmonary artery"),
    "portal vein": (_DICOM, _STRUCTURE, "32764006^Portal vein"),
    "hepatic vein": (_DICOM, _STRUCTURE, "8993003^Hepatic vein"),
    "pulmonary vein": (_DICOM, _STRUCTURE, "122972007^Pulmonary vein"),
    "inferior vena cava": (_DICOM, _STRUCTURE, "64131007^Inferior vena cava"),
    "superior vena cava": (_DICOM, _STRUCTURE, "48345005^Superior vena cava"),
}
# SNOMED CT as Slicer has it knows no vena cava without its side.
_OTHER_WORDS = {
    "portal": "portal vein",
    "hepatic": "hepatic vein",
    "ivc": "inferior vena cava",
    "svc": "superior vena cava",
    "vena cava": "vein",
    "arteries": "artery",
    "hepatic arteries": "hepatic artery",
    "pulmonary arteries": "pulmonary artery",
}


def entry_of(name: str) -> str:
    """The terminology entry of the kind that a name says (`kind_named`), as a segment has it."""
    terms, category, code = _CODES[kind_named(name)]
    return f"{terms}~{category}~SCT^{code}~^^~Anatomic codes - DICOM master list~^^~^^"


def kind_named(name: str) -> str:
    """The kind of vessel that a name says; "blood vessel" where it says none, or two.

    Examples
    --------
    >>> kind_named("Portal vein 2"), kind_named("left hepatic veins")
    ('portal vein', 'hepatic vein')
    >>> kind_named("seeds"), kind_named("Artery, vein")
    ('blood vessel', 'blood vessel')
    """
    words = {**{kind: kind for kind in _CODES}, **_OTHER_WORDS}
    found, rest = set(), " ".join(re.split(r"[\W_]+", name.lower()))
    for word in sorted(words, key=len, reverse=True):  # a portal vein is not a second vein
        rest, count = re.subn(rf"\b{word}s?\b", "|", rest)
        if count:
            found.add(words[word])
    return found.pop() if len(found) == 1 else "blood vessel"


# ---- from labels to a segment

KEY = "FuzzyVesselGPU.Key"  # attribute of a node
VESSEL_KIND = "FuzzyVesselGPU.Vessel"  # attribute of a list of points: what kind its vessel is
SEEDS_TAG = "FuzzyVesselGPU.SeedsNodeID"
VOLUME_TAG = "FuzzyVesselGPU.VolumeNodeID"


def check_segmentation(segmentation_node: Any, segment_id: str = "") -> None:
    """Raise `InputError` for a segmentation of surfaces, or one that lacks a segment."""
    segmentation, name = segmentation_node.GetSegmentation(), node_name(segmentation_node)
    source = segmentation.GetSourceRepresentationName()
    if segmentation.GetNumberOfSegments() and source != BINARY_LABELMAP:
        text = _(
            "The segmentation {segmentation} is made of '{source}': make '{wanted}' its "
            "source in the module Segmentations, or choose another."
        )
        raise InputError(text.format(segmentation=name, source=source, wanted=BINARY_LABELMAP))
    check_segment(segmentation_node, segment_id)


def new_segment(volume_node: Any, labels: np.ndarray, segmentation_node: Any, seeds: Any) -> Any:
    """Labels (K, J, I; 0 or 1), cut to what is not 0, as a vtkSegment in a segmentation's frame.

    The volume gives the geometry, the list of seeds name, colour and terminology entry; in place of
    a list a text may say what it is of (`result_segment`). It is not added yet; the segmentation is
    None where that is still to be added, too.
    """
    import slicer

    first, part = cropped(labels)
    geometry = ijk_to_ras(volume_node)
    geometry[:3, 3] += geometry[:3, :3] @ first
    image = image_from_array(part, oriented_grid(geometry, part.shape))
    # An empty segmentation will hang under the volume's transform.
    filled = segmentation_node and segmentation_node.GetSegmentation().GetNumberOfSegments()
    target = segmentation_node if filled else volume_node
    if volume_node.GetParentTransformNode() is not target.GetParentTransformNode():
        transform = transform_between(volume_node, target)
        slicer.vtkOrientedImageDataResample.TransformOrientedImage(image, transform)
    segment = slicer.vtkSegment()
    style_segment(segment, None if isinstance(seeds, str) else seeds)
    for tag, node in ((SEEDS_TAG, seeds), (VOLUME_TAG, volume_node)):
        segment.SetTag(tag, _identity(node, new=True) if node is not None else "")
    segment.AddRepresentation(BINARY_LABELMAP, image)
    return segment


def style_segment(segment: Any, list_node: Any) -> None:
    """Give a vtkSegment the name, the colour and the terminology of its list of points."""
    segment.SetName((list_node and list_node.GetName()) or "Vessels")
    segment.SetColor(color_of(list_node))
    kind = list_node and list_node.GetAttribute(VESSEL_KIND)
    segment.SetTerminology(entry_of(kind if kind in _CODES else segment.GetName()))


def put_segment(
    segment: Any,
    segmentation_node: Any,
    volume_node: Any,
    segment_id: str = "",
    mask_id: str = "",
) -> str:
    """Add a segment of `new_segment`, or give its voxels to an earlier one; returns the ID.

    The segment that the user names (`segment_id`) is changed. Without a name it is the one that an
    earlier run made of the same seeds and volume, if it has not been edited since and is not the
    mask of this run; else a new segment is added. A changed segment keeps its name, colour, other
    tags and display. An empty segmentation takes the volume's geometry.
    """
    segmentation = segmentation_node.GetSegmentation()
    if segmentation.GetNumberOfSegments() == 0:
        segmentation.SetSourceRepresentationName(BINARY_LABELMAP)
        segmentation_node.SetAndObserveTransformNodeID(volume_node.GetTransformNodeID())
        segmentation_node.SetReferenceImageGeometryParameterFromVolumeNode(volume_node)
    if segmentation_node.GetDisplayNode() is None:
        segmentation_node.CreateDefaultDisplayNodes()
    earlier = segment_id or _earlier_segment(segmentation_node, segment, mask_id)
    segment.SetTag(VOXELS_TAG, next(_checksums(segment)))
    if earlier:
        _update(segmentation, earlier, segment)
        return earlier
    names = {segmentation.GetSegment(each).GetName() for each in segmentation.GetSegmentIDs()}
    segment.SetName(free_name(segment.GetName(), names))
    segmentation.AddSegment(segment)
    return segmentation.GetSegmentIdBySegment(segment)


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it where it is taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} {number}"
    return free


def _earlier_segment(segmentation_node: Any, segment: Any, mask_id: str) -> str:
    """The newest segment of the same seeds and volume, not edited since; or an empty text."""
    segmentation = segmentation_node.GetSegmentation()
    made_of = [tag_text(segment, tag) for tag in (SEEDS_TAG, VOLUME_TAG)]
    for segment_id in result_segments(segmentation_node, *made_of) if made_of[0] else ():
        if segment_id != mask_id and is_as_written(segmentation.GetSegment(segment_id)):
            return segment_id
    return ""


def _update(segmentation: Any, segment_id: str, new: Any) -> None:
    """Give the voxels of a segment to one that is there.

    A surface of the old voxels is removed, or recomputed if all others have one.
    """
    segment = segmentation.GetSegment(segment_id)
    segmentation.SeparateSegmentLabelmap(segment_id)  # its layer may be that of others, too
    segment.RemoveAllRepresentations(BINARY_LABELMAP)
    segment.AddRepresentation(BINARY_LABELMAP, new.GetRepresentation(BINARY_LABELMAP))
    segment.SetLabelValue(new.GetLabelValue())
    for tag in (SEEDS_TAG, VOLUME_TAG, VOXELS_TAG):
        segment.SetTag(tag, tag_text(new, tag))
    others = [each for each in segmentation.GetSegmentIDs() if each != segment_id]
    if others and all(has_surface(segmentation.GetSegment(each)) for each in others):
        segmentation.CreateRepresentation(SURFACE)  # where it is missing
    segmentation.InvokeEvent(segmentation.SourceRepresentationModified)
    segmentation.InvokeEvent(segmentation.RepresentationModified, segment_id)


# ---- which segments a run wrote


def _identity(node: Any, new: bool = False) -> str:
    """The text that names a node in the tag of a segment; a `new` one gets a key."""
    import slicer

    if isinstance(node, str):
        return node
    # The node that carries the key: itself, or the browser of its sequence.
    browsers = slicer.util.getNodesByClass("vtkMRMLSequenceBrowserNode")
    bearer = next((each for each in browsers if each.IsProxyNodeID(node.GetID())), node)
    if new and not bearer.GetAttribute(KEY):
        bearer.SetAttribute(KEY, uuid4().hex)
    key = bearer.GetAttribute(KEY)
    return f"{node.GetID()} {key}" if key else node.GetID()


def result_segment(
    segmentation_node: Any, seeds: Any, volume_node: Any, unedited: bool = False
) -> str:
    """ID of the newest segment that runs made of these seeds and this volume; or "".

    Seeds are what `new_segment` was given. With `unedited` also "" where that one was edited since.
    """
    for each in result_segments(segmentation_node, seeds, volume_node)[:1]:
        if not unedited or is_as_written(segmentation_node.GetSegmentation().GetSegment(each)):
            return each
    return ""


def result_segments(segmentation_node: Any, seeds: Any, volume_node: Any) -> list[str]:
    """IDs of all segments of these seeds and this volume, the newest first.

    All but the newest were edited before a later run.
    """
    if segmentation_node is None or seeds is None or volume_node is None:
        return []
    segmentation, found = segmentation_node.GetSegmentation(), []
    wanted = _identity(seeds), _identity(volume_node)
    for each in reversed(segmentation.GetSegmentIDs()):
        segment = segmentation.GetSegment(each)
        if (tag_text(segment, SEEDS_TAG), tag_text(segment, VOLUME_TAG)) == wanted:
            found.append(each)
    return found


def is_as_written(segment: Any) -> bool:
    """Whether a vtkSegment was written by a run and not edited since.

    A file may bring the slices back in reverse: Slicer makes left-handed volumes right-handed.
    """
    return is_result(segment) and tag_text(segment, VOXELS_TAG) in _checksums(segment)


def _checksums(segment: Any) -> Iterator[str]:
    """Of a segment's voxels, wherever its image begins and whatever else lies in it.

    The first is of the voxels as they are, the second with the slices in reverse.
    """
    image = segment.GetRepresentation(BINARY_LABELMAP)
    if image is None or image.IsEmpty():
        yield ""
        return
    part = cropped(array_from_image(image) == segment.GetLabelValue())[1]
    for voxels in (part, part[::-1]):
        yield f"{part.shape} {zlib.crc32(np.packbits(voxels).data):08x}"


def cropped(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First index (I, J, K) and voxels of the smallest box with everything that is not 0."""
    box = bounding_box(labels) or full_box((1, 1, 1))
    return np.array([side.start for side in box[::-1]]), labels[box]

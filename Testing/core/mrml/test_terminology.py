"""Terminology entries of segments, read back by Slicer's own logic of the Terminologies module."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml import terminology
from support.mrml_cases import add_seeds, add_volume

USERS_ENTRY = (
    "Segmentation category and type - DICOM master list~SCT^123037004^Anatomical Structure"
    "~SCT^56400007^Renal vein~SCT^7771000^Left~Anatomic codes - DICOM master list~^^~^^"
)


@pytest.fixture
def segment(slicer_scene):
    import slicer

    return slicer.vtkSegment()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Portal vein", "portal vein"),
        ("PORTAL_VEIN_3", "portal vein"),
        ("veins, hepatic veins", "blood vessel"),
        ("Hepatic veins", "hepatic vein"),
        ("IVC", "inferior vena cava"),
        ("vena cava", "vein"),
        ("arteries", "artery"),
        ("aorta,abdominal", "aorta"),
        ("artery and vein", "blood vessel"),
        ("seeds", "blood vessel"),
        ("veinous", "blood vessel"),
        ("", "blood vessel"),
        (", ,~^", "blood vessel"),
    ],
)
def test_a_name_says_the_kind(name, kind):
    assert terminology.kind_named(name) == kind


def test_a_run_says_what_its_segment_is_and_leaves_what_the_user_made_of_it(slicer_scene):
    from FuzzyConnectedGPU import FuzzyConnectedGPULogic

    k, j, _ = np.indices((14, 16, 18))
    volume = add_volume(np.where((k - 7) ** 2 + (j - 8) ** 2 <= 9, 200, 90).astype(np.int16))
    seeds = add_seeds(volume, [(7, 8, 3)], name="Portal vein, left")
    run = FuzzyConnectedGPULogic().segment
    first = run(volume, seeds, threshold=0.4, segmentationNode=True)
    segmentation = first.segmentationNode.GetSegmentation()
    segment = segmentation.GetSegment(first.segmentID)
    assert segment.GetTerminology() == terminology.entry_of("portal vein")
    segment.SetTerminology(USERS_ENTRY)
    second = run(volume, seeds, threshold=0.5, segmentationNode=first.segmentationNode)
    assert second.segmentID == first.segmentID
    assert segment.GetTerminology() == USERS_ENTRY

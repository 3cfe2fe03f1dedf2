"""Checks of the module's self test that need no user interface.

Each takes the test case, with its assertions, and runs in an empty scene.
"""

from typing import Any

import numpy as np
import slicer

from FuzzyVesselCoreLib.errors import DeviceError, InputError


class NotPossible(Exception):
    """What a check needs is not there."""


def add_liver_phantom(size: int) -> tuple[Any, Any, Any]:
    """A liver phantom, and the nodes of its volume and seeds."""
    from FuzzyVesselCoreLib.mrml.phantom_nodes import add_phantom
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    phantom = liver_phantom((size, size, size))
    return phantom, *add_phantom(phantom)[:2]


def segmented(test: Any, **options: Any) -> tuple[Any, Any, Any, Any, Any]:
    """A phantom, its volume and seeds, a segmentation, and what a run gave."""
    phantom, volume, seeds = add_liver_phantom(128)
    segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode")
    try:
        result = test.newLogic().segment(volume, seeds, segmentationNode=segmentation, **options)
    except DeviceError as error:
        raise NotPossible(str(error)) from error
    return phantom, volume, seeds, segmentation, result


def segments_phantom(test: Any) -> None:
    """Most of the phantom's vessels are found, in the labelmap and in the segment."""
    phantom, volume, _seeds, segmentation, result = segmented(test)
    found = slicer.util.arrayFromVolume(result.labelmapNode) > 0
    true = phantom.mask > 0
    dice = 2 * np.count_nonzero(found & true) / (found.sum() + true.sum())
    test.assertGreater(dice, 0.5)
    segment = slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, result.segmentID, volume)
    test.assertTrue(np.array_equal(segment > 0, found))


def thresholds_again(test: Any) -> None:
    """Another threshold of the connectedness that is there, its volume, and the difference."""
    _phantom, volume, _seeds, _segmentation, result = segmented(test, threshold=0.5)
    logic = test.newLogic()
    wider = logic.thresholdScene(result.sceneNode, 0.2)
    values = slicer.util.arrayFromVolume(result.sceneNode)
    labels = slicer.util.arrayFromVolume(wider.labelmapNode)
    test.assertTrue(np.array_equal(labels > 0, values >= np.float32(0.2)))
    test.assertAlmostEqual(logic.volumeCurve(result.sceneNode).at(0.2), wider.volumeMl)
    found = logic.difference(result.labelmapNode, wider.labelmapNode, volume)
    test.assertEqual(found.onlyFirstMl, 0)
    test.assertAlmostEqual(found.bothMl, result.volumeMl)
    test.assertAlmostEqual(found.bothMl + found.onlySecondMl, wider.volumeMl)


def keeps_edited_segment(test: Any) -> None:
    """A segment that somebody edited stays, and the next run makes another one."""
    _phantom, volume, seeds, segmentation, result = segmented(test, threshold=0.5)
    edited = slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, result.segmentID, volume)
    edited[:2] = 1
    slicer.util.updateSegmentBinaryLabelmapFromArray(edited, segmentation, result.segmentID, volume)
    again = test.newLogic().segment(volume, seeds, threshold=0.4, segmentationNode=segmentation)
    test.assertNotEqual(again.segmentID, result.segmentID)
    kept = slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, result.segmentID, volume)
    test.assertTrue(np.array_equal(kept, edited))


def keeps_looks_of_segment(test: Any) -> None:
    """A result's segment keeps its opacity, visibility and tags at another threshold."""
    _phantom, _volume, _seeds, segmentation, result = segmented(test, threshold=0.5)
    display, segment_id = segmentation.GetDisplayNode(), result.segmentID
    segmentation.GetSegmentation().GetSegment(segment_id).SetTag("mine", "yes")
    display.SetSegmentOpacity3D(segment_id, 0.25)
    display.SetSegmentVisibility2DFill(segment_id, False)
    again = test.newLogic().thresholdScene(result.sceneNode, 0.3, segmentationNode=segmentation)
    test.assertEqual(again.segmentID, segment_id)
    test.assertTrue(segmentation.GetSegmentation().GetSegment(segment_id).HasTag("mine"))
    test.assertAlmostEqual(display.GetSegmentOpacity3D(segment_id), 0.25)
    test.assertFalse(display.GetSegmentVisibility2DFill(segment_id))


def refuses_mask_as_output(test: Any) -> None:
    """The mask of a run cannot take its result."""
    _phantom, volume, seeds, _segmentation, result = segmented(test, threshold=0.5)
    mask = result.labelmapNode
    before = slicer.util.arrayFromVolume(mask).copy()
    with test.assertRaises(InputError) as refusal:
        test.newLogic().segment(volume, seeds, maskNode=mask, labelmapNode=mask)
    test.assertIn("mask", str(refusal.exception))
    test.assertTrue(np.array_equal(slicer.util.arrayFromVolume(mask), before))


def refuses_without_seeds(test: Any) -> None:
    """Without a point there is a message and nothing new in the scene."""
    _phantom, volume, seeds = add_liver_phantom(16)
    seeds.RemoveAllControlPoints()
    before = slicer.mrmlScene.GetNumberOfNodes()
    with test.assertRaises(InputError) as refusal:
        test.newLogic().segment(volume, seeds)
    test.assertIn(seeds.GetName(), str(refusal.exception))
    test.assertEqual(slicer.mrmlScene.GetNumberOfNodes(), before)


CHECKS = (
    segments_phantom,
    thresholds_again,
    keeps_edited_segment,
    keeps_looks_of_segment,
    refuses_without_seeds,
    refuses_mask_as_output,
)

"""What the connectedness panel writes into: its own nodes, and what somebody chose by hand."""

import numpy as np
import pytest

from support.mrml_cases import add_seeds, add_volume, array, segment_array
from support.panel_cases import POINTS, SHAPE, vessel

LABELMAP, SEGMENTATION = "vtkMRMLLabelMapVolumeNode", "vtkMRMLSegmentationNode"
OUTPUTS = {
    "sceneVolume": ("sceneSelector", "vtkMRMLScalarVolumeNode"),
    "labelmap": ("labelmapSelector", LABELMAP),
    "segmentation": ("segmentationSelector", SEGMENTATION),
}


class Mine:
    """What a user has in the scene before and beside our results."""

    def __init__(self):
        import slicer

        self.volume = add_volume(vessel())
        self.mask = add_volume(np.ones(SHAPE, np.uint8), kind=LABELMAP)
        labels = np.zeros(SHAPE, np.uint8)
        labels[2:5, 2:5, 2:5] = 1
        self.segmentation = slicer.mrmlScene.AddNewNodeByClass(SEGMENTATION, "parts")
        self.segmentation.SetReferenceImageGeometryParameterFromVolumeNode(self.volume)
        self.segment = self.segmentation.GetSegmentation().AddEmptySegment("Segment_1", "part")
        slicer.util.updateSegmentBinaryLabelmapFromArray(
            labels, self.segmentation, self.segment, self.volume
        )
        self.before = self.state()

    def state(self):
        inner = self.segmentation.GetSegmentation()
        image = inner.GetSegment(self.segment).GetRepresentation("Binary labelmap")
        return (
            array(self.volume).tobytes(),
            array(self.mask).tobytes(),
            list(inner.GetSegmentIDs()),
            segment_array(self.segmentation, self.segment, self.volume).tobytes(),
            image.GetMTime(),
        )

    def untouched(self):
        return self.state() == self.before


@pytest.fixture
def mine(panel):
    return Mine()


@pytest.fixture
def chosen(panel, mine):
    """The panel with the user's volume and points on it."""
    panel.parameters.inputVolume = mine.volume
    panel.parameters.seeds = add_seeds(mine.volume, POINTS, "seeds")
    panel.process_events()
    return panel


def pick(panel, selector, node):
    """Choose a node in a selector as the mouse does."""
    selector = getattr(panel.ui, selector)
    selector.setCurrentNode(node)
    selector.nodeActivated.emit(node)
    panel.process_events()


@pytest.fixture
def answers(monkeypatch):
    """Answers to questions, and the questions that were asked."""
    import slicer

    class Answers(list):
        answer = True

    asked = Answers()

    def ask(text, *_, **__):
        asked.append(text)
        return asked.answer

    monkeypatch.setattr(slicer.util, "confirmYesNoDisplay", ask)
    return asked


# --- an output that goes, and another one


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("how", ["selector", "scene"])
def test_an_output_that_goes_leaves_nothing_chosen(slicer_scene, done, mine, name, how):
    """The user's CT became the connectedness, the liver mask the vessels."""
    selector = getattr(done.ui, OUTPUTS[name][0])
    node = getattr(done.parameters, name)
    assert selector.currentNode() is node
    if how == "selector":
        selector.removeCurrentNode()
    else:
        slicer_scene.RemoveNode(node)
    done.process_events()
    assert getattr(done.parameters, name) is None
    assert selector.currentNode() is None
    done.ui.thresholdSlider.value = 0.2
    done.process_events()
    done.click("applyButton")
    done.ui.thresholdSlider.value = 0.6
    done.process_events()
    assert mine.untouched()
    assert getattr(done.parameters, name).GetClassName() == OUTPUTS[name][1]


@pytest.mark.parametrize("name", OUTPUTS)
def test_another_node_is_an_output_only_after_a_question(done, mine, answers, name):
    selector, kind = OUTPUTS[name]
    node = {
        LABELMAP: mine.mask,
        SEGMENTATION: mine.segmentation,
        "vtkMRMLScalarVolumeNode": add_volume(vessel()),
    }[kind]
    node.SetName("precious")
    before = getattr(done.parameters, name)
    answers.answer = False
    pick(done, selector, node)
    assert len(answers) == 1
    assert "precious" in answers[0]
    assert getattr(done.parameters, name) is before
    assert getattr(done.ui, selector).currentNode() is before
    answers.answer = True
    pick(done, selector, node)
    assert len(answers) == 2
    assert getattr(done.parameters, name) is node
    done.click("applyButton")
    assert getattr(done.parameters, name) is node
    pick(done, selector, before)  # our own needs no question, and none comes twice
    pick(done, selector, node)
    assert len(answers) == 2


# --- segments


def test_a_result_that_was_edited_is_overwritten_only_after_a_question(done, mine, answers):
    import slicer

    segmentation = done.parameters.segmentation
    (ours,) = segmentation.GetSegmentation().GetSegmentIDs()
    done.ui.segmentComboBox.activated.emit(1)
    assert answers == []
    assert done.parameters.segmentID == ours
    done.ui.segmentComboBox.activated.emit(0)
    edited = segment_array(segmentation, ours, mine.volume)
    edited[:2] = 1
    slicer.util.updateSegmentBinaryLabelmapFromArray(edited, segmentation, ours, mine.volume)
    answers.answer = False
    done.ui.segmentComboBox.activated.emit(1)
    assert len(answers) == 1
    assert done.parameters.segmentID == ""


# --- one step


def test_a_run_that_fails_while_it_is_written_leaves_no_new_node(slicer_scene, chosen, monkeypatch):
    nodes = slicer_scene.GetNumberOfNodes()
    fail_to_write(chosen, monkeypatch)
    assert slicer_scene.GetNumberOfNodes() == nodes
    assert all(getattr(chosen.parameters, name) is None for name in OUTPUTS)


def test_what_it_wrote_into_earlier_nodes_is_not_current(done, monkeypatch):
    assert done.widget.panel.is_current()
    fail_to_write(done, monkeypatch)
    assert not done.widget.panel.is_current()


def fail_to_write(panel, monkeypatch):
    monkeypatch.setattr("FuzzyVesselCoreLib.mrml.segments.put_segment", lambda *_: 1 / 0)
    panel.click("applyButton")
    assert len(panel.take_errors()) == 1

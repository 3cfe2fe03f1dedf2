"""Errors reach another process as they are, whatever their classes are made from."""

import pickle

import pytest

from FuzzyConnectedGPULib.input_errors import NotFiniteError, SameVoxelError, VoxelTypeError
from FuzzyVesselCoreLib.errors import CpuUsedNote, InputError, InputRemoved, NoCuda, NoCudaError

ERRORS = [
    InputError("wrong"),
    InputRemoved("'CT'"),
    NoCudaError("cuda:1", NoCuda("no driver", "the driver is missing")),
    SameVoxelError((1, 2, 3)),
    NotFiniteError(3, float("inf"), (1, 2, 3)),
    VoxelTypeError("complex64", ("int16", "float32")),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_sent(error):
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert vars(found) == vars(error)


def test_a_reason_keeps_its_kind():
    found = pickle.loads(pickle.dumps(ERRORS[2])).reason
    assert (type(found), found.kind) == (NoCuda, "no driver")
    note = pickle.loads(pickle.dumps(CpuUsedNote(InputError("wrong"))))
    assert str(note.reason) == "wrong"

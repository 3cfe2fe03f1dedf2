"""A small CT with air, fat, bone and a liver, as a phantom."""

import pytest

from FuzzyVesselCoreLib.phantom.liver import liver_phantom


@pytest.fixture(scope="module")
def phantom():
    return liver_phantom((64, 64, 64))

from slicer.i18n import tr as _
from slicer.ScriptedLoadableModule import ScriptedLoadableModule


class FuzzyVesselCore(ScriptedLoadableModule):
    """Hidden module: installs `FuzzyVesselCoreLib`, which the visible modules import."""

    def __init__(self, parent):
        ScriptedLoadableModule.__init__(self, parent)
        self.parent.title = _("FuzzyVessel Core")
        self.parent.categories = [""]
        self.parent.dependencies = []
        self.parent.contributors = ["The FuzzyVesselGPU developers"]
        self.parent.helpText = _(
            "Code that Fuzzy Connectedness (GPU) and Potential-Field Skeleton (GPU) share."
        )
        self.parent.acknowledgementText = ""
        self.parent.hidden = True

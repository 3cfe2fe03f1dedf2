"""Section Input: the volume, and what a run on it takes."""

from slicer.i18n import tr as _


class InputSection:
    """Which volume, how large."""

    def __init__(self, panel):
        self._panel, self.ui = panel, panel.ui

    def show(self, parameters):
        volume = parameters.inputVolume
        if not self._panel.has_voxels(volume):
            text = "" if volume is None else _("This volume holds no voxels of one intensity.")
            self.ui.volumeInfoLabel.text = text
            self.ui.volumeInfoLabel.setVisible(bool(text))
            return
        size = " \u00d7 ".join(str(n) for n in volume.GetImageData().GetDimensions())
        spacing = " \u00d7 ".join(f"{mm:.3g}" for mm in volume.GetSpacing())
        need = self._panel.logic.memoryNeed(volume)
        self.ui.volumeInfoLabel.text = _(
            "{size} voxels of {spacing} mm\nA run takes up to {host} of memory; on a card {card}"
        ).format(size=size, spacing=spacing, host=_amount(need.host), card=_amount(need.device))
        self.ui.volumeInfoLabel.setVisible(True)

    def forget(self):
        """The volume is gone."""
        self.ui.volumeInfoLabel.text = ""


def _amount(size):
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(size / 1e6, 1):.0f} MB"

"""Packages that the modules installed: remembered, and removed again without what others need."""

import importlib.metadata
import re
import sys
import types

import pytest

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


class Pip:
    """Packages that are there, by name, with what each needs; and what pip was asked for."""

    def __init__(self):
        self.there = {"numpy": [], "Other_Extension": ["llvmlite>=0.1"]}
        self.removed, self.asked, self.answer = [], [], True

    def distributions(self, name=None):
        """All, or those of a name, however it is spelled."""
        return [
            types.SimpleNamespace(metadata={"Name": each}, requires=needs)
            for each, needs in self.there.items()
            if name is None or plain(each) == plain(name)
        ]

    def install(self, *_, **__):
        self.there |= {
            "numba": ["llvmlite<1,>=0.4", "numpy", 'coverage; extra == "test"'],
            "llvmlite": [],
            "Some.Helper": None,
        }

    def uninstall(self, names):
        self.removed.append(names)
        for name in names:
            for spelled in [n for n in self.there if n.lower().replace(".", "-") == name]:
                del self.there[spelled]

    def confirm(self, question, windowTitle=""):
        self.asked.append(question)
        return self.answer


@pytest.fixture
def pip(monkeypatch, slicer_scene):
    from emulators.qt.application import install

    install()
    import slicer

    pip = Pip()
    module = types.ModuleType("slicer.packaging")
    module.pip_check = lambda requirement: False
    module.pip_ensure, module.pip_uninstall = pip.install, pip.uninstall
    monkeypatch.setitem(sys.modules, "slicer.packaging", module)
    monkeypatch.setattr(slicer, "packaging", module, raising=False)
    monkeypatch.setattr(slicer.util, "confirmOkCancelDisplay", pip.confirm, raising=False)
    monkeypatch.setattr(importlib.metadata, "distributions", pip.distributions)
    from FuzzyVesselCoreLib.widgets import packages

    slicer.app.userSettings().setValue(packages.KEY, "")
    yield pip
    slicer.app.userSettings().setValue(packages.KEY, "")


@pytest.fixture
def installed(pip):
    """The module, after numba was installed by it."""
    from FuzzyVesselCoreLib.widgets import packages

    assert packages.installed_by_us() == []
    assert packages.install_missing(("numba>=0.61,<1",), "Fuzzy") == ""
    return packages


def test_what_pip_brought_along_is_remembered_and_nothing_else(installed):
    assert installed.installed_by_us() == ["llvmlite", "numba", "some-helper"]


def test_only_that_is_removed_and_what_others_need_stays(installed, pip):
    said = installed.remove("Fuzzy")
    assert pip.removed == [["numba", "some-helper"]]
    assert said == "Removed: numba, some-helper. Restart Slicer."
    assert "numba, some-helper" in pip.asked[0]
    assert "These stay, as other packages need them: llvmlite." in pip.asked[0]
    assert installed.installed_by_us() == ["llvmlite"]
    assert "other packages need llvmlite" in installed.remove("Fuzzy")
    assert len(pip.removed) == 1


def test_what_a_kept_package_needs_stays_too(installed, pip):
    pip.there["Other_Extension"] = ["numba"]
    assert installed.needed_by_others(["numba", "llvmlite", "some-helper"]) == ["llvmlite", "numba"]


def test_an_extra_that_nobody_chose_keeps_nothing(installed, pip):
    pip.there["Other_Extension"] = ['numba>=0.1; extra == "fast"', "not a requirement!"]
    assert installed.needed_by_others(["numba", "llvmlite"]) == []


def test_no_means_no(installed, pip):
    pip.answer = False
    assert installed.remove("Fuzzy") == ""
    assert pip.removed == []
    assert "numba" in installed.installed_by_us()


def test_what_cannot_be_removed_is_named_and_still_remembered(installed, pip, monkeypatch):
    import slicer

    def fails(names):
        raise OSError("file in use")

    monkeypatch.setattr(slicer.packaging, "pip_uninstall", fails)
    said = installed.remove("Fuzzy")
    assert "numba, some-helper could not be removed (file in use)" in said
    assert "numba" in installed.installed_by_us()
    monkeypatch.setattr(slicer.packaging, "pip_uninstall", lambda names: None)
    assert "still installed" in installed.remove("Fuzzy")


def test_what_somebody_else_removed_is_not_offered(installed, pip):
    pip.uninstall(["numba", "llvmlite", "some-helper"])
    assert installed.installed_by_us() == []


def test_an_installation_that_failed_half_way_is_remembered(pip, monkeypatch):
    import slicer

    from FuzzyVesselCoreLib.widgets import packages

    def breaks(*_, **__):
        pip.install()
        raise OSError("no space left")

    monkeypatch.setattr(slicer.packaging, "pip_ensure", breaks)
    assert "no space left" in packages.install_missing(("numba>=0.61,<1",), "Fuzzy")
    assert "llvmlite" in packages.installed_by_us()


@pytest.mark.parametrize("name", ["FuzzyConnectedGPU", "PotentialSkeleton"])
def test_the_button_is_in_advanced_and_only_while_there_is_something(
    slicer_scene, pip, open_panel, name
):
    from FuzzyVesselCoreLib.widgets import packages

    panel = open_panel(name)
    removal = panel.widget.panel.removal
    for section in ("advancedCollapsibleButton", "advancedSection"):
        if hasattr(panel.ui, section):
            getattr(panel.ui, section).collapsed = False
    panel.process_events()
    assert not removal.button.isVisible()
    packages.install_missing(("numba>=0.61,<1",), "Fuzzy")
    removal.show()
    assert removal.button.isVisible()
    assert removal.button.sizeHint().width() <= removal.button.width
    removal.button.click()
    assert "Removed: numba, some-helper" in panel.ui.statusLabel.text
    assert pip.removed == [["numba", "some-helper"]]


def test_nothing_is_removed_during_a_run(slicer_scene, installed, pip, open_panel):
    panel = open_panel("FuzzyConnectedGPU")
    with panel.widget.panel.running:
        panel.widget.panel.removal.remove()
        assert "A run is going on" in panel.ui.statusLabel.text
    assert pip.removed == []

"""The script of the documents' pictures finds all that it uses; on small phantoms."""

import os
import subprocess
import sys

import pytest

# In a process of its own: it ends windows and panels that other tests' views may still know.
CODE = """
import functools, pathlib, sys
import pictures
pictures.application.install()
import FuzzyConnectedGPU
FuzzyConnectedGPU.PHANTOM_SIZE = 64
phantom = pictures.liver_phantom((64, 64, 64))
pictures.liver_phantom = lambda *_: phantom
pictures.Window = functools.partial(pictures.Window, size=(90, 90))
pictures.ICONS = pathlib.Path(sys.argv[2])
pictures.main()
"""


def test_pictures_are_drawn(tmp_path):
    for package in ("slicer", "PySide6", "PIL", "matplotlib"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    from support.slice_view import need_rendering

    need_rendering()
    command = [sys.executable, "-c", CODE, "--folder", str(tmp_path)]
    command += ["tutorial", "branches", "vessels"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr, run.stderr
    assert len(list(tmp_path.glob("*.png"))) == 17

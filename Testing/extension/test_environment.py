"""The script that makes the environments, with a stand-in for Python that installs nothing."""

import shutil
import stat
import subprocess
import sys

import pytest

from support.places import ROOT

PYTHON = """\
#!/bin/sh
case "$*" in
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    *sysconfig*) dirname "$0" ;;
    --version) echo "Python 3.11" ;;
esac
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the script is for bash")
def test_the_project_s_folder_may_have_any_name(tmp_path):
    project = tmp_path / "Mein Ordner ü 100% $x"
    shutil.copytree(ROOT / "requirements", project / "requirements")
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    script = project / "requirements/environment.sh"
    done = subprocess.run(
        ["bash", str(script), "demo"],
        env={"PATH": "/usr/bin:/bin", "PYTHON": str(python)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = project / ".venv/demo/bin"
    assert done.stdout.strip() == str(made / "python")
    paths = (made / "fuzzy_vessel_gpu.pth").read_text(encoding="utf-8").splitlines()
    assert paths[0] == str(project / "FuzzyVesselCore")
    assert {path.rpartition("/")[0] for path in paths} == {str(project)}
    assert all((ROOT / path.rpartition("/")[2]).is_dir() for path in paths)

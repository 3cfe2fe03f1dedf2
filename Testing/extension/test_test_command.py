"""`test.sh`, with stand-ins for the programs that it runs."""

import os
import shutil
import signal
import subprocess

import pytest

from support.places import ROOT

PYTHON = """#!/usr/bin/env bash
case "$*" in
    *" mypy"*) echo "a wrong type"; exit "$TYPES" ;;
    *--collect-only*) [ -z "$CTRL_C" ] || kill -INT "$PPID"; exit 2 ;;
    *pytest*) echo "the tests: $*"; exit "$TESTS" ;;
esac
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a bash script")


@pytest.fixture
def command(tmp_path):
    """Run it with some statuses of types and tests."""
    shutil.copy(ROOT / "test.sh", tmp_path)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/environment.sh").write_text(f"echo {tmp_path}/python")
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)

    def run(types=0, tests=0, ctrl_c=""):
        statuses = {"TYPES": str(types), "TESTS": str(tests), "CTRL_C": ctrl_c}
        return subprocess.run(
            ["bash", str(tmp_path / "test.sh"), "-k", "some tests"],
            env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path), **statuses},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


@pytest.mark.parametrize(
    ("types", "tests", "status"), [(0, 0, 0), (1, 0, 1), (0, 3, 3), (1, 3, 1), (1, 2, 1)]
)
def test_wrong_types_are_told_with_any_end_of_the_tests(command, types, tests, status, tmp_path):
    done = command(types, tests)
    assert done.returncode == status
    assert "the tests: -m pytest" in done.stdout
    assert done.stdout.endswith("-k some tests\na wrong type\n")
    assert {each.name for each in tmp_path.iterdir()} == {"test.sh", "python", "requirements"}


def test_an_interrupt_while_tests_are_collected_ends_all(command, tmp_path):
    done = command(ctrl_c="now")
    assert done.returncode == 130
    assert "the tests" not in done.stdout
    assert {each.name for each in tmp_path.iterdir()} == {"test.sh", "python", "requirements"}

"""Adds the second module's main file, which setuptools' settings cannot find in a second folder."""

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildBothModules(build_py):
    """Everything that pyproject.toml names, and PotentialSkeleton.py."""

    def find_modules(self):
        """List of (package, module, file)."""
        second = ("", "PotentialSkeleton", "PotentialSkeleton/PotentialSkeleton.py")
        return [*super().find_modules(), second]


setup(cmdclass={"build_py": BuildBothModules})

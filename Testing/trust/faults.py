"""Faults of the card, of callbacks, of the scene and of the disk: none costs more than the run."""

from importlib.util import find_spec

from . import card_faults, disk_faults, scene_faults


class Part:
    """The cases are a list of faults, each at one moment; the seed plays no part."""

    def __init__(self, options):
        self._cases = list(_cases())
        self.count = len(self._cases)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def check(self, number):
        """Let fault `number` happen; return its kind, or raise `Finding` if it was not borne."""
        kind, bear, arguments = self._cases[number]
        bear(*arguments)
        return kind


def _cases():
    yield from card_faults.cases()
    if find_spec("slicer"):
        yield from scene_faults.cases()
        yield from disk_faults.cases()

"""Undo for lists of points: the scene's own undo is switched off in Slicer."""

from FuzzyVesselCommon.mrml import placed_points

STEPS = 50


class PointHistory:
    """The earlier states of one list of points.

    A step is a point that was placed, moved or deleted; what a drag passes through is none.

    Parameters
    ----------
    node : vtkMRMLMarkupsNode
    """

    def __init__(self, node):
        self._node = node
        self._states = [_state(node)]

    def record(self):
        """Remember the list as it is now; returns whether it differs from the last step."""
        state = _state(self._node)
        if state == self._states[-1]:
            return False
        self._states = [*self._states[-STEPS:], state]
        return True

    @property
    def can_undo(self):
        return len(self._states) > 1

    def undo(self):
        """Put the list back to the step before; points that are not placed yet are dropped."""
        import slicer

        if not self.can_undo:
            return
        self._states.pop()
        with slicer.util.NodeModify(self._node):
            self._node.RemoveAllControlPoints()
            for label, position in self._states[-1]:
                self._node.AddControlPointWorld(position, label)


def _state(node):
    points = placed_points(node)
    return [(label, tuple(at)) for label, at in zip(points.labels, points.world.tolist())]

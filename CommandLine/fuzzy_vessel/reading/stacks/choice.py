"""What of a stack is read, and how large its voxels are."""

from argparse import Namespace
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """Which part of a stack is wanted.

    Attributes
    ----------
    frame, channel : int or None
        Counted from 0; None where there is one only.
    spacing : tuple of float or None
        I, J, K in mm; None for the file's own.
    """

    frame: int | None = None
    channel: int | None = None
    spacing: tuple[float, float, float] | None = None

    @classmethod
    def of(cls, options: Namespace) -> "Choice":
        """What the user has chosen."""
        names = ("frame", "channel", "spacing")
        return cls(**{name: getattr(options, name, None) for name in names})

    @property
    def for_stacks(self) -> str:
        """The option that is for stacks alone, if one was given."""
        if self.channel is not None:
            return "--channel"
        return "--spacing" if self.spacing is not None else ""

"""What a container starts: the command line, or a CLI module by its name (slicer_cli_web).

``--list_cli`` lists the modules as JSON; ``FuzzyVesselSegment --xml`` describes one; everything
else goes to `fuzzy-vessel`.
"""

import json
import sys
from collections.abc import Sequence

from ..__main__ import main as command_line
from .programs import SEGMENT, SKELETON, segment_main, skeleton_main

STARTS = {SEGMENT: segment_main, SKELETON: skeleton_main}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the arguments name; return the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments == ["--list_cli"]:
        print(json.dumps({name: {"type": "python"} for name in STARTS}))
        return 0
    if arguments and arguments[0] in STARTS:
        return STARTS[arguments[0]](arguments[1:])
    return command_line(arguments)


if __name__ == "__main__":
    sys.exit(main())

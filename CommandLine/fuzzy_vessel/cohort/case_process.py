"""The process of one case, which ends with that of the cohort, however that one ends.

Its input is a pipe that the cohort holds open. The system closes it with the cohort's process, also
where this one is killed: else a case would go on, and write beside those of the next cohort.
"""

import os
import signal
import sys
import threading
from time import sleep

from .. import __main__ as program

PATIENCE = 10.0  # seconds until a process that does not end by itself is ended; files may stay


def main() -> int:
    """Run the arguments of this process as a command."""
    pipe = os.dup(0)  # other processes do not get it
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()
    return program.main()


def _end_with(pipe: int) -> None:
    """End this process when a pipe is closed at the other end."""
    while os.read(pipe, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)  # removes what is half written
    sleep(PATIENCE)
    os._exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())

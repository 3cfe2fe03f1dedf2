"""Results: the folder that ``fuzzy-vessel run`` writes, made in another process.

The page stays alive meanwhile, and what is saved is what the same command gives again. The child
(``python -m fuzzy_vessel_browser.saving``) writes its progress to standard output, a line
``stage<TAB>share`` each.
"""

import asyncio  # noqa: TID251
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fuzzy_vessel.progress import Progress
from FuzzyVesselCoreLib.errors import Cancelled, InputError

POLL = 0.2  # seconds


async def run(arguments: Sequence[str], told: Callable[[float], bool], out: Path) -> None:
    """Write the results of ``fuzzy-vessel run`` with these arguments into a new folder.

    `told` gets the share that is done of a stage, and returns whether to go on.
    """
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "fuzzy_vessel_browser.saving", *arguments, "--out", str(out),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    shares = [0.0]

    assert child.stdout is not None
    assert child.stderr is not None

    async def read(lines: asyncio.StreamReader) -> bytes:
        async for line in lines:
            shares.append(float(line.rpartition(b"\t")[2]))
        return b""

    tasks = [asyncio.ensure_future(each) for each in (read(child.stdout), child.stderr.read())]
    going_on = True
    while not all(task.done() for task in tasks):
        if going_on and not told(shares[-1]):
            going_on = False
            child.terminate()
        await asyncio.wait(tasks, timeout=POLL)
    status = await child.wait()
    if not going_on:
        raise Cancelled
    if status:
        said = tasks[1].result().decode("utf-8", "replace").strip().splitlines()
        raise InputError(said[-1] if said else "The results could not be written.")


class Lines(Progress):
    """Writes stages and shares for the parent process."""

    def __call__(self, share: float) -> bool:
        """Write the share of the current stage that is done."""
        print(f"{self._name}\t{share:.3f}", flush=True)
        return True


def main(arguments: Sequence[str]) -> int:
    """Do ``fuzzy-vessel run`` with these arguments; returns the exit status."""
    from fuzzy_vessel import jobs
    from fuzzy_vessel.__main__ import done
    from fuzzy_vessel.arguments import make_parser

    options: Any = make_parser().parse_args(["run", *arguments])
    progress = Lines()
    return done("fuzzy-vessel", lambda: jobs.run(options, progress), progress.clear)[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

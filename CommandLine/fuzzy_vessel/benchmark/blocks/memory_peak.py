"""The most memory that this process held during a run."""

import threading
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")
INTERVAL = 0.02  # seconds


class MemoryPeak:
    """Context manager; `bytes` is how much more was held than at the beginning, None if unknown."""

    def __init__(self) -> None:
        self.bytes: int | None = None
        self._end = threading.Event()

    def __enter__(self) -> "MemoryPeak":
        self._thread = threading.Thread(target=self._watch, args=(resident(),), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self, first: int | None) -> None:
        while first is not None:
            self.bytes = max(self.bytes or 0, (resident() or 0) - first)
            if self._end.wait(INTERVAL):
                return


def resident() -> int | None:
    """Bytes of this process in memory; None where the system does not tell."""
    if not STATUS.exists():
        return None
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))

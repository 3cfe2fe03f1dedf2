"""One run at a time in a folder, also where several machines share it.

A run that holds a folder has a file in it that names machine and process, and touches it every
`BEAT` seconds. Locks of the system (flock, fcntl) are not used: file systems that machines share
keep them for one machine, or not at all. What is relied on: of several processes that create one
file exclusively one succeeds, and times of files come from one clock, that of the file system.

A folder is held no longer by a process of this machine that is gone, and by one of another machine
whose file was not touched for `LEASE` seconds. So a run that was killed can go on at once on its
machine, and `LEASE` seconds later on others (and where the system does not tell, see `processes`).

Limit: a process that stood still for longer than `LEASE` (a machine that slept, a network that was
gone) loses the folder to one of another machine, and finds out in `FolderLock.check` only. Until
then both write the same files, each of which is complete or absent and has the same content.
"""

import json
import os
import platform
import random
import re
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import uuid4

from ..errors import InputError
from ..translation import tr as _
from .processes import HIDDEN, machine_name, process_start

PREFIX = ".in-use-"  # of the files, which are numbered: a new one never has the name of one there
LOCK = re.compile(re.escape(PREFIX) + "[0-9]+")  # other names are of files of somebody else
BEAT, LEASE = 20.0, 300.0  # seconds
ATTEMPTS, PAUSE = 4, 0.02  # seconds


class FolderLock:
    """Context manager: the folder belongs to this run alone; it is made if it is not there.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    InputError
        On entry: another run holds the folder, or it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place, FolderLock(Path(place)):
    ...     FolderLock(Path(place)).__enter__()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FuzzyVesselCoreLib.errors.InputError: ... is in use by another run: process ...
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file: Path | None = None
        self._made = False
        self._token = uuid4().hex  # the file may be gone, and another run have one of its name
        self._ended = threading.Event()

    def __enter__(self) -> "FolderLock":
        try:
            self._try_to_take()
        except BaseException as error:
            self._leave(self._file)
            if isinstance(error, OSError):
                raise InputError(
                    _("{folder} cannot be written: {reason}; name another folder.").format(
                        folder=self.folder, reason=error.strerror or error
                    )
                ) from error
            raise
        threading.Thread(target=self._beat, args=(self._file,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        with suppress(OSError):
            self._leave(self._file if self._is_held() else None)

    def check(self) -> None:
        """Refuse to go on where another run has taken the folder over.

        Raises
        ------
        InputError
        """
        with suppress(OSError):
            if self._file is None or not self.folder.exists() or self._is_held():
                return
            raise InputError(
                _(
                    "{folder} was taken over by another run while this one stood still: leave the "
                    "work to that one, or run the same again when it has ended."
                ).format(folder=self.folder)
            )

    def _try_to_take(self) -> None:
        """Of runs that begin at the same time each may see another one: they try again."""
        refusal: Exception | None = None
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(PAUSE * (1 + random.random()) * attempt)
            self._made = not self.folder.exists()
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                refusal = self._take()
            except (FileNotFoundError, FileExistsError) as error:  # removed just now, by a run
                refusal = error
            if refusal is None:
                return
            self._leave(self._file)
            self._file = None
        assert refusal is not None
        raise refusal

    def _take(self) -> InputError | None:
        """Create a file, and look by its time whether there is another one that is held.

        Returns
        -------
        InputError or None
            Why not, if another run has come at the same time or is of another machine.

        Raises
        ------
        InputError
            A process of this machine holds the folder.
        """
        earlier = holders(self.folder)
        for holder in earlier:
            if holder.is_running:
                raise self._in_use(holder)
        number = max((holder.number for holder in earlier), default=0) + 1
        own = self.folder / f"{PREFIX}{number}"
        try:
            with own.open("x", encoding="utf-8") as file:
                self._file = own
                file.write(json.dumps({**_this_process(), "token": self._token}))
        except FileExistsError:
            return self._in_use(Holder.of(own))
        now = own.stat().st_mtime
        others = [holder for holder in holders(self.folder) if holder.file != own]
        for holder in others:
            if holder.holds_at(now):
                return self._in_use(holder, LEASE - (now - holder.touched))
        for holder in others:
            holder.file.unlink(missing_ok=True)
        return None

    def _is_held(self) -> bool:
        """Whether the file is there, and not that of a later run."""
        return self._file is not None and Holder.of(self._file).said.get("token") == self._token

    def _leave(self, file: Path | None) -> None:
        with suppress(OSError):
            if file is not None:
                file.unlink(missing_ok=True)
            if self._made:  # and nothing was left in it
                self.folder.rmdir()

    def _beat(self, file: Path) -> None:
        while not self._ended.wait(BEAT):
            with suppress(OSError):
                os.utime(file)

    def _in_use(self, holder: "Holder", left: float = LEASE) -> InputError:
        said = holder.said
        if holder.is_running:
            way_out = _("wait until it is done or end it, or name another folder")
        else:
            way_out = _(
                "wait until it is done; if it was killed, it can be continued from here in "
                "{seconds} s, or at once if you delete {file}"
            ).format(seconds=max(int(left) + 1, 1), file=holder.file)
        return InputError(
            _(
                "{folder} is in use by another run: process {pid} on {host}, since {since}; {way}."
            ).format(
                folder=self.folder,
                pid=said.get("pid", "?"),
                host=said.get("host", "?"),
                since=said.get("since", "?"),
                way=way_out,
            )
        )


@dataclass(frozen=True)
class Holder:
    """What a file says of the run that holds the folder, or did.

    Attributes
    ----------
    file : Path
    touched : float
        When it was touched last, by the file system's clock.
    said : dict
        "machine", "host", "pid", "start", "since" and "token"; empty while it is being written.
    """

    file: Path
    touched: float
    said: dict[str, Any]

    @classmethod
    def of(cls, file: Path) -> "Holder":
        """As the file is now; one that is gone by now was touched never."""
        try:
            with file.open(encoding="utf-8") as content:  # opening it asks the server anew
                touched = os.fstat(content.fileno()).st_mtime
                said = json.loads(content.read())
        except FileNotFoundError:
            return cls(file, 0.0, {})
        except ValueError:
            said = {}
        return cls(file, touched, said if isinstance(said, dict) else {})

    @property
    def number(self) -> int:
        """Of the file."""
        number = self.file.name.removeprefix(PREFIX)
        return int(number) if number.isdecimal() else 0

    @property
    def is_of_this_machine(self) -> bool:
        """Whether its process can be looked for."""
        if machine_name() == "" or self.said.get("machine") != machine_name():
            return False
        return self._start != HIDDEN

    @property
    def _start(self) -> str | None:
        pid = self.said.get("pid")
        return process_start(pid) if isinstance(pid, int) else None

    @property
    def is_running(self) -> bool:
        """Whether it is a process of this machine that has not ended."""
        start = self._start if self.is_of_this_machine else None
        return start is not None and start == self.said.get("start")

    def holds_at(self, now: float) -> bool:
        """Whether it holds the folder at a time of the file system's clock."""
        return self.is_running if self.is_of_this_machine else now - self.touched < LEASE


def holders(folder: Path) -> list[Holder]:
    """Of all files of locks in a folder."""
    return [Holder.of(file) for file in folder.glob(f"{PREFIX}*") if LOCK.fullmatch(file.name)]


def others_in(folder: Path) -> list[Path]:
    """What is in a folder but files of locks."""
    return [place for place in folder.iterdir() if not LOCK.fullmatch(place.name)]


def remove_if_empty(folder: Path) -> None:
    """Delete a folder in which nothing is left but files of locks; the run that holds it is done.

    Does nothing where another run has come meanwhile, or something else is there: a file of a lock
    is deleted only if it is of this process.
    """
    if not others_in(folder):
        own = _this_process()
        with suppress(OSError):
            for holder in holders(folder):
                if all(holder.said.get(name) == own[name] for name in ("machine", "host", "pid")):
                    holder.file.unlink(missing_ok=True)
            folder.rmdir()


def _this_process() -> dict[str, Any]:
    return {
        "machine": machine_name(),
        "host": platform.node(),
        "pid": os.getpid(),
        "start": process_start(os.getpid()),
        "since": datetime.now().astimezone().isoformat(" ", "seconds"),
    }

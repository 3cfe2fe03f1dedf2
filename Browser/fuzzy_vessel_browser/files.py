"""Volumes that come in, from the command line or the page, and results that go out."""

import re
import shutil
import tempfile
import zipfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from aiohttp import web

from fuzzy_vessel.reading import volumes
from fuzzy_vessel.reading.process import SUFFIXES, TIFF, Choice
from fuzzy_vessel.writing.files import write_nodes
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import inside
from FuzzyVesselCoreLib.mrml.points import add_phantom, placed_points, points_in_volume
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

from . import saving
from .session import Session

PHANTOM_SIZE = 128
LARGEST = 8 << 30  # bytes that are taken in, and never more than half of what is free
MOST_FILES = 20_000
PART = 1 << 20  # bytes at a time
RESULTS = "/results.zip"


class Files:
    """The files of one session; those that were uploaded or made go when it ends.

    Parameters
    ----------
    session : Session
    options : Namespace
        Of the command line: `volume`, and what `Choice.of` looks for.
    download : callable
        ``download(address)`` lets the browser fetch a file.
    """

    def __init__(
        self, session: Session, options: Namespace, download: Callable[[str], None]
    ) -> None:
        self._session, self._options, self._download = session, options, download
        self._folder = Path(tempfile.mkdtemp(prefix="fuzzy-vessel-"))
        self._choice = Choice.of(options)
        self._archive: Path | None = None

    def remove(self) -> None:
        """Delete what was uploaded and made."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def routes(self) -> list[web.RouteDef]:
        """What the server answers beside the page itself."""
        return [web.post("/open", self._upload), web.get(RESULTS, self._results)]

    # --- volumes

    async def begin(self) -> None:
        """Open the volume of the command line, or the phantom."""
        await self._session.do("Opening", self._open_first)

    async def _open_first(self) -> None:
        session, given = self._session, self._options.volume
        if given is not None:
            await self._open(volumes.existing(given))
            return
        phantom = await session.compute(lambda _told: liver_phantom((PHANTOM_SIZE,) * 3))
        volume, *lists = add_phantom(phantom)
        for node in lists:
            node.GetScene().RemoveNode(node)
        session.open(volume)

    async def _open(self, path: Path) -> None:
        choice = self._choice
        image = await self._session.compute(lambda _told: volumes.load_volume(path, choice))
        self._session.open(volumes.add_volume(path, image), path)
        self._session.said = " ".join(volumes.notes_of(self._session.volume))

    async def _upload(self, request: web.Request) -> web.Response:
        """Take one file, an archive, or the files of a folder, and open them."""
        self._session.cancel()  # what is of the volume before
        await self._session.do("Opening", lambda: self._take(request))
        return web.Response(text="", content_type="text/html")

    async def _take(self, request: web.Request) -> None:
        place = Path(tempfile.mkdtemp(prefix="upload-", dir=self._folder))
        try:
            limit = min(LARGEST, shutil.disk_usage(place).free // 2)
            count, size, total = 0, 0, request.content_length or 1
            parts: Any = await request.multipart()
            async for part in parts:
                if not part.filename:
                    continue
                count += 1
                with _free_name(place, part.filename).open("wb") as file:
                    while chunk := await part.read_chunk(PART):
                        size += len(chunk)
                        self._session.tell(size / total)
                        if size > limit or count > MOST_FILES:
                            raise InputError(
                                f"More than {limit >> 20} MB or {MOST_FILES} files are not taken."
                            )
                        file.write(chunk)
            path = await self._session.compute(lambda _told: _what_to_open(place, limit))
            self._choice = Choice()
            await self._open(path)
        except BaseException as error:
            shutil.rmtree(place, ignore_errors=True)
            if isinstance(error, InputError):  # the person knows the file by its name alone
                raise InputError(str(error).replace(f"{place}/", "")) from error
            raise
        for other in self._folder.glob("upload-*"):
            if other != place:
                shutil.rmtree(other, ignore_errors=True)

    # --- results

    async def save(self) -> None:
        """Make the folder of results that ``fuzzy-vessel run`` writes, and hand it out."""
        await self._session.settled()
        if self._session.result is not None:
            await self._session.do("Saving", self._save)

    async def _save(self) -> None:
        session = self._session
        path, name = session.path, session.volume.GetName()
        if path is None:
            path = self._folder / f"{_clean(name)}.nrrd"
            write_nodes(path.parent, {path.name: session.volume})
        out = self._folder / f"{_clean(name)}-vessels"
        shutil.rmtree(out, ignore_errors=True)
        archive = await saving.run([str(path), *self.arguments()], session.tell, out)
        self._archive = archive
        shutil.rmtree(out, ignore_errors=True)
        self._download(RESULTS)

    def arguments(self) -> list[str]:
        """The options of ``fuzzy-vessel run`` that give the session's result."""
        session, found = self._session, [f"--device={self._session.device}"]
        shape = session.volume.GetImageData().GetDimensions()[::-1]
        options = {session.background: "--background="}
        options |= {node: f"--vessel={node.GetName()}:" for node in session.vessels}
        for node, option in options.items():
            voxels = points_in_volume(session.volume, placed_points(node).world)
            for k, j, i in voxels[inside(voxels, shape)].tolist():
                found.append(f"{option}{i},{j},{k}")
        if session.threshold is not None:
            found.append(f"--threshold={session.threshold}")
        for option, value in self._choice._asdict().items():
            if value is not None:
                text = ",".join(map(str, value)) if isinstance(value, tuple) else value
                found.append(f"--{option}={text}")
        return found

    async def _results(self, _request: web.Request) -> web.StreamResponse:
        if self._archive is None:
            raise web.HTTPNotFound
        name = f'attachment; filename="{self._archive.name}"'
        return web.FileResponse(self._archive, headers={"Content-Disposition": name})


def _clean(name: str) -> str:
    """A file name without folders, control characters, or a leading dot."""
    name = PurePosixPath(name.replace("\\", "/")).name
    return re.sub(r"[^\w.()+-]", "_", name).lstrip(".")[-100:] or "file"


def _free_name(folder: Path, name: str) -> Path:
    """A path in a folder for an uploaded file; files of one name are kept apart."""
    path, number = folder / _clean(name), 1
    while path.exists():
        path = folder / f"{(number := number + 1)}-{_clean(name)}"
    return path


def _what_to_open(folder: Path, limit: int) -> Path:
    """The file among those that were uploaded, or the folder of a DICOM series."""
    files = sorted(folder.iterdir())
    if not files:
        raise InputError("No file was sent.")
    if len(files) == 1 and zipfile.is_zipfile(files[0]):
        inside_folder = folder / "unpacked"
        inside_folder.mkdir()
        _unpack(files[0], inside_folder, limit)
        files[0].unlink()
        folder, files = inside_folder, sorted(inside_folder.iterdir())
    named = [each for each in files if each.name.lower().endswith((*SUFFIXES, *TIFF))]
    if len(named) > 1:
        raise InputError("Several volumes were sent: choose one.")
    if named:
        return named[0]
    # A single slice of a series may be there, or a file that the reader refuses by its name.
    return folder if len(files) != 1 or files[0].suffix.lower() in ("", ".dcm") else files[0]


def _unpack(archive: Path, folder: Path, limit: int) -> None:
    """Unpack the files of an archive into one folder, whatever their paths in it are."""
    size = 0
    try:
        with zipfile.ZipFile(archive) as packed:
            members = [each for each in packed.infolist() if not each.is_dir()]
            if len(members) > MOST_FILES:
                raise InputError(f"{archive.name}: more than {MOST_FILES} files are not taken.")
            for each in members:
                with (
                    packed.open(each) as source,
                    _free_name(folder, each.filename).open("wb") as to,
                ):
                    size += _copy(source, to, limit - size, archive.name)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{archive.name}: this archive cannot be read: {error}.") from error


def _copy(source: Any, to: BinaryIO, limit: int, name: str) -> int:
    """Copy a file that is unpacked, of no more than so many bytes."""
    size = 0
    while chunk := source.read(PART):
        size += len(chunk)
        if size > limit:
            raise InputError(f"{name}: it is too large when it is unpacked.")
        to.write(chunk)
    return size

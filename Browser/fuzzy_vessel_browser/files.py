"""Volumes that come in, from the command line or the page, and results that go out."""

import json
import re
import shutil
import tempfile
import zipfile
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from aiohttp import web  # noqa: TID251

from fuzzy_vessel.reading import volumes
from fuzzy_vessel.reading.process import SUFFIXES, TIFF, Choice
from fuzzy_vessel.writing import write_nodes
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.points import add_phantom
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

from . import saving
from .session import Session

PHANTOM_SIZE = 128
LARGEST = 8 << 30  # bytes that are taken in, and never more than half of what is free
MOST_FILES = 20_000
PART = 1 << 20  # bytes at a time
RESULTS, SESSION, SCENE = "/results.zip", "session.json", "scene.mrb"


class Files:
    """The files of one session; those that were uploaded or made go when it ends.

    `options` are those of the command line: `volume`, and what `Choice.of` looks for;
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
            await self._open(volumes.existing(given), self._choice)
            return
        phantom = await session.compute(lambda _told: liver_phantom((PHANTOM_SIZE,) * 3))
        volume, *lists = add_phantom(phantom)
        for node in lists:
            node.GetScene().RemoveNode(node)
        session.open(volume)

    async def _open(self, path: Path, choice: Choice) -> None:
        image = await self._session.compute(lambda _told: volumes.load_volume(path, choice))
        self._session.open(volumes.add_volume(path, image), path)
        self._choice = choice
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
            find = partial(_what_to_open, place, limit)
            path, saved = await self._session.compute(lambda _told: find())
            await self._open(path, Choice())
            if saved is not None:
                self._session.restore(saved)
        except BaseException as error:
            if self._session.path is None or place not in self._session.path.parents:
                shutil.rmtree(place, ignore_errors=True)
            if isinstance(error, InputError):  # the person knows the file by its name alone
                raise InputError(str(error).replace(f"{place}/", "")) from error
            if isinstance(error, KeyError | TypeError | ValueError | AttributeError):
                raise InputError("What was sent is damaged.") from error
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
        saved = {"volume": volumes.name_of(path), **session.points()}
        await saving.run([str(path), *self.arguments()], session.tell, out)
        (out / SESSION).write_text(json.dumps(saved), encoding="utf-8")
        pack = partial(shutil.make_archive, str(out), "zip", out.parent, out.name)
        self._archive = Path(await session.compute(lambda _told: pack()))
        shutil.rmtree(out, ignore_errors=True)
        self._download(RESULTS)

    def arguments(self) -> list[str]:
        """The options of ``fuzzy-vessel run`` that give the session's result."""
        session, found = self._session, [f"--device={self._session.device}"]
        points = session.points()
        named = [(f"--vessel={name}:", each) for name, each in points["vessels"].items()]
        for option, voxels in (*named, ("--background=", points["background"])):
            found += [f"{option}{i},{j},{k}" for i, j, k in voxels]
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


def _what_to_open(folder: Path, limit: int) -> tuple[Path, Any]:
    """The file among those that were uploaded, or the folder of a DICOM series.

    Of results that the page has saved: their volume, and the points that belong to it.
    """
    files = sorted(folder.iterdir())
    if not files:
        raise InputError("No file was sent.")
    if len(files) == 1 and zipfile.is_zipfile(files[0]):
        inside_folder = folder / "unpacked"
        inside_folder.mkdir()
        _unpack(files[0], inside_folder, limit)
        files[0].unlink()
        folder, files = inside_folder, sorted(inside_folder.iterdir())
    if {SESSION, SCENE} <= {each.name for each in files}:
        saved = json.loads((folder / SESSION).read_text(encoding="utf-8"))
        scene = folder / "scene"
        scene.mkdir()
        _unpack(folder / SCENE, scene, limit)
        return scene / _clean(f"{saved['volume']}.nrrd"), saved
    named = [each for each in files if each.name.lower().endswith((*SUFFIXES, *TIFF))]
    if len(named) > 1:
        raise InputError("Several volumes were sent: choose one.")
    if named:
        return named[0], None
    # A single slice of a series may be there, or a file that the reader refuses by its name.
    alone = len(files) == 1 and files[0].suffix.lower() not in ("", ".dcm")
    return files[0] if alone else folder, None


def _unpack(archive: Path, folder: Path, limit: int) -> None:
    """Unpack the files of an archive into one folder, whatever their paths in it are."""
    size = 0
    try:
        with zipfile.ZipFile(archive) as packed:
            members = [each for each in packed.infolist() if not each.is_dir()]
            if len(members) > MOST_FILES:
                raise InputError(f"{archive.name}: more than {MOST_FILES} files are not taken.")
            for each in members:
                path = _free_name(folder, each.filename)
                with packed.open(each) as source, path.open("wb") as file:
                    while chunk := source.read(PART):
                        size += len(chunk)
                        if size > limit:
                            raise InputError(f"{archive.name}: it is too large when unpacked.")
                        file.write(chunk)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{archive.name}: this archive cannot be read: {error}.") from error

"""The page in a real browser, Debian's Chromium: clicks, files, and who may see it."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pytest

from support.image_files import write_nrrd
from support.places import PACKAGE_FOLDERS
from support.solids import read_nrrd

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("trame_slicer", reason="trame-slicer is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="the package chromium is not installed")

LEAK = 15  # voxels from the middle
WAIT = 40_000  # ms; nothing waits as long unless it fails


def scan():
    """A tube along K in the middle, and one beside it that a bridge leads to."""
    k, j, i = np.indices((24, 48, 48))
    inside = ((i - 24) ** 2 + (j - 24) ** 2 <= 16) | ((i - 24 - LEAK) ** 2 + (j - 24) ** 2 <= 16)
    inside |= (np.abs(k - 12) <= 2) & (np.abs(j - 24) <= 2) & (i >= 24) & (i <= 24 + LEAK)
    noise = np.random.default_rng(3).normal(0, 5, inside.shape)
    return (np.where(inside, 200, 100) + noise).astype(np.int16)


class Server:
    """A process that serves a volume."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzzy_vessel", "serve", "--no-open", "--device", "cpu",
             *map(str, arguments)],
            stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PACKAGE_FOLDERS)),
                 "TMPDIR": str(Path(arguments[0]).parent)},
        )  # fmt: skip
        self.address = next(
            found[0] for line in self.process.stdout if (found := re.search(r"http\S+", line))
        )
        self.root = self.address.partition("/?")[0]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_nrrd(tmp_path_factory.mktemp("scan") / "two tubes.nrrd", scan())


@pytest.fixture(scope="module")
def server(path):
    server = Server(path, "--until-closed")
    yield server
    server.process.terminate()
    server.process.wait(20)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def page(browser, server):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(server.address)
    page.get_by_text("two tubes").wait_for(timeout=WAIT)
    page.get_by_text("Click into a vessel").wait_for(timeout=WAIT)
    page.wait_for_timeout(1000)
    return page


def click(page, across):
    """Click in the axial slice, so many voxels (1 mm) from the middle to the patient's left."""
    box = page.locator(".pane").first.bounding_box()
    scale = min(box["width"], box["height"]) / 48
    at = box["x"] + box["width"] / 2 + scale * across, box["y"] + box["height"] / 2
    page.mouse.move(*at)
    page.mouse.click(*at)


def millilitres(page, before=()):
    """Volumes that are shown, once they are others than before."""

    def shown():
        return [text for text in page.locator(".ml").all_inner_texts() if text]

    for _ in range(WAIT // 100):
        if shown() not in ([], list(before)) and not page.get_by_text("Segmenting").count():
            return shown()
        page.wait_for_timeout(100)
    raise AssertionError(f"still {shown()}")


def saved(page):
    """The archive that the button *Save* gives."""
    with page.expect_download(timeout=3 * WAIT) as download:
        page.get_by_role("button", name="Save").click()
    return zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes()))


def test_clicks_not_vessel_undo_and_what_is_saved(page):
    from FuzzyConnectedGPULib import segment

    click(page, 0)
    both = millilitres(page)
    page.get_by_role("button", name="Not vessel").click()
    click(page, LEAK)
    one = millilitres(page, both)
    page.get_by_title("Undo").click()
    assert millilitres(page, one) == both
    page.get_by_title("Redo").click()
    assert millilitres(page, both) == one
    page.get_by_role("button", name="Find centrelines").click()
    page.locator(".branches tbody tr").first.wait_for(timeout=WAIT)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled; nothing was changed.").wait_for(timeout=WAIT)
    archive = saved(page)
    folder = archive.namelist()[0].partition("/")[0]
    report = json.loads(archive.read(f"{folder}/report.json"))["input"]
    voxels = {
        name: [each["ijk"][::-1] for each in report[name]] for name in ("seeds", "background_seeds")
    }
    known = segment(
        scan(), voxels["seeds"], background_seeds=voxels["background_seeds"], spacing=(2, 1, 1),
        device="cpu",
    ).labels  # fmt: skip
    assert voxels["seeds"][0][1:] == pytest.approx([24, 24], abs=2)
    assert known[:, 24, 24].any()
    assert not known[tuple(voxels["background_seeds"][0])]
    assert np.array_equal(read_nrrd(zipfile.Path(archive, f"{folder}/labelmap.nrrd")), known)
    assert one == [f"{known.sum() * 2 / 1000:.1f} ml"]
    shown = len(page.locator(".branches tbody tr").all())
    assert shown == len(archive.read(f"{folder}/branches.csv").splitlines()) - 1
    assert f"{folder}/scene.mrb" in archive.namelist()


def test_two_vessels_in_two_tabs(page, browser, server):
    page.get_by_title("Undo").click()
    page.get_by_role("button", name="Add vessel").click()
    click(page, LEAK)
    page.wait_for_function("document.querySelectorAll('.ml:not(:empty)').length == 2")
    other = browser.new_page()
    other.goto(server.address)
    other.wait_for_function("document.querySelectorAll('.ml:not(:empty)').length == 2")
    assert millilitres(other) == millilitres(page)
    other.context.close()


def test_uploads_and_broken_files(page, path, tmp_path):
    broken = tmp_path / "broken.nrrd"
    broken.write_bytes(path.read_bytes()[:5000])
    page.set_input_files("#file", broken)
    page.get_by_text("broken.nrrd: ").wait_for(timeout=WAIT)
    assert str(tmp_path) not in page.locator("#said").inner_text()
    with zipfile.ZipFile(tmp_path / "sent.zip", "w") as archive:
        archive.write(path, "../../folder/other scan.nrrd")
    page.set_input_files("#file", tmp_path / "sent.zip")
    page.get_by_text("other_scan").wait_for(timeout=WAIT)
    click(page, 0)
    assert len(millilitres(page)) == 1


def test_the_page_fetches_nothing_from_other_hosts(page, server):
    assert len(page.asked) > 5
    assert all(url.startswith((server.root, "data:", "blob:")) for url in page.asked)


def status(address, data=None, **headers):
    request = urllib.request.Request(address, data, headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("place", ["/", "/index.html", "/ws", "/results.zip", "/?key=wrong"])
def test_without_the_key_nothing_is_served(server, place):
    assert status(server.root + place) == 403


def test_other_sites_and_hosts_are_refused(server):
    key = server.address.partition("=")[2]
    port = server.root.rpartition(":")[2]
    own = {"Cookie": f"fuzzy-vessel-{port}={key}"}
    assert status(f"{server.root}/index.html", **own) == 200
    for more in ({"Origin": "http://elsewhere.example"}, {"Host": f"elsewhere.example:{port}"}):
        assert status(f"{server.root}/index.html", **own, **more) == 403
        assert status(f"{server.root}/ws", **own, **more) == 403
        assert status(f"{server.root}/open", b"", **own, **more) == 403


def test_the_server_ends_with_its_last_page_and_leaves_no_file(page, server, path):
    page.close()
    assert server.process.wait(20) == 0
    assert list(path.parent.iterdir()) == [path]

"""The animation of the README: first picture, at most a minute, of modest size."""

import re

from PIL import Image

from support.places import ROOT

PATH = ROOT / "Resources" / "Screenshots" / "minute.webp"
MAX_BYTES, MAX_SECONDS = 3_000_000, 60


def test_it_is_the_first_picture_of_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)[0] == PATH.relative_to(ROOT).as_posix()


def test_it_is_short_and_small():
    assert PATH.stat().st_size < MAX_BYTES
    with Image.open(PATH) as film:
        assert film.is_animated
        milliseconds = 0
        for number in range(film.n_frames):
            film.seek(number)
            film.load()
            milliseconds += film.info["duration"]
        assert film.n_frames > 30
    assert 10 < milliseconds / 1000 <= MAX_SECONDS

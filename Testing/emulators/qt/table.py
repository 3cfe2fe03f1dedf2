"""What the real widgets offer: the meta-objects of Slicer v5.12.3 and CTK, as Qt's moc lists them.

`widgets.json` keeps of each class, a line for each, what the tests need: bases, properties,
signals, methods (slots and invokable ones) and enumerators.
"""

import functools
import json
from pathlib import Path

FILE = Path(__file__).with_name("widgets.json")


@functools.cache
def widgets():
    """Class to its bases, properties, signals, methods and enumerators."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def bases_of(name):
    """A class of the table and those that it derives from, as far as they are in the table."""
    found = [name] if name in widgets() else []
    for base in widgets().get(name, {}).get("bases", ()):
        found += bases_of(base)
    return found


def signals_of(cls):
    """Signatures of the signals of a stand-in, those of its bases of the table included."""
    return {
        signature for base in bases_of(cls.__name__) for signature in widgets()[base]["signals"]
    }


def names_of(name):
    """Everything that a class of the table has a public name for, without Qt's own."""
    found = set()
    for base in bases_of(name):
        entry = widgets()[base]
        found |= {*entry["properties"], *entry["enumerators"]}
        found |= {signature.partition("(")[0] for signature in entry["signals"] + entry["methods"]}
    return found

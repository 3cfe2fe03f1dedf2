"""Ways to spoil a file: bytes, lines of a header, fields of a record, entries of JSON."""

import json
import struct

NUMBERS = (
    "0", "-1", "1", "2", "7", "65536", "2147483647", "2147483648", "4294967296", "4294967297",
    "9223372036854775807", "99999999999999999999999", "1e400", "nan", "inf", "-inf", "0x10", "1.5",
    "٣", "1_0",
)  # fmt: skip
WORDS = (
    "", " ", "none", "(nan,0,0)", "(0,0,0)", "()", "???", "../../secret", "/dev/zero", "%s%n%d",
    "A" * 70000, "\x1b[2J", "\x00", "é\udcff", "LIST", "list 3", "http://localhost:1/a.raw", "=",
    ":", "gzip", "ascii", "hex", "bzip2", "raw", "text", "True", "False", "MET_DOUBLE", "block",
    "double", "RGB-color domain domain domain", "1 2 3 4 5 6 7 8 9", '"', "\\", "\t",
)  # fmt: skip

DEEP = "lists in lists"


def spoil_bytes(rng, content, first=0, last=None):
    """Change a few bytes of `content` between two places, or its length."""
    content = bytearray(content)
    last = min(last or len(content), len(content))
    kind = rng.integers(5)
    if kind == 0:
        return bytes(content[: rng.integers(0, len(content) + 1)])
    if kind == 1:
        place = rng.integers(0, len(content) + 1)
        return bytes(content[:place] + rng.bytes(rng.integers(1, 40)) + content[place:])
    for _ in range(rng.integers(1, 9)):
        place = rng.integers(first, max(last, first + 1))
        if place < len(content):
            content[place] = (0, 255, 128, content[place] ^ (1 << rng.integers(8)))[rng.integers(4)]
    return bytes(content)


def spoil_lines(rng, text, separator):
    """Change one to three lines of `key separator value` in the text of a header."""
    lines = text.split("\n")
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(0, max(len(lines) - 1, 1)))
        kind = rng.integers(6)
        if kind == 0 and len(lines) > 2:
            del lines[place]
        elif kind == 1:
            lines.insert(int(rng.integers(0, len(lines))), lines[place])
        elif kind == 2:
            lines.insert(place, f"{pick(rng, WORDS)}{separator}{pick(rng, NUMBERS)}")
        else:
            key, between, value = lines[place].partition(separator)
            lines[place] = f"{key}{between}{spoil_value(rng, value)}"
    return "\n".join(lines)


def spoil_value(rng, value):
    """Another value of a field: one of its numbers changed, one more or less, or a strange word."""
    kind, parts = rng.integers(5), value.split(" ")
    place = int(rng.integers(len(parts)))
    if kind == 0:
        return pick(rng, WORDS)
    if kind == 1:
        return " ".join(parts[:place])
    if kind == 2:
        return " ".join([*parts, pick(rng, NUMBERS)])
    parts[place] = pick(rng, NUMBERS)
    return " ".join(parts)


def spoil_fields(rng, content, fields, order="<"):
    """Set one to three fields of a binary header, (format, place) each, to awkward numbers."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        kind, place = fields[rng.integers(len(fields))]
        size = struct.calcsize(order + kind)
        if kind in "fd":
            value = pick(rng, (float("nan"), float("inf"), 0.0, -1.0, 1e30, 1e-30, 3e38))
        else:
            bits = 8 * size - 1
            value = (0, 1, -1, 2, 7, -(2**bits), 2**bits - 1, int(rng.integers(300)))[
                rng.integers(8)
            ]
            value = min(value, 2**bits - 1)
        content[place : place + size] = struct.pack(order + kind, value)
    return bytes(content)


def spoil_json(rng, value):
    """A copy of a JSON value in which one entry at a random depth is another thing.

    `DEEP` stands for lists in lists, which `json.dumps` would not write.
    """
    value = json.loads(json.dumps(value))
    holder, key, inner = None, None, value
    while isinstance(inner, dict | list) and inner and (holder is None or rng.random() < 0.8):
        keys = list(inner) if isinstance(inner, dict) else range(len(inner))
        holder, key = inner, keys[rng.integers(len(keys))]
        inner = inner[key]
    kind = rng.integers(4)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder += [inner] * int(rng.integers(1, 200))
    elif kind == 2:
        holder[key] = DEEP
    else:
        strange = (
            None,
            True,
            -1,
            1e308,
            2**70,
            "",
            "\x00",
            "A" * 70000,
            [],
            {},
            [[]],
            "nan",
            [1, 2],
        )
        holder[key] = strange[rng.integers(len(strange))]
    return value


def pick(rng, choices):
    """One of the choices; numpy's own `choice` would turn them into an array."""
    return choices[int(rng.integers(len(choices)))]

"""What a segment is, in SNOMED CT: DICOM SEG export and other extensions read it.

An entry is one text of seven parts between ``~``: list, category, type, type modifier, list of
regions, region, region modifier; a code is ``scheme^value^meaning`` (Slicer's developer guide,
Segmentations, "TerminologyEntry tag").
"""

import re

from ..errors import InputError
from ..translation import tr as _

_GENERAL = "Segmentation category and type - 3D Slicer General Anatomy list"
_DICOM = "Segmentation category and type - DICOM master list"
_TISSUE = "SCT^85756007^Tissue"
_STRUCTURE = "SCT^123037004^Anatomical Structure"

# Kind -> list, category and code. Slicer opens a segment's entry in its list, so that the short
# one (3D Slicer General Anatomy) is named where it has the vessel.
_CODES = {
    "blood vessel": (_DICOM, _TISSUE, "59820001^Blood vessel"),
    "artery": (_GENERAL, _TISSUE, "51114001^Artery"),
    "vein": (_GENERAL, _TISSUE, "29092000^Vein"),
    "aorta": (_GENERAL, _STRUCTURE, "15825003^Aorta"),
    "hepatic artery": (_DICOM, _STRUCTURE, "76015000^Hepatic artery"),
    "pulmonary artery": (_DICOM, _STRUCTURE, "81040000^Pulmonary artery"),
    "portal vein": (_DICOM, _STRUCTURE, "32764006^Portal vein"),
    "hepatic vein": (_DICOM, _STRUCTURE, "8993003^Hepatic vein"),
    "pulmonary vein": (_DICOM, _STRUCTURE, "122972007^Pulmonary vein"),
    "inferior vena cava": (_DICOM, _STRUCTURE, "64131007^Inferior vena cava"),
    "superior vena cava": (_DICOM, _STRUCTURE, "48345005^Superior vena cava"),
}
KINDS = tuple(_CODES)
# SNOMED CT as Slicer has it knows no vena cava without its side.
_OTHER_WORDS = {
    "ivc": "inferior vena cava",
    "svc": "superior vena cava",
    "vena cava": "vein",
    "arteries": "artery",
    "hepatic arteries": "hepatic artery",
    "pulmonary arteries": "pulmonary artery",
}


def entry_of(kind: str) -> str:
    """The terminology entry of a kind of vessel (one of `KINDS`), as a segment's tag has it.

    Examples
    --------
    >>> entry_of("portal vein").split("~")[2]
    'SCT^32764006^Portal vein'
    """
    if kind not in _CODES:
        text = _("No terminology for '{kind}': choose one of {kinds}.")
        raise InputError(text.format(kind=kind, kinds=", ".join(KINDS)))
    terms, category, code = _CODES[kind]
    return f"{terms}~{category}~SCT^{code}~^^~Anatomic codes - DICOM master list~^^~^^"


def kind_named(name: str) -> str:
    """The kind of vessel that a name says; "blood vessel" where it says none, or two.

    Examples
    --------
    >>> kind_named("Portal vein 2"), kind_named("left hepatic veins")
    ('portal vein', 'hepatic vein')
    >>> kind_named("seeds"), kind_named("Artery, vein")
    ('blood vessel', 'blood vessel')
    """
    words = {**{kind: kind for kind in KINDS}, **_OTHER_WORDS}
    found, rest = set(), " ".join(re.split(r"[\W_]+", name.lower()))
    for word in sorted(words, key=len, reverse=True):  # a portal vein is not a second vein
        rest, count = re.subn(rf"\b{word}s?\b", "|", rest)
        if count:
            found.add(words[word])
    return found.pop() if len(found) == 1 else KINDS[0]

"""Kinds of vessels: colours, and entries of the terminology that segments carry."""

from dataclasses import dataclass
from typing import Any

from FuzzyVesselCoreLib.mrml.new_points import VESSEL_COLOR, paint

KIND = "FuzzyVesselGPU.Vessel"  # attribute of a list of points
# All codes are in Slicer's copy of the DICOM master list.
CONTEXT = "Segmentation category and type - DICOM master list"
ANATOMY = "Anatomic codes - DICOM master list"

Color = tuple[float, float, float]


@dataclass(frozen=True)
class VesselKind:
    """A kind of vessel.

    Attributes
    ----------
    name : str
        In scenes and scripts.
    code, meaning : str
        Of SNOMED CT.
    color : tuple of 3 float
        Red, green, blue, 0..1.
    """

    name: str
    code: str
    meaning: str
    color: Color

    @property
    def terminology(self) -> str:
        """The entry as segments carry it."""
        category = "SCT^123037004^Anatomical Structure"
        kind = f"SCT^{self.code}^{self.meaning}"
        return "~".join([CONTEXT, category, kind, "^^", ANATOMY, "^^", "^^"])


OTHER = VesselKind("other", "59820001", "Blood Vessel", VESSEL_COLOR)
KINDS = {
    kind.name: kind
    for kind in (
        VesselKind("portal vein", "32764006", "Portal vein", (0.70, 0.45, 0.95)),
        VesselKind("hepatic vein", "8993003", "Hepatic vein", (0.15, 0.45, 0.95)),
        VesselKind("artery", "51114001", "Artery", (0.90, 0.25, 0.20)),
        VesselKind("vein", "29092000", "Vein", (0.10, 0.70, 0.65)),
        OTHER,
    )
}
# Kinds by parts of names; the first that fits.
WORDS = {
    "portal": "portal vein",
    "hepatic vein": "hepatic vein",
    "hepatic_vein": "hepatic vein",
    "arter": "artery",
    "aort": "artery",
    "hepatic": "hepatic vein",
    "vein": "vein",
    "vena": "vein",
}
# Of further vessels of a kind whose colour is taken.
FURTHER: tuple[Color, ...] = (
    *((0.95, 0.50, 0.75), (0.45, 0.85, 0.40), (0.95, 0.60, 0.30), (0.60, 0.80, 0.95)),
    *((0.75, 0.70, 0.40), (0.80, 0.40, 0.55)),
)


def kind_of(list_node: Any) -> VesselKind:
    """The kind of a list's vessel; `OTHER` where nobody has said it."""
    return KINDS.get(list_node.GetAttribute(KIND) or "", OTHER)


def kind_named(name: str) -> str:
    """The kind that a name such as "portal" or "Hepatic veins" stands for; else "other"."""
    words = name.lower()
    for word, kind in WORDS.items():
        if word in words:
            return kind
    return OTHER.name


def set_kind(list_node: Any, name: str, taken: list[Color] | None = None) -> None:
    """Give a list a kind, and a colour that no other vessel has.

    Parameters
    ----------
    list_node : vtkMRMLMarkupsFiducialNode
    name : str
        Of one of `KINDS`.
    taken : list of tuple, optional
        The other vessels' colours.
    """
    list_node.SetAttribute(KIND, name)
    taken = [_rounded(color) for color in taken or ()]
    free = [each for each in (KINDS[name].color, *FURTHER) if _rounded(each) not in taken]
    paint(list_node, (free or [KINDS[name].color])[0])


def color_of(list_node: Any) -> Color:
    """The colour of a list's points, and of its vessel."""
    display = list_node.GetDisplayNode()
    return tuple(display.GetSelectedColor()) if display is not None else VESSEL_COLOR


def look(segment: Any, list_node: Any) -> None:
    """Give a vtkSegment the name, the colour and the terminology of its list."""
    segment.SetName(list_node.GetName())
    segment.SetColor(color_of(list_node))
    segment.SetTag(segment.GetTerminologyEntryTagName(), kind_of(list_node).terminology)


def _rounded(color: Color) -> tuple:
    return tuple(round(part, 3) for part in color)

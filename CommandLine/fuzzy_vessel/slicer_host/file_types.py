"""Which of Slicer's readers a file is for, by its name."""

FILE_TYPES = {
    ".seg.nrrd": "SegmentationFile",
    ".seg.nhdr": "SegmentationFile",
    ".mrk.json": "MarkupsFile",
    ".fcsv": "MarkupsFile",
    ".mrb": "SceneFile",
    ".mrml": "SceneFile",
    ".vtp": "ModelFile",
    ".vtk": "ModelFile",
    ".stl": "ModelFile",
    ".ply": "ModelFile",
    ".obj": "ModelFile",
    ".tsv": "TableFile",
    ".csv": "TableFile",
    ".h5": "TransformFile",
    ".tfm": "TransformFile",
    ".txt": "TextFile",
    ".ctbl": "ColorTableFile",
}
# Types that are read by the storage node which a new node of this class brings along.
NODE_CLASSES = {
    "ModelFile": "vtkMRMLModelNode",
    "TableFile": "vtkMRMLTableNode",
    "TextFile": "vtkMRMLTextNode",
    "ColorTableFile": "vtkMRMLColorTableNode",
}


def file_type(filename: str) -> str:
    """Return the name of the reader for a file; what is not known is tried as a volume."""
    name = filename.lower()
    return next(
        (kind for suffix, kind in FILE_TYPES.items() if name.endswith(suffix)), "VolumeFile"
    )

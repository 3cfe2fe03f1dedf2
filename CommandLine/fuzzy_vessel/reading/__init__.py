"""Image, point and scene files to MRML nodes (private to the command line).

`volumes`, `labelmaps` and `seeds` are what the jobs call. An image file passes `formats` (a guard
in plain Python: header, size, checksum), then Slicer's own reader (`images`, `slicer_reader`); a
DICOM folder passes `dicom_series`, `dicom_tags` and `formats.dicom_elements`. `bundles` checks
`.mrb` scenes.

Why no other reader, by format; times are of a CT of 512 x 512 x 129 voxels, packed, on two cores;
the cases are those of `Testing/trust/hostile_cases.py`, 200 NRRD, 200 NIfTI and 150 DICOM ones.
Slicer's reader makes voxels and geometry in 0.45 s, and only with it voxel I, J, K here is voxel
I, J, K in Slicer (left-handed axes, sform and qform, missing spacing). The guard adds 0.3 s: it
counts the unpacked bytes and keeps none, so that no file is parsed twice. OME-Zarr and TIFF pass
`stacks`.

- NRRD: pynrrd needs 0.4 s for the voxels alone, takes 2 GiB for a file of 1 MB that unpacks to
  1 GiB, waits forever where the data are named to lie in a pipe, and refuses 43 files that the
  guard accepts.
- NIfTI: nibabel needs 0.37 s and is safe with memory; it reads files whose axes are NaN or
  infinite (27), with which ITK does not come to an end. It would be a second parser of the header.
- MetaImage: no such library but ITK itself, which is Slicer's reader.
- DICOM: pydicom waits forever for a pipe in the folder, needs a package for each codec that GDCM
  already has (JPEG, JPEG-LS, JPEG 2000), and does not refuse lengths that GDCM believes.
"""

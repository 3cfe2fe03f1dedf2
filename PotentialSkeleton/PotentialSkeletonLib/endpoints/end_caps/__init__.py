"""The centre of an end cap: where a protrusion's axis leaves it. All is private.

`cap_centre` for one cap on the CPU; `cuda_cap_centre` for all caps of an object on the device.
"""

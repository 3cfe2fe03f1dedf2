"""Interactive segmentation measured with a simulated person who clicks.

`cases` and `reference_cases` read scans with known vessels, `person` clicks until a method's result
is right, `methods` names the methods (`ours`, with `path_variants`, and `peers/`), `measures` and
`radius` compare a result with the truth, `sessions` runs every method on every case,
`calibration` predicts how good a result is, and `tables/` shows what was found.
"""

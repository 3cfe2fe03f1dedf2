"""Interactive segmentation measured with a simulated person who clicks.

`cases` reads scans with known vessels, `person` clicks until a method's result is right, `methods`
names the methods (ours and other programs), `measures` and `radius` compare a result with the
truth, `sessions` runs every method on every case, and `click_table`, `random_table` and
`radius_table` show what it found.
"""

"""What a segment is, in SNOMED CT: DICOM SEG export and other extensions read it.

`KINDS` has the vessels that have a code, `set_entry` gives a segment one, `kind_named` reads a
vessel's name.
"""

from .entries import KINDS, entry_of, kind_named
from .segment_entry import has_own_entry, set_default_entry, set_entry

__all__ = ["KINDS", "entry_of", "has_own_entry", "kind_named", "set_default_entry", "set_entry"]

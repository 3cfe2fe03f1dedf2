"""What `FuzzyConnectedGPULogic` offers to scripts and to the panel, one group of methods a file.

`SegmentingLogic` runs, `ThresholdLogic` cuts a connectedness map at other thresholds, `SeedsLogic`
finds and describes points. The module's file puts them together; nothing but the standard library
is imported before a method is called.
"""

from .seeds_logic import SeedsLogic
from .segmenting_logic import SegmentingLogic
from .threshold_logic import ThresholdLogic

__all__ = ["SeedsLogic", "SegmentingLogic", "ThresholdLogic"]

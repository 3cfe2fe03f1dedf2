"""The arguments of the command line, checked as far as they can be by themselves.

`parser` has the commands, `options` the groups of options that commands share, `values` the types
of single arguments.
"""

from .parser import make_parser

__all__ = ["make_parser"]

"""The benchmark command: speed on this machine beside its goals, and the papers' tables as runs.

It is part of the installed command line, so that it runs on any user's GPU, also where neither VTK
nor Slicer is installed. Each table is one file or function; `tables.TABLES` names them.
"""

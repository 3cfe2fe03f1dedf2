"""Faults, load and hostile input: what the program must bear; `run.py` is the long form."""

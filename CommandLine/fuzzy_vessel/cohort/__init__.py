"""Many cases, one after the other or several at a time: `fuzzy-vessel run` for each.

`case_list` (what is to be done) -> `running` (a process a case) -> `case_table` (one row a case).
"""

"""The panel of Potential-Field Skeleton; it needs Slicer with its user interface.

`skeleton_panel` is the panel and its runs. `object_section` chooses the vessels (`current_object`
the first time), `result_section` shows what was found: `branch_list`, `radius_plot`, `legend`,
`highlight` of the chosen branch, and `summary_text` with the sentences. `advice` says what to do
next, `see_through` keeps centrelines visible inside their segment, `saving` writes files.
"""

"""Vessels in a browser, without Slicer's application: ``fuzzy-vessel serve [VOLUME]``.

`server` serves one page to anyone who knows the key of the process, `page` draws it with
trame-slicer, `session` is what its buttons do, by the logics of the two modules on one MRML scene,
and `files` takes volumes in and gives results out. A process serves one person's scene.
"""

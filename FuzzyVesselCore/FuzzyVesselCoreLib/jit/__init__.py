"""Code that numba compiles is compiled, or loaded from its cache, before somebody waits for it.

`warm_up` does so in a thread, `compiling_processes` in processes that fill the cache on disk.
"""

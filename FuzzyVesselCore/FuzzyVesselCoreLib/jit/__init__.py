"""Code that numba compiles: how (`decorators`), and ahead of a first run (`warm_up`)."""

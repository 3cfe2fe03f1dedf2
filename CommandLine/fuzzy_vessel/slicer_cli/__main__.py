"""The entry point of the container: `programs.main`."""

import sys

from .programs import main

if __name__ == "__main__":
    sys.exit(main())

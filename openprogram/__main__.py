"""`python -m openprogram`: the same as the command `openprogram`."""

import sys

from openprogram.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

"""`python -m openprogram.fakeapi`."""

import sys

from openprogram.fakeapi.main import main

raise SystemExit(main(sys.argv[1:]))

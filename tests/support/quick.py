"""The server without the waits that are there for people and endpoints: its demo answers at full speed, a tab hears of
it every half second, and a request that failed is sent again at once.

`python -m tests.support.quick serve ...`, in place of `python -m openprogram serve ...`.
"""

import sys
from functools import partial
from typing import Final

from openprogram.app import compose, demo, serve
from openprogram.cli.main import main
from openprogram.providers.factory import build_provider
from openprogram.providers.retry import RetryPolicy
from openprogram.server.edge import Edge

QUICK: Final = "tests.support.quick"

if __name__ == "__main__":
    vars(demo)["COMMAND"] = (*demo.COMMAND, "--pace", "0")
    vars(serve)["Edge"] = partial(Edge, heartbeat_s=0.5)
    vars(compose)["build_provider"] = partial(build_provider, policy=RetryPolicy(first_s=0.01))
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-only
"""`python -m SimpleHTTPServer PORT`, as scripts from the time of Python 2 start a web server."""

import runpy
from http.server import *  # noqa: F403 (a name of Python 2 for a module)

if __name__ == "__main__":
    runpy.run_module("http.server", run_name="__main__", alter_sys=True)

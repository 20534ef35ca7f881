# SPDX-License-Identifier: GPL-2.0-only
"""Gives each student a notebook with cellbed on the class server. An example to be changed.

    /opt/cellbed/cellbed python -P -m jupyterhub -f /opt/cellbed/docs/jupyterhub_config.py

as root, on the server of docs/guides/classroom.md, with the package jupyterhub added to the
library's environment. Students log in with their names and passwords on the server
(PAM). The program configurable-http-proxy must be in the PATH, and STATE be a folder of root with
mode 700.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
STATE = "/var/lib/cellbed-hub"  # has the key of all cookies, by which anybody could be any student
c: Any = get_config()  # type: ignore[name-defined]  # noqa: F821  # JupyterHub defines it

# A TLS proxy in front of it, or c.JupyterHub.ssl_cert, belongs to a server that others can reach.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.cookie_secret_file = f"{STATE}/cookie_secret"
c.JupyterHub.db_url = f"sqlite:///{STATE}/jupyterhub.sqlite"
c.Authenticator.allow_all = True  # who has an account on the server
c.Authenticator.blocked_users = {"root"}
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.notebook_dir = "~"
c.Spawner.default_url = "/lab"
c.Spawner.environment = {
    "PYTHONPATH": str(PROJECT),
    "CELLBED_CACHE": os.environ["CELLBED_CACHE"],
}

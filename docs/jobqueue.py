# SPDX-License-Identifier: GPL-2.0-only
"""Lets Dask submit its workers to Slurm as jobs, each with one lab. An example to be changed.

    PYTHONPATH=. PYTHON docs/jobqueue.py JOBS [WALLTIME]

in the project's folder. PYTHON is `$environment/bin/python` of docs/cluster.md, with the package
dask-jobqueue added to it. The program prints the address for `./cellbed run --scheduler ADDRESS`,
keeps JOBS workers until Ctrl-C, and replaces those whose time is over.
"""

from __future__ import annotations

import signal
import sys

from dask_jobqueue import SLURMCluster  # type: ignore[import-not-found]

from harness.host.paths import PROJECT
from harness.runners import cluster_tls

MEMORY = "1500MB"  # of one lab: docs/cluster.md


def main(jobs: str, walltime: str = "01:00:00") -> None:
    """Serve until Ctrl-C."""
    cluster = SLURMCluster(
        cores=1,
        memory=MEMORY,
        walltime=walltime,
        python=sys.executable,
        protocol="tls://",
        security=cluster_tls.made(cluster_tls.default_file()),
        nanny=False,  # it would end a worker that starts labs
        job_script_prologue=[f"export PYTHONPATH='{PROJECT}'"],
        scheduler_options={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
    )
    cluster.adapt(minimum_jobs=int(jobs), maximum_jobs=int(jobs))
    print(f"./cellbed run EXPERIMENT --scheduler {cluster.scheduler_address}", flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        cluster.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: GPL-2.0-only
"""Runs real nginx with www_client or wrk, or real iperf3, on loopback; prints what came of it.

Arguments: www CLIENT DIRECTORY | wrk DIRECTORY | iperf 0 | iperf 1. Meant for a network namespace
of its own (conftest.isolated).
"""

import contextlib
import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from workload import iperf, nginx, ready, specweb, www
from workload.iperf import iperf3
from workload.wrk import wrk
from workload.www import www_client
from workload.www.schedule import schedule

PAIRS = 5
DEADLINE_S = 20


def wait_until(true):
    end = time.monotonic() + DEADLINE_S
    while not true():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.005)


@contextlib.contextmanager
def running(argv):
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=DEADLINE_S)


@contextlib.contextmanager
def servers(directory):
    """PAIRS servers on ports 8001 and up; yields them."""
    specweb.write(directory / "www")
    found = [
        nginx.Server(
            run_dir=directory / f"server{pair}", docroot=directory / "www", port=8000 + pair
        )
        for pair in range(1, PAIRS + 1)
    ]
    with contextlib.ExitStack() as stack:
        for server in found:
            nginx.write(server)
            stack.enter_context(running(nginx.argv(server)))
            wait_until(server.pid_path.exists)
        yield found


def run_www(client, directory):
    params = www.Parameters(duration_s=2.0, period_s=1.0, gap_min_ms=1.0, gap_max_ms=20.0)
    here = "/proc/self/ns/net"
    pairs = [
        www_client.Pair(
            pair=pair,
            client_netns=here,
            server_address="127.0.0.1",
            server_port=8000 + pair,
            server_netns=here,
        )
        for pair in range(1, PAIRS + 1)
    ]
    # Not in a share with the host, whose user owns all in it: nginx gives its folders away.
    with servers(Path("/tmp/servers")) as found:
        www_client.prepare(directory, params, pairs, schedule(params, 3, PAIRS))
        argv = www_client.argv(client, directory, params, lead_ns=10_000_000)
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, timeout=30, check=True)
        return {
            "stdout": done.stdout,
            "errors": [server.error_log_path.read_text() for server in found],
        }


def run_wrk(directory):
    params = wrk.Parameters(duration_s=1, paths=200)
    paths = directory / "paths"
    with servers(directory) as found:
        wrk.write_paths(paths, params, 1, 1)
        argv = wrk.argv(params, "127.0.0.1", found[0].port, paths)
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, timeout=30, check=True)
        return asdict(wrk.report(done.stdout))


def run_iperf(reverse):
    params = iperf.Parameters(duration_s=1, reverse=reverse)
    with running(iperf3.listen_argv(params)) as listener:
        wait_until(lambda: ready.is_listening(listener.pid, params.port))
        argv = iperf3.source_argv(params, "127.0.0.1")
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, timeout=30, check=False)
        status = listener.wait(timeout=DEADLINE_S)
    return {"listener": status, **asdict(iperf3.report(done.stdout))}


if __name__ == "__main__":
    what, *words = sys.argv[1:]
    if what == "www":
        print(json.dumps(run_www(Path(words[0]), Path(words[1]))))
    elif what == "wrk":
        print(json.dumps(run_wrk(Path(words[0]))))
    else:
        print(json.dumps(run_iperf(words[0] == "1")))

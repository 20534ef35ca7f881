# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a vm lab, as root: the native lab there, ended in every way, and what it leaves.

Usage: native_in_vm.py             the endings that /run/cellbed/endings names (success, shell,
                                   error, interrupt, kill); a line of JSON each in native.jsonl
       native_in_vm.py run ENDING  one lab (what the above starts)
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, "/cellbed")
RUN = Path("/run/cellbed")
COMMANDS = "c1 ping -c 1 s1\nsh tc qdisc show dev sw2-sat\nexit\n"


def run(ending: str) -> None:
    """One native lab; at its network's being built, end it as asked."""
    from harness.cli.commands.shell import feed
    from harness.labs import LabSpec
    from harness.labs.session import session
    from plan.plan import from_json

    document = json.loads((RUN / "plan.json").read_text())
    plan = from_json(document)
    spec = LabSpec(pairs=plan.topology.pairs, clock="real")
    with session("native", spec) as lab:
        lab.submit_network(plan.topology)
        if ending == "shell":
            lab.submit({"kind": "shell", "plan": document, "terminal": False})
            feed(lab, io.StringIO(COMMANDS), sys.stdout)
            return
        if ending == "success":
            lab.submit_trial("native", plan)
            lab.submit({"kind": "end"})
        try:
            for event in lab.events():
                print(event, flush=True)
                if event["event"] == "network":
                    end(ending, lab)
                if event["event"] == "trial-end":
                    results = lab.run_directory / "results" / "native"
                    for name in ("lab.json", "flows.csv"):
                        (RUN / name).write_bytes((results / name).read_bytes())
        finally:
            print(lab.console(), flush=True)


def end(ending: str, lab: Any) -> None:
    """Make the ending come about."""
    if ending == "error":
        lab.submit({"kind": "nonsense"})
    elif ending == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
    elif ending == "kill":
        os.kill(os.getpid(), signal.SIGKILL)


def traces() -> dict[str, list[str]]:
    """All that a lab could leave on a machine."""
    spaces = {os.readlink(p) for p in Path("/proc").glob("[0-9]*/ns/net")}
    programs = [p.name for p in Path("/proc").glob("[0-9]*") if (p / "exe").exists()]
    modules = [line.split()[0] for line in Path("/proc/modules").read_text().splitlines()]
    sysctls = [f"{p.name} {p.read_text()}" for p in Path("/proc/sys/net/ipv4").glob("tcp_*")]
    return {
        "network namespaces": sorted(spaces),
        "devices": sorted(os.listdir("/sys/class/net")),
        "mounts": Path("/proc/mounts").read_text().splitlines(),
        "processes": sorted(programs),
        "module": [name for name in modules if name == "cellbed_tcp"],
        "folders": sorted(os.listdir("/tmp")) + sorted(os.listdir("/run")),
        "pins": sorted(os.listdir("/sys/fs/bpf")),
        "sysctls": sorted(sysctls),
    }


def prepare() -> None:
    """What set-up would have made on a machine: here the disk and the share are it."""
    from harness.host import paths

    made = {"image": Path("/mnt"), "programs": Path("/opt/cellbed")}
    paths.places = lambda: made  # type: ignore[assignment]


def main() -> None:
    from harness.machine.clean import remove_leftovers

    for ending in (RUN / "endings").read_text().split():
        before = traces()
        argv = [sys.executable, "-B", __file__, "run", ending]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=100_000, check=False)
        left = remove_leftovers()
        after = traces()
        found = {
            "ending": ending,
            "status": done.returncode,
            "cleaned": left.removed,
            "stayed": left.stayed,
            "left": {k: sorted(set(after[k]) - set(before[k])) for k in after},
            "gone": {k: sorted(set(before[k]) - set(after[k])) for k in after},
            "said": (done.stdout + done.stderr)[-2000:],
        }
        with (RUN / "native.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    prepare()
    if sys.argv[1:2] == ["run"]:
        run(sys.argv[2])
    else:
        try:
            main()
        except BaseException as error:  # noqa: BLE001 (told to the test)
            (RUN / "native.error").write_text(repr(error))
            raise

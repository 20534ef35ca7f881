# SPDX-License-Identifier: GPL-2.0-only
"""Builds mm-link from mahimahi's source, without its live graphs.

mahimahi's own build also makes its web recorder, which needs Apache, Protocol Buffers and a window
system. mm-link needs none of them.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

HERE = Path(__file__).parent
FOLDERS = ("util", "packet", "frontend")
# packetshell.cc is a template: mm-link's own file includes it.
FILES = ("util/*.cc", "packet/*_packet_queue.cc", "frontend/link_queue.cc", "frontend/linkshell.cc")
PROGRAMS = {name: f"/usr/sbin/{name.lower()}" for name in ("IP", "IPTABLES", "DNSMASQ")}
FLAGS = ("-std=c++14", "-O2", "-w", "-pthread", "-static-libstdc++", "-static-libgcc")


def build(source: Path, folder: Path) -> Path:
    """Build mm-link into a folder; return the program.

    Raises:
        SystemExit: the compiler failed, with its words.
    """
    defined = (f'#define {name} "{path}"\n' for name, path in PROGRAMS.items())
    (folder / "config.h").write_text("".join(defined), encoding="ascii")
    program = folder / "mm-link"
    sources = sorted(str(found) for one in FILES for found in (source / "src").glob(one))
    includes = [f"-I{one}" for one in (HERE, folder, *(source / "src" / at for at in FOLDERS))]
    done = subprocess.run(
        ["g++", *FLAGS, *includes, *sources, "-lresolv", "-o", str(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"g++ did not build mm-link from {source}:\n{done.stderr}")
    return program

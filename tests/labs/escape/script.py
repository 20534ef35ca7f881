# SPDX-License-Identifier: GPL-2.0-only
"""A Mininet script, root in its lab, that tries to reach what is not its folder.

Arguments: the secret's path, and folders to look for it in. Says one line a way: "NAME open" or
"NAME shut".
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path("/tmp/here")


def does(*argv: str) -> bool:
    """Does a command succeed?"""
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def say(name: str, is_open: bool) -> None:
    print(name, "open" if is_open else "shut", flush=True)


def mounts_host(path: str) -> bool:
    return does("mount", "-n", "-t", "hostfs", "-o", f"hostfs={path}", "none", str(HERE))


def reads(path: Path) -> bool:
    try:
        return bool(path.read_text())
    except OSError:
        return False


def writes(path: Path) -> bool:
    try:
        path.write_text("from the lab")
    except OSError:
        return False
    return path.read_text() == "from the lab"


secret, folders = Path(sys.argv[1]), sys.argv[2:]
HERE.mkdir()
for folder in ["/", *folders]:
    seen = mounts_host(folder) and reads(HERE / secret.relative_to(folder))
    say(f"read:{folder}", seen)
    while does("umount", "-n", str(HERE)):
        pass
say("link", reads(Path("link")))
for name, place in (("checkout", "repo/harness"), ("image", "image/etc"), ("share", "theirs")):
    is_mounted = mounts_host(f"/proc/self/cwd/host/{place}")
    does("mount", "-n", "-o", "remount,rw", str(HERE))
    say(f"write:{name}", is_mounted and writes(HERE / "written-by-a-script"))
    does("umount", "-n", str(HERE))
say("remount:checkout", does("mount", "-n", "-o", "remount,rw", "/cellbed")
    and writes(Path("/cellbed/harness/written-by-a-script")))  # fmt: skip
say("module", does("insmod", "hostile_module.ko") or
    "Canceled" in subprocess.run(["insmod", "hostile_module.ko"], capture_output=True,
                                 text=True, check=False).stderr)  # fmt: skip
say("own:run", mounts_host("/proc/self/cwd/host/run/.") and reads(HERE / "events.jsonl"))
does("umount", "-n", str(HERE))
say("own:sudo", does("sudo", "-n", "true"))
say("own:folder", reads(Path("file")))

# SPDX-License-Identifier: GPL-2.0-only
"""What a lab lacked, in sentences with a remedy. On the host, from the notes of the lab."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from harness.host import paths
from harness.scripts import python2_errors

# Of request_module() in the kernel: what was asked for, by its name. What is in no line of this is
# asked for without need, as an address family by a program that can do without.
KERNEL = [
    (r"(?:net-sch-|sch_)(\S+)", "queue discipline {} (tc qdisc)"),
    (r"(?:net-cls-|cls_)(\S+)", "classifier {} (tc filter)"),
    (r"(?:net-act-|act_)(\S+)", "action {} (tc action)"),
    (r"rtnl-link-(?!ovs_)(\S+)", "network device of the type {} (ip link)"),
    (r"tcp_(\S+)", "congestion control {}"),
    (r"fs-(\S+)", "file system {}"),
    (r"bridge()", "Linux bridge (brctl)"),
    (r"8021q()", "VLAN device (vconfig)"),
    (r"net-pf-2-proto-132(?:-type-\d+)?()", "SCTP"),
    (r"(?:ip6?|x|eb|arp)t(?:able)?_(\S+)", "table, match or target {} (iptables)"),
    (r"(ip_tables|ip6_tables|ebtables|arp_tables)", "{} (iptables)"),
    (r"ip_set_?(\S*)", "set of addresses {} (ipset)"),
    (r"nfnetlink-subsys-10()", "nftables"),
]  # fmt: skip
MODULES = {"yaml": "yaml", "sklearn": "sklearn", "cv2": "opencv", "PIL": "pil", "bs4": "bs4",
           "paho": "paho-mqtt", "dateutil": "dateutil", "pylab": "matplotlib"}  # fmt: skip
# Where the name for pip is another one than the module's.
PIP = {"yaml": "pyyaml", "sklearn": "scikit-learn", "cv2": "opencv-python-headless",
       "PIL": "pillow", "bs4": "beautifulsoup4", "paho": "paho-mqtt",
       "dateutil": "python-dateutil", "pylab": "matplotlib"}  # fmt: skip
REMOVED = {"imp": "zombie-imp"}  # from Python 3.12; the package of Python's index that has a copy
# So repositories call files and folders of their own. A package of this name is another thing.
OF_REPOSITORIES = ("common", "conf", "config", "constants", "helper", "helpers", "lib", "model",
                   "models", "src", "topo", "topology", "util", "utils")  # fmt: skip
OF_MININET = ("netplan",)  # which its NAT tries, and which says nothing where it is not there
OLD = re.compile(r"python2(\.\d)?")
SERVICES = ("systemctl", "service", "initctl")
# What adds packages from the Internet, and the option that does so before the lab begins.
INSTALLERS = {"apt": "--package", "apt-get": "--package", "pip": "--pip", "pip3": "--pip"}
WINDOWS = ("xterm", "gnome-terminal", "wireshark", "firefox", "xhost", "chromium", "vlc")


def sentences(missed: Sequence[Sequence[str]]) -> list[str]:
    """One for each thing that was not there.

    Args:
        missed: kind, name and command, as lab.py tells.
    """
    found = [sentence for kind, name, command in missed if (sentence := tell(kind, name, command))]
    found += without_folder(missed)
    # A script may write what it likes into the notes, and this goes to a terminal.
    return [sentence for sentence in dict.fromkeys(found) if sentence.isprintable()]


def tell(kind: str, name: str, command: str) -> str:
    """The sentence of one note; nothing where it does no harm."""
    match kind:
        case "command":
            return "" if name in OF_MININET else no_command(name)
        case "program":
            return no_program(name)
        case "python":
            return no_module(name)
        case "sysctl":
            return no_sysctl(name.replace("/", "."))
        case "module":
            return f"{name}: the lab's kernel has no such module"
        case "refused":
            return f"{shorten(command)}: the lab answered {name!r}" if command else ""
        case "kernel":
            return no_part(name)
        case "error":
            return f"Mininet reported an error: {shorten(name)}"
        case "iperf":
            takes = f"iperf {name[:2]} takes a number of seconds, without a unit"
            return f"iperf {name}: iperf refused this and did not run; {takes}"
        case "switch":
            return no_switch(name, command.split())
        case "silent":
            return f"{shorten(command)}: this command said nothing and ended with status {name}"
        case "mininet":
            instead = f"; in Mininet 2 it is {command}" if command else ""
            return f"{name}(): the script was written for Mininet 1, and the lab has 2.3{instead}"
        case "controller":
            return f"the controller of --beside had the address {name}, which the script names"
    return ""


def without_folder(missed: Sequence[Sequence[str]]) -> list[str]:
    """One sentence for each folder whose lack kept the shell from running commands."""
    commands: dict[str, dict[str, None]] = {}
    for kind, name, command in missed:
        if kind == "unwritten":
            commands.setdefault(os.path.dirname(name), {})[command] = None  # noqa: PTH120 (text)
    return [
        f"{shorten(next(iter(those)))}: not run, because the folder {folder} does not exist"
        + (f"; so it is with {len(those) - 1} more of the commands" if len(those) > 1 else "")
        for folder, those in commands.items()
    ]


def no_module(name: str) -> str:
    """Which option brings a module."""
    begin = f"{name}: the image has no such Python module"
    top = name.partition(".")[0]
    if top == "mininet":
        return f"{begin}; it has Mininet 2.3.0"
    if top.lower() == "tkinter":  # the capital is Python 2's
        return f"{begin}; it opens windows, and a program in the lab cannot open a window"
    if name in python2_errors.MODULES:
        return f"{begin}, because this module is of Python 2; try --python2"
    if top in REMOVED:
        copy = f"try --pip {REMOVED[top]}, which has a copy"
        return f"{begin}, because Python 3.12 took it out; {copy}"
    if top in OF_REPOSITORIES:
        return (
            f"{begin}, and no {top}.py lies beside the script; by its name, {top} is a file or a "
            "folder of the script's own repository"
        )
    package = MODULES.get(top, top.lower().replace("_", "-"))
    return (
        f"{begin}, and no {top}.py lies beside the script; try --package python3-{package} or, if "
        f"Debian has no such package, --pip {PIP.get(top, top)}"
    )


def no_command(name: str) -> str:
    """Which option brings a command."""
    begin = f"{name}: the image has no such command"
    if OLD.fullmatch(name):
        return f"{begin}; try --python2"
    if name in SERVICES:
        return f"{begin}, because the lab starts no services; start the service's own program"
    if name in INSTALLERS:
        option = INSTALLERS[name]
        return f"{begin}, and the lab has no Internet access; {option} NAME adds a package"
    if name in WINDOWS:
        return f"{begin}, because a program in the lab cannot open a window"
    if package := packages().get(name):
        return f"{begin}; try --package {package}"
    return f"{begin}; --package NAME adds the package of Debian that has it"


def known(name: str) -> bool:
    """Is this certainly a command, and no file of the script's?"""
    return name in packages() or name in SERVICES or name in WINDOWS


def no_program(path: str) -> str:
    """A program that is named with its folder."""
    name = Path(path).name
    begin = f"{path}: the lab has no such program"
    if place := in_image(name):
        return f"{begin}; the image has it as {place}"
    if package := packages().get(name):
        return f"{begin}; --package {package} adds {name}, in a folder of Debian's"
    return f"{begin}; it has the script's folder and Debian's packages"


def no_switch(said: str, names: Sequence[str]) -> str:
    """Why ovs-vsctl, which makes some switches with one command, failed."""
    few = [*names[:3], "others"] if len(names) > 3 else names
    listed = " and ".join(filter(None, [", ".join(few[:-1]), few[-1]]))
    which = f"switches {listed} are" if len(names) > 1 else f"switch {listed} is"
    return f"the {which} not as the script asked: {said}"


def no_sysctl(name: str) -> str:
    """A setting of the kernel that is not there; to turn off what is absent is no loss."""
    if name.endswith("disable_ipv6") or name.startswith("net.bridge.bridge-nf-call-"):
        return ""
    return f"{name}: the lab's kernel has no such setting (sysctl)"


def no_part(asked: str) -> str:
    """What the kernel was asked for and has not."""
    for pattern, words in KERNEL:
        if found := re.fullmatch(pattern, asked):
            return f"the lab's kernel has no {words.format(found[1])}"
    return ""


def shorten(command: str) -> str:
    """A command that fits into a sentence."""
    return command if len(command) <= 80 else f"{command[:77]}..."


@cache
def packages() -> dict[str, str]:
    """The package of Debian 13 that has a command, as far as we know."""
    table = paths.PROJECT / "lab" / "mininet" / "commands.toml"
    return tomllib.loads(table.read_text()) if table.exists() else {}


def in_image(name: str) -> str:
    """Where the image has a program of this name, if it does."""
    image = paths.places()["mininet"]
    places = (f"usr/{folder}/{name}" for folder in ("sbin", "bin"))
    return next((f"/{place}" for place in places if os.path.lexists(image / place)), "")

# SPDX-License-Identifier: GPL-2.0-only
"""Selftests that share a lab: none finds a trace of another, and none costs another its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from harness.scripts import products
from harness.selftests.choice import TOP
from harness.selftests.lab import Work, run
from harness.selftests.products import tools
from tests.labs.test_selftests import FOLDER, KILL_INIT

pytestmark = pytest.mark.lab

RUNNER = '#!/bin/bash\nexec "$1"\n'
CONNECT = """python3 -IS -c '
import socket
with socket.create_server(("127.0.0.1", 9)) as server:
    socket.create_connection(server.getsockname()).close()
    server.accept()[0].close()
'"""
# In its namespaces and in its folders a script may do anything.
LEAVES = f"""#!/bin/bash
set -e
{CONNECT}
ip tcp_metrics show | grep -q 127.0.0.1
sysctl -q net.ipv4.tcp_ecn=2 net.ipv4.tcp_fastopen_key=a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4
ip link add d0 type dummy && ip link set d0 up && ip addr add 10.9.0.1/24 dev d0
hostname other && ipcmk -Q
echo more > more && echo more > /tmp/more
mkdir /tmp/place && mount -t tmpfs place /tmp/place && mount -t tmpfs place /opt
setsid sleep 100000 &
"""
FINDS = rf"""#!/bin/bash
sysctl -n net.ipv4.tcp_ecn net.ipv4.tcp_fastopen_key
ip -o link; ip -4 route show table all; ip tcp_metrics show; hostname; ipcs -q
ls . /tmp /opt; findmnt -n -o TARGET,FSTYPE | grep -Fv /run/; cat /proc/modules
{CONNECT}
ip tcp_metrics show | grep -o 127.0.0.1
ps -eo args --sort=pid | grep -v ' ps \|ps -eo'
"""
# Both programs are asked the same: their words, their status, and the value that they leave.
SYSCTL = r"""#!/bin/bash
ask() {
	for program in sysctl /usr/sbin/sysctl; do
		echo 0 > /proc/sys/net/ipv4/tcp_ecn
		echo "$("$program" "$@" 2>&1 | sed "s,^[^ ]*sysctl: ,,"; echo "${PIPESTATUS[0]}")"
		cat /proc/sys/net/ipv4/tcp_ecn /proc/sys/net/ipv4/tcp_rmem
	done | { read -r -d "" both; half=$((${#both} / 2)); echo "$*: ${both:0:half}"
		[ "${both:0:half}" = "${both:half+1}" ] || echo "differs: $both"; }
}
[ "$(command -v sysctl)" = /run/bin/sysctl ] || echo "differs: another program"
ask -q net.ipv4.tcp_ecn=2
ask -q net.ipv4.tcp_ecn=1 "net.ipv4.tcp_rmem=4096 540000 15728640"
ask net.ipv4.tcp_ecn=2
ask -q net/ipv4/tcp_ecn=2
ask -q net.ipv4.tcp_ecn = 2
ask -q net.ipv4.tcp_ecn=nine
ask -q net.ipv4.tcp_ecn=2 net.ipv4.more=1
ask -q net.ipv4.tcp_ecn=2 --dry-run
ask -q net.ipv4.tcp_ecn=2 --pattern ^nothing
ask -q net..ipv4..tcp_ecn=2
ask -q .net.ipv4.tcp_ecn=2
ask -q net.ipv4.tcp_ecn
ask -n net.ipv4.tcp_ecn
ask -q
"""
Works = Callable[[Mapping[str, str]], list[Work]]
SPIN = "#!/bin/sh\nwhile :; do :; done\n"
PANIC = KILL_INIT.replace("/proc/1/", "/mnt/proc/1/")  # of the lab, not of the namespace


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> Works:
    """What makes tests of texts: they have one tree, and the limits are low."""

    def of(texts: Mapping[str, str]) -> list[Work]:
        tree = tmp_path_factory.mktemp("tree")
        place = tree / TOP / FOLDER
        place.mkdir(parents=True)
        for name, text in {"ksft_runner.sh": RUNNER, **texts}.items():
            (place / name).write_text(text)
            (place / name).chmod(0o755)
        common = Work(
            folder=FOLDER, test="", limit_s=2, clock="virtual", seed=1, image=products.image()[1],
            kernel=products.kernel(), words=products.WORDS, tests=tree, tools=tools(),
            packetdrill=None, limit_cpu_s=8,
        )  # fmt: skip
        return [replace(common, test=name) for name in texts]

    return of


def test_a_script_finds_nothing_of_another(works: Works) -> None:
    leaves, finds = works({"leaves.pkt": LEAVES, "finds.pkt": FINDS})
    first, second = run([leaves, finds])
    assert (first.verdict, first.tests_in_lab) == ("pass", 2), first
    fresh, _ = run([finds, leaves])
    assert "net.ipv4" not in second.output and "127.0.0.1" in second.output
    assert second.output == fresh.output


def test_the_small_sysctl_does_what_the_real_one_does(works: Works) -> None:
    (found,) = run(works({"a.pkt": SYSCTL}))
    assert found.verdict == "pass" and "differs" not in found.output, found.output
    assert "-q net.ipv4.tcp_ecn=2: 0\n2\n" in found.output


@pytest.mark.parametrize(
    "trace",
    [
        "sysctl -q vm.swappiness=7",
        "sysctl -q -w fs.aio-max-nr=1234",
        "echo 0 > /sys/module/tcp_cubic/parameters/hystart",
        "echo 512 > /proc/sys/kernel/tainted",
        "touch /etc/more",
        "ip netns add more",
        "date -s '2027-01-01' > /dev/null",
        "mkdir /sys/fs/bpf/more",
    ],
)
def test_what_no_namespace_holds_ends_the_lab(works: Works, trace: str) -> None:
    found = run(works({"a.pkt": f"#!/bin/sh\n{trace}\n", "b.pkt": "#!/bin/sh\n"}))
    assert len(found) == 1
    assert found[0].status == 0 and found[0].tests_in_lab == 1, found


@pytest.mark.parametrize(
    ("script", "why", "left"),
    [
        ("#!/bin/sh\nexec sleep 100000\n", "it reached its limit", 0),
        (SPIN, "it has used ", 1),
        (PANIC, "Kernel panic - not syncing: Attempted to kill init!", 1),
    ],
)
def test_a_script_that_ends_badly_costs_no_other(
    works: Works, script: str, why: str, left: int
) -> None:
    """After a limit by the lab's clock, the same lab runs the rest."""
    good = "#!/bin/sh\necho good\n"
    asked = works({"a.pkt": good, "b.pkt": script, "c.pkt": good})
    found = run(asked)
    assert [one.verdict for one in found] == ["pass", "fail", "pass"][: 3 - left]
    assert found[1].why.startswith(why), found[1]
    assert {one.output for one in found if one.verdict == "pass"} == {"good\n"}

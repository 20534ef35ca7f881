# SPDX-License-Identifier: GPL-2.0-only
"""A Mininet script that uses what scripts use of a kernel; prints what came of each, as JSON.

h1 -- r -- h2, and a second link from h1 to h2.
"""

import json
import subprocess
import sys
import time
import traceback
from pathlib import Path

from mininet.net import Mininet
from mininet.node import CPULimitedHost
from mininet.nodelib import LinuxBridge


def ping(node, *words):
    return node.cmd("ping -c 1 -W 1", *words).count(" 1 received")


def nat(net):
    """Nobody but the router knows a way back to h1."""
    h1, r, h2 = net.get("h1", "r", "h2")
    before = ping(h1, "20.0.0.2")
    r.cmd("iptables -t nat -A POSTROUTING -o r-eth1 -j MASQUERADE")
    after = ping(h1, "20.0.0.2")
    r.cmd("iptables -t nat -F")
    r.cmd("iptables-legacy -t nat -A POSTROUTING -o r-eth1 -j MASQUERADE")
    return before, after, ping(h1, "20.0.0.2")


def nftables(net):
    h1 = net.get("h1")
    h1.cmd("nft add table inet t")
    h1.cmd("nft add chain inet t out '{ type filter hook output priority 0 ; }'")
    h1.cmd("nft add rule inet t out ip daddr 10.0.0.254 icmp type echo-request counter drop")
    lost = ping(h1, "10.0.0.254")
    counted = h1.cmd("nft list chain inet t out").count("packets 1 bytes 84 drop")
    h1.cmd("nft delete table inet t")
    return lost, counted, ping(h1, "10.0.0.254")


def bridge(net):
    """The spanning tree's ports; a rule on ARP of the bridge, and of a host; hosts in VLANs."""
    net = Mininet(controller=None)
    s1 = net.addSwitch("s1", cls=LinuxBridge, stp=True)
    b1, b2, b3 = (net.addHost(f"b{number}", ip=f"70.0.0.{number}/24") for number in (1, 2, 3))
    for host in net.hosts:
        net.addLink(host, s1)
    net.start()
    begun = time.monotonic()  # the tree takes 30 s
    while (stp := s1.cmd("brctl showstp s1").count("forwarding")) < 3:
        if time.monotonic() > begun + 40:
            break
        time.sleep(1)
    before = ping(b1, "70.0.0.2")
    s1.cmd("ebtables -A FORWARD -p ARP -j DROP")
    b1.cmd("arptables -A INPUT -s 70.0.0.9 -j DROP; ip neigh flush all")
    rules = s1.cmd("ebtables -L").count("-p ARP -j DROP"), b1.cmd("arptables -L").count("-j DROP")
    dropped = ping(b1, "70.0.0.2")
    s1.cmd("ebtables -F")
    return stp, before, *rules, dropped, *vlans(s1, b1, b2, b3)


def vlans(s1, b1, b2, b3):
    """Two of three hosts are in one VLAN, by devices of their own; the bridge keeps them apart."""
    for node, vlan in ((b1, 10), (b2, 10), (b3, 20)):
        name = f"{node.name}.{vlan}"
        node.cmd(f"ip link add link {node.name}-eth0 name {name} type vlan id {vlan}")
        node.cmd(f"ip addr add 30.0.0.{node.name[1]}/24 dev {name}; ip link set {name} up")
        s1.cmd(f"bridge vlan add dev s1-eth{node.name[1]} vid 10")
    s1.cmd("ip link set s1 type bridge vlan_filtering 1")
    return ping(b1, "30.0.0.2"), ping(b1, "30.0.0.3")


def ipv6(net):
    h1, r, h2 = net.get("h1", "r", "h2")
    r.cmd("sysctl -w net.ipv6.conf.all.forwarding=1")
    for node, device, network, number in (
        (h1, "h1-eth0", 1, 1), (r, "r-eth0", 1, 254), (r, "r-eth1", 2, 254), (h2, "h2-eth0", 2, 2),
    ):  # fmt: skip
        node.cmd(f"ip -6 addr add fd00:{network}::{number}/64 dev {device} nodad")
    h1.cmd("ip -6 route add fd00:2::/64 via fd00:1::254")
    before = ping(h1, "-6 fd00:2::2")
    h2.cmd("ip -6 route add default via fd00:2::254")
    return before, ping(h1, "-6 fd00:2::2")


def tunnels(net):
    """From h1 to h2, in the second link."""
    said = []
    for number, (kind, more) in enumerate({
        "vxlan": "id 5 dstport 4789", "gre": "", "gretap": "", "ipip": "",
    }.items()):  # fmt: skip
        for node, own, other in ((net.get("h1"), 1, 2), (net.get("h2"), 2, 1)):
            node.cmd(
                f"ip link add t{number} type {kind} {more} local 40.0.0.{own} remote 40.0.0.{other}"
                f"; ip addr add 50.0.{number}.{own}/24 dev t{number}; ip link set t{number} up"
            )
        said.append(ping(net.get("h1"), f"50.0.{number}.2"))
    return said


def filters(net):
    """Pings of 1000 bytes go to the second class, with stochastic fairness."""
    h1 = net.get("h1")
    h1.cmd("tc qdisc add dev h1-eth1 root handle 1: htb default 1")
    for number in (1, 2):
        h1.cmd(f"tc class add dev h1-eth1 parent 1: classid 1:{number} htb rate 10mbit")
        h1.cmd(f"tc qdisc add dev h1-eth1 parent 1:{number} handle {number}0: sfq perturb 10")
    match = "match ip protocol 1 0xff match u16 1028 0xffff at 2"
    h1.cmd(f"tc filter add dev h1-eth1 parent 1: protocol ip prio 1 u32 {match} flowid 1:2")
    ping(h1, "-s 1000 40.0.0.2")
    said = h1.cmd("tc -s qdisc show dev h1-eth1")
    h1.cmd("tc qdisc del dev h1-eth1 root")
    return said.count("qdisc sfq"), said.partition("qdisc sfq 20:")[2].count(
        "Sent 1042 bytes 1 pkt"
    )


def queues(net):
    """Those that nobody uses here begin and end."""
    h1 = net.get("h1")
    kinds = ("hfsc", "drr", "choke limit 100 bandwidth 10mbit", "sfb", "hhf", "ets bands 2", "qfq")
    adds = (f"tc qdisc add dev h1-eth1 root {kind}" for kind in kinds)
    return [add for add in adds if h1.cmd(f"{add} || echo failed; tc qdisc del dev h1-eth1 root")]


def policy(net):
    """Marked packets go by the second link."""
    h1 = net.get("h1")
    h1.cmd("iptables -t mangle -A OUTPUT -p tcp --dport 5000 -j MARK --set-mark 7")
    h1.cmd("ip rule add fwmark 7 table 70; ip route add default dev h1-eth1 table 70")
    h1.cmd("iptables -t mangle -A POSTROUTING -o h1-eth1 -p tcp --dport 5000")
    h1.cmd("nc -w 1 -z 20.0.0.2 5000; nc -w 1 -z 20.0.0.2 5001")
    return int(h1.cmd("iptables -t mangle -L POSTROUTING -v -x -n").split("\n")[2].split()[0]) > 0


def limited(net):
    h9 = CPULimitedHost("h9", cpu=0.5)
    h9.configDefault(cpu=0.5, cores=1)
    group = "/sys/fs/cgroup/cpu/h9"
    within = [
        str(h9.pid) in Path(f"/sys/fs/cgroup/{kind}/h9/tasks").read_text().split()
        for kind in ("cpu", "cpuset")
    ]
    return int(Path(f"{group}/cpu.cfs_quota_us").read_text()), *within, h9.popen("true").wait()


def trace(net):
    """tcp_probe says each segment of a transfer, in microseconds."""
    h1, h2 = net.get("h1", "h2")
    events = Path("/sys/kernel/debug/tracing")
    (events / "events/tcp/tcp_probe/enable").write_text("1")
    h2.cmd("nc -l 5002 > /dev/null &")
    h1.cmd("sleep .1; head -c 100000 /dev/zero | nc -N 40.0.0.2 5002")
    said = (events / "trace").read_text().splitlines()
    lines = [line for line in said if "tcp_probe: " in line]
    times = [line.split(": ")[0].split()[-1] for line in lines]
    windows = {word for line in lines for word in line.split() if word.startswith("snd_cwnd=")}
    apart = len({time[-4:] for time in times}) > 5  # by less than a tick of the kernel
    return len(lines) > 9, "snd_cwnd=10" in windows, apart


PEER = """
import socket, sys
IPPROTO_MPTCP = 262
socket.setdefaulttimeout(5)
here = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
if sys.argv[1:]:
    here.connect((sys.argv[1], 5003))
    for _ in range(5):
        here.sendall(b"x" * 1000)
        here.recv(1000)
else:
    here.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    here.bind(("", 5003))
    here.listen()
    print("ready", flush=True)
    peer, _ = here.accept()
    while data := peer.recv(1000):
        peer.sendall(data)
"""


def mptcp(net):
    """A connection over both links: the second joins it."""
    h1, h2 = net.get("h1", "h2")
    Path("peer.py").write_text(PEER)
    for node in (h1, h2):
        node.cmd("ip mptcp limits set subflow 2 add_addr_accepted 2")
    h1.cmd("ip mptcp endpoint add 40.0.0.1 dev h1-eth1 subflow")
    h2.cmd("ip route add 10.0.0.0/24 via 20.0.0.254")
    server = h2.popen("python3 peer.py")
    server.stdout.readline()
    h1.cmd("python3 peer.py 20.0.0.2")
    server.wait()
    joined = h2.cmd("nstat -asz MPTcpExtMPJoinAckRx").split()
    return float(joined[joined.index("MPTcpExtMPJoinAckRx") + 1])


TUN = """
import fcntl, os, struct, subprocess
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH", b"tun5", 0x1001))
subprocess.run("ip addr add 60.0.0.1/24 dev tun5; ip link set tun5 up", shell=True, check=True)
ping = subprocess.Popen("ping -c 1 -W 1 60.0.0.2".split(), stdout=subprocess.PIPE, text=True)
while (packet := bytearray(os.read(tun, 2000)))[9] != 1:
    pass
packet[12:16], packet[16:20] = packet[16:20], packet[12:16]
packet[20] = 0
check = int.from_bytes(packet[22:24], "big") + 0x800
packet[22:24] = ((check & 0xFFFF) + (check >> 16)).to_bytes(2, "big")
os.write(tun, packet)
print(ping.communicate()[0])
"""


def tun(net):
    """A program answers the ping."""
    Path("tun.py").write_text(TUN)
    return net.get("h1").cmd("python3 tun.py").count(" 1 received")


def congestion(net):
    """Each of Debian's, for a socket of a host."""
    names = (
        "bic cdg dctcp highspeed htcp illinois lp nv scalable vegas veno westwood yeah bbr hybla"
    )
    ask = "import socket, sys; s = socket.socket(); [s.setsockopt(6, 13, x.encode()) or print("
    ask += "s.getsockopt(6, 13, 16).decode().strip(chr(0))) for x in sys.argv[1:]]"
    return net.get("h1").cmd(f"python3 -c '{ask}' {names}").split() == names.split()


def modules(net):
    """modprobe succeeds silently, and makes the devices that it makes elsewhere."""
    h1 = net.get("h1")
    names = "8021q bonding sch_netem tcp_bbr ip_gre mpls_router nf_conntrack"
    failed = [name for name in names.split() if h1.cmd(f"modprobe {name} || echo failed")]
    h1.cmd("modprobe ifb; modprobe dummy numdummies=1")
    devices = h1.cmd("ls /sys/class/net").split()
    absent = [name for name in ("ifb0", "ifb1", "dummy0") if name not in devices]
    return failed, absent, h1.cmd("modprobe no_such").count("not found")


def ipc(net):
    h1 = net.get("h1")
    queue = "import multiprocessing as m; q = m.Queue(); q.put(5); print(q.get())"
    return len(h1.cmd("ipcmk -M 100").split()), h1.cmd(f"python3 -c '{queue}'").strip()


def tcpprobe(net):
    """As the module of old kernels: a line for each segment, of one port alone."""
    h1, h2 = net.get("h1", "h2")
    subprocess.run(["modprobe", "tcp_probe", "port=5004", "full=1"], check=True)
    with (
        Path("probed").open("w") as file,
        subprocess.Popen(["cat", "/proc/net/tcpprobe"], stdout=file) as cat,
    ):
        for port in (5004, 5005):
            h2.cmd(f"nc -l {port} > /dev/null &")
            h1.cmd(f"sleep .1; head -c 100000 /dev/zero | nc -N 40.0.0.2 {port}")
        cat.terminate()
    rows = [line.split() for line in Path("probed").read_text().splitlines()]
    return (
        len(rows) > 9,
        {len(row) for row in rows} == {11},
        [row for row in rows if "40.0.0.2:5004" not in row[1:3] or int(row[6]) < 10],
    )


FEATURES = (
    nat, nftables, bridge, ipv6, tunnels, filters, queues, policy, limited,
    trace, tcpprobe, mptcp, tun, congestion, modules, ipc,
)  # fmt: skip


def network():
    net = Mininet(controller=None)
    h1, r, h2 = (
        net.addHost(name, ip=ip)
        for name, ip in (("h1", "10.0.0.1/24"), ("r", "10.0.0.254/24"), ("h2", "20.0.0.2/24"))
    )
    net.addLink(h1, r)
    net.addLink(r, h2, params1={"ip": "20.0.0.254/24"})
    net.addLink(h1, h2, params1={"ip": "40.0.0.1/24"}, params2={"ip": "40.0.0.2/24"})
    net.start()
    h1.cmd("ip route add default via 10.0.0.254")
    r.cmd("sysctl -w net.ipv4.ip_forward=1")
    return net


def main():
    net = network()
    for feature in FEATURES:
        try:
            result = feature(net)
        except (Exception, SystemExit) as error:  # LinuxBridge exits where there are no bridges
            traceback.print_exc()
            result = repr(error)
        print(json.dumps([feature.__name__, result]))
        sys.stdout.flush()


main()

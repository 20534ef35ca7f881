# SPDX-License-Identifier: GPL-2.0-only
"""Public Mininet scripts in a lab: controllers beside them, what the lab lacks, and Python 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.labs.test_scripts import cellbed, without_silence, write

pytestmark = pytest.mark.lab

REMOTE = """
from mininet.net import Mininet
from mininet.node import RemoteController
from mininet.topo import LinearTopo

net = Mininet(topo=LinearTopo(2), controller=RemoteController)
net.start()
net.waitConnected(timeout=8)
print("lost", net.pingAll())
net.stop()
"""
APPLICATION = """
from ryu.app import simple_switch_13
from ryu.base import app_manager
from ryu.controller import ofp_event
from ryu.controller.handler import MAIN_DISPATCHER, set_ev_cls

assert issubclass(simple_switch_13.SimpleSwitch13, app_manager.RyuApp)

class Noted(simple_switch_13.SimpleSwitch13):
    @set_ev_cls(ofp_event.EventOFPStateChange, MAIN_DISPATCHER)
    def connected(self, event):
        print("switch", event.datapath.id)
"""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("ryu-manager app.py", "[ryu-manager] switch 2\n"),
        ("ryu-manager ryu.app.simple_switch", "[ryu-manager] loading app ryu.app.simple_switch\n"),
        ("ovs-controller ptcp:6633", ""),
    ],
)
def test_a_controller_listens_before_the_script_begins(
    tmp_path: Path, command: str, said: str
) -> None:
    write(tmp_path, {"remote.py": REMOTE, "app.py": APPLICATION})
    done = cellbed(tmp_path, "mininet", "--beside", command, "remote.py")
    assert (done.returncode, done.stdout) == (0, "lost 0.0\n"), done.stderr
    assert said in done.stderr
    assert "cellbed: " not in without_silence(done.stderr)


ASKS_AT_ONCE = """
from ryu.app import simple_switch_13
from ryu.controller import ofp_event
from ryu.controller.handler import MAIN_DISPATCHER, set_ev_cls
from ryu.topology.api import get_switch

class Asking(simple_switch_13.SimpleSwitch13):
    @set_ev_cls(ofp_event.EventOFPStateChange, MAIN_DISPATCHER)
    def connected(self, event):
        print("answer", type(get_switch(self)))
"""


def test_ryu_starts_the_application_that_an_api_asks(tmp_path: Path) -> None:
    """Its handler would wait for ever, and the switches with it."""
    write(tmp_path, {"remote.py": REMOTE, "app.py": ASKS_AT_ONCE})
    done = cellbed(tmp_path, "mininet", "--beside", "ryu-manager app.py", "remote.py")
    assert (done.returncode, done.stdout) == (0, "lost 0.0\n"), done.stderr
    assert "[ryu-manager] answer <class 'list'>\n" in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        'print "switch", long(2)',
        'print("switch %d" % min({2: 0}.iterkeys()))',  # which Python 3 can read
    ],
)
def test_ryu_takes_an_application_of_python_2(tmp_path: Path, line: str) -> None:
    old = APPLICATION.replace('print("switch", event.datapath.id)', line)
    files = {"remote.py": REMOTE, "app.py": f"import own\n{old}", "own.py": 'print "own", 7 / 2'}
    write(tmp_path, files)
    done = cellbed(tmp_path, "mininet", "--python2", "--beside", "ryu-manager app.py", "remote.py")
    assert done.returncode == 0, done.stderr
    assert "[ryu-manager] own 3\n" in done.stderr
    assert "[ryu-manager] switch 2\n" in done.stderr


def test_who_waits_for_a_controller_that_nobody_started_is_told_how(tmp_path: Path) -> None:
    write(tmp_path, {"remote.py": REMOTE})
    done = cellbed(tmp_path, "mininet", "remote.py")
    assert (done.returncode, done.stdout) == (0, "lost 100.0\n"), done.stderr
    assert done.stderr.count("for a controller at 127.0.0.1:6653, and nothing listens there") == 1
    assert "--beside 'ryu-manager app.py'" in done.stderr


def test_a_controller_that_ends_is_told_and_the_script_does_not_begin(tmp_path: Path) -> None:
    write(tmp_path, {"script.py": "print('it ran')"})
    done = cellbed(tmp_path, "mininet", "--beside", "echo why; exit 3", "script.py")
    assert (done.returncode, done.stdout) == (4, ""), done.stderr
    assert without_silence(done.stderr).splitlines() == [
        "[exit] why",
        "cellbed: --beside 'echo why; exit 3' ended with status 3 before it listened at a port, "
        "and the script did not begin",
    ]


DIES = """
import socket, sys

with socket.create_server(("127.0.0.1", 9000)) as server:
    server.accept()
    sys.exit("no more")
"""
CALLS = """
import socket, time

socket.create_connection(("127.0.0.1", 9000))
time.sleep(1)
print("it ran to its end")
"""


def test_a_controller_that_fails_while_the_script_runs_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"dies.py": DIES, "calls.py": CALLS})
    done = cellbed(tmp_path, "mininet", "--beside", "python3 dies.py", "calls.py")
    assert (done.returncode, done.stdout) == (0, "it ran to its end\n"), done.stderr
    assert without_silence(done.stderr).splitlines() == [
        "[dies.py] no more",
        "cellbed: dies.py ended with status 1; the script goes on",
    ]


ELSEWHERE = REMOTE.replace(
    "controller=RemoteController",
    'controller=lambda name: RemoteController(name, ip="192.0.2.7", port=6633)',
)


def test_a_controller_beside_has_the_address_that_the_script_names(tmp_path: Path) -> None:
    write(tmp_path, {"remote.py": ELSEWHERE})
    command = ("mininet", "--beside", "ovs-testcontroller ptcp:6633", "remote.py")
    done = cellbed(tmp_path, *command)
    assert (done.returncode, done.stdout) == (0, "lost 0.0\n"), done.stderr
    assert "the controller of --beside had the address 192.0.2.7" in done.stderr


WEB = """
import json
from ryu.app import simple_switch_13
from ryu.app.wsgi import ControllerBase, Response, WSGIApplication, route

class Switch(simple_switch_13.SimpleSwitch13):
    _CONTEXTS = {"wsgi": WSGIApplication}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        kwargs["wsgi"].register(Table, {"switch": self})

class Table(ControllerBase):
    @route("table", "/table/{dpid}", methods=["GET"], requirements={"dpid": "[0-9]+"})
    def show(self, request, dpid, **words):
        table = self.data["switch"].mac_to_port.get(int(dpid), {})
        return Response(content_type="application/json", text=json.dumps(sorted(table.values())))
"""
ASKS = """
import json, subprocess, time
from mininet.net import Mininet
from mininet.node import RemoteController
from mininet.topo import LinearTopo

def ask(path, *more):
    argv = ["curl", "-s", "-w", "%{http_code}", f"localhost:8080/{path}", *more]
    answer = subprocess.run(argv, capture_output=True, text=True).stdout
    return int(answer[-3:]), json.loads(answer[:-3]) if answer[:1] in ("[", "{") else None

net = Mininet(topo=LinearTopo(2), controller=RemoteController)
net.start()
net.waitConnected(timeout=8)
print("lost", net.pingAll())
status, switches = ask("stats/switches")
links = ask("v1.0/topology/links")[1]
print(ask("table/1"), ask("table/x")[0], status, sorted(switches), len(links))
drop = {"dpid": 1, "priority": 7, "match": {"in_port": 1}, "actions": []}
print(ask("stats/flowentry/add", "-d", json.dumps(drop)))
print(ask("stats/flowentry/add", "-d", str(drop | {"priority": 8})))  # as Python writes it
print(ask("stats/flowentry/add", "-d", "neither"))
print(sorted(flow["priority"] for flow in ask("stats/flow/1")[1]["1"] if not flow["actions"]))
time.sleep(1)  # of virtual time: the switch renews its flows after the controller's answer
print("lost", net.pingAll())
net.stop()
"""


def test_the_web_interfaces_of_ryu_ask_and_change_switches(tmp_path: Path) -> None:
    write(tmp_path, {"app.py": WEB, "asks.py": ASKS})
    apps = "app.py ryu.app.ofctl_rest ryu.app.rest_topology"
    command = ("mininet", "--beside", f"ryu-manager --observe-links {apps}", "asks.py")
    done = cellbed(tmp_path, *command)
    assert done.stdout.splitlines() == [
        "lost 0.0", "(200, [1, 2, 2]) 404 200 [1, 2] 2", "(200, None)", "(200, None)",
        "(400, None)", "[7, 8]", "lost 100.0",
    ], done.stderr  # fmt: skip


SOCKETS = """
from ryu.app.wsgi import ControllerBase, WSGIApplication, websocket
from ryu.app.wsgi import WebSocketRPCClient, WebSocketRPCServer, rpc_public
from ryu.base import app_manager
from ryu.lib import hub

class Adder(app_manager.RyuApp):
    _CONTEXTS = {"wsgi": WSGIApplication}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.manager = kwargs["wsgi"].websocketmanager
        kwargs["wsgi"].register(Talks, {"adder": self})

    @rpc_public("add")
    def add_numbers(self, one, two):
        return one + two

    @rpc_public
    def tell(self, text):
        self.manager.broadcast(text)

class Talks(ControllerBase):
    @websocket("called", "/called")
    def called(self, ws):
        WebSocketRPCServer(ws, self.data["adder"]).serve_forever()

    @websocket("calls", "/calls")
    def calls(self, ws):
        client = WebSocketRPCClient(ws)
        hub.spawn(lambda: ws.send(f"got {client.get_proxy().double(4)}"))
        client.serve_forever()
"""
TALKS = r"""
import json, socket, time

HELLO = (
    "GET {} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)

class Talk:
    def __init__(self, path):
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", 8080), 60)
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        self.socket.sendall(HELLO.format(path).encode())
        self.file = self.socket.makefile("rb")
        while self.file.readline().strip():
            pass

    def say(self, text):
        self.socket.sendall(bytes([0x81, 0x80 | len(text)]) + bytes(4) + text.encode())

    def hear(self):
        length = self.file.read(2)[1]
        if length == 126:
            length = int.from_bytes(self.file.read(2), "big")
        return self.file.read(length).decode()

    def ask(self, method, params):
        self.say(json.dumps({"id": 7, "method": method, "params": params}))
        answer = json.loads(self.hear())
        return answer.get("result") or (answer["error"]["code"], answer["error"]["message"])

talk, other = Talk("/called"), Talk("/called")
print(talk.ask("add", [2, 3]), talk.ask("add", {"two": 4, "one": 5}))
print(talk.ask("add_numbers", [2, 3]))
print(talk.ask("add", [2, "3"])[0])
talk.say("{")
print(json.loads(talk.hear())["error"]["code"])
talk.say('[{"id": 1, "method": "add", "params": ["a", "b"]}, 5]')
print([row.get("result") or row["error"]["code"] for row in json.loads(talk.hear())])
other.socket.shutdown(socket.SHUT_RDWR)
talk.say('{"method": "tell", "params": ["to all"]}')
print(talk.hear())
calls = Talk("/calls")
asked = json.loads(calls.hear())
print(asked["method"], asked["params"])
calls.say(json.dumps({"id": asked["id"], "result": 8}))
print(calls.hear())
"""


def test_calls_over_the_websockets_of_ryu(tmp_path: Path) -> None:
    write(tmp_path, {"app.py": SOCKETS, "talks.py": TALKS})
    command = ("mininet", "--beside", "ryu-manager app.py ryu.app.simple_switch_13", "talks.py")
    done = cellbed(tmp_path, *command)
    assert done.stdout.splitlines() == [
        "5 9", "(-32601, 'there is no public method add_numbers')", "-32000", "-32700",
        "['ab', -32600]", "to all", "double [4]", "got 8",
    ], done.stderr  # fmt: skip


LOOP = """
from mininet.net import Mininet
from mininet.node import RemoteController
from mininet.topo import Topo

class Ring(Topo):
    def build(self):
        names = [self.addSwitch(f"s{number}") for number in (1, 2, 3)]
        for number, name in enumerate(names):
            self.addLink(self.addHost(f"h{number}"), name)
            self.addLink(name, names[number - 1])

net = Mininet(topo=Ring(), controller=RemoteController)
net.start()
net.waitConnected(timeout=8)
net["s1"].cmd("sleep 50")
print("lost", net.pingAll())
net.stop()
"""


def test_switches_in_a_loop_have_a_spanning_tree_of_ryu(tmp_path: Path) -> None:
    write(tmp_path, {"loop.py": LOOP})
    command = ("mininet", "--beside", "ryu-manager ryu.app.simple_switch_stp_13", "loop.py")
    done = cellbed(tmp_path, *command)
    assert (done.returncode, done.stdout) == (0, "lost 0.0\n"), done.stderr
    assert "storm" not in done.stderr


def test_the_reference_switch_is_one_of_open_vswitch(tmp_path: Path) -> None:
    done = cellbed(tmp_path, "mn", "--switch", "user", "--test", "pingall")
    assert done.returncode == 0, done.stderr
    assert "0% dropped (2/2 received)" in done.stdout + done.stderr
    assert "cellbed: " not in without_silence(done.stderr)


def test_a_reference_switch_in_a_namespace_of_its_own(tmp_path: Path) -> None:
    done = cellbed(tmp_path, "mn", "--switch", "user", "--innamespace", "--test", "pingall")
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert said.count("0% dropped (2/2 received)") == 2  # to the controller, and of the hosts


ROUTES = """
import json, subprocess, time
from mininet.net import Mininet
from mininet.node import RemoteController
from mininet.topo import Topo

class Ring(Topo):
    def build(self):
        names = [self.addSwitch(f"s{number}") for number in (1, 2, 3)]
        for number, name in enumerate(names, 1):
            where = f"10.0.{number}.2/24"
            host = self.addHost(f"h{number}", ip=where, defaultRoute=f"via 10.0.{number}.1")
            self.addLink(host, name)
        for one, two in ((0, 1), (1, 2), (2, 0)):
            self.addLink(names[one], names[two])

def ask(number, method="GET", **words):
    argv = ["curl", "-s", "-X", method, f"localhost:8080/router/{number:016x}"]
    argv += ["-d", json.dumps(words)] if words else []
    return json.loads(subprocess.run(argv, capture_output=True, text=True).stdout)[0]

def change(number, method, **words):
    return ask(number, method, **words)["command_result"][0]

net = Mininet(topo=Ring(), controller=RemoteController)
net.start()
net.waitConnected(timeout=8)
one, two, _ = net.hosts
for number in (1, 2):
    change(number, "POST", address=f"10.0.{number}.1/24")
    change(number, "POST", address=f"10.0.9.{number}/24")
print("router", one.cmd("ping -c 2 10.0.1.1").count("ttl=255"))
print("lost", net.ping([one, two]))
print(change(1, "POST", destination="10.0.2.0/24", gateway="10.0.9.2"))
print(change(2, "POST", gateway="10.0.9.1"))
print("lost", net.ping([one, two]), one.cmd("ping -c 1", two.IP()).count("ttl=62"))
print(change(1, "POST", gateway="10.0.8.1"))
print(ask(1)["internal_network"][0]["route"], change(1, "DELETE", route_id=1))
time.sleep(0.01)  # Open vSwitch looks at its flows once in 5 ms
print("lost", net.ping([one, two]))
net.stop()
"""


def test_switches_are_routers_of_ryu(tmp_path: Path) -> None:
    write(tmp_path, {"routes.py": ROUTES})
    done = cellbed(tmp_path, "mininet", "--beside", "ryu-manager ryu.app.rest_router", "routes.py")
    done_said = done.stdout.splitlines()
    assert done_said == [
        "router 2",
        "lost 100.0",
        "{'result': 'success', 'details': 'Add route [route_id=1]'}",
        "{'result': 'success', 'details': 'Add route [route_id=1]'}",
        "lost 0.0 1",
        "{'result': 'failure', 'details': \"the gateway 10.0.8.1 is in no network of the router's "
        'addresses"}',
        "[{'route_id': 1, 'destination': '10.0.2.0/24', 'gateway': '10.0.9.2'}] "
        "{'result': 'success', 'details': 'Delete route [route_id=1]'}",
        "lost 100.0",
    ], done.stderr


QUAGGA = """
from mininet.net import Mininet
from mininet.node import Node

net = Mininet(controller=None)
routers = [net.addHost(f"r{number}-1", ip=None) for number in (1, 2)]
net.addLink(*routers, intfName1="r1-eth0", intfName2="r2-eth0")
net.start()
for number, router in enumerate(routers, 1):
    other = 3 - number
    open(f"z{number}.conf", "w").write(
        f"hostname r{number}\\ninterface r{number}-eth0\\n ip address 10.0.0.{number}/24\\n"
    )
    open(f"b{number}.conf", "w").write(
        f"router bgp {number}\\n bgp router-id 10.0.0.{number}\\n network 10.{number}.0.0/16\\n"
        f" neighbor 10.0.0.{other} remote-as {other}\\n neighbor 10.0.0.{other} timers 1 3\\n"
    )
    for daemon in ("/usr/lib/quagga/zebra", "bgpd"):
        name = daemon.rsplit("/")[-1]
        files = f"-f {name[0]}{number}.conf -i /tmp/{name}{number}.pid"
        print(router.cmd(f"{daemon} -d {files}"), end="")
for second in range(60):
    route = routers[0].cmd("sleep 1; ip -color=never route show 10.2.0.0/16")
    if route:
        break
print(route.strip())
net.stop()
"""


def test_bash_hands_a_program_the_output_of_another_as_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"pipe.sh": "cat <(echo handed over)\n"})
    done = cellbed(tmp_path, "mininet", "pipe.sh")
    assert done.stdout == "handed over\n"


FRRS_ZEBRA = """
import subprocess
import time

open("zebra.conf", "w").write("interface dummy0\\n ip address 192.0.2.1/24\\n")
subprocess.run("ip link add dummy0 type dummy", shell=True, check=True)
subprocess.run("/usr/lib/frr/zebra -d -f zebra.conf -i /tmp/zebra.pid", shell=True, check=True)
time.sleep(10)  # without mgmtd the clock hardly moves here
subprocess.run("ip -4 -br address show dev dummy0; killall -v zebra", shell=True)
"""


def test_a_zebra_by_frrs_own_path_sets_the_addresses_of_its_file(tmp_path: Path) -> None:
    write(tmp_path, {"zebra.py": FRRS_ZEBRA})
    done = cellbed(tmp_path, "mininet", "zebra.py")
    assert "192.0.2.1/24" in done.stdout
    assert "Killed zebra" in done.stdout + done.stderr
    assert done.returncode == 0


def test_quaggas_daemons_are_those_of_frr_with_quaggas_defaults(tmp_path: Path) -> None:
    """FRR of today would send no route to a neighbour without a policy."""
    write(tmp_path, {"quagga.py": QUAGGA})
    done = cellbed(tmp_path, "mininet", "quagga.py")
    assert done.returncode == 0, done.stderr
    assert " via 10.0.0.2 " in done.stdout.splitlines()[-1], done


RIP = """
from mininet.net import Mininet

net = Mininet(controller=None)
routers = [net.addHost(f"r{number}", ip=f"10.0.0.{number}/24") for number in (1, 2)]
net.addLink(*routers)
net.start()
for number, router in enumerate(routers, 1):
    router.cmd("ip link add own type dummy; ip link set own up")
    router.cmd(f"ip addr add 10.{number}.0.1/16 dev own")
    open(f"r{number}.conf", "w").write(
        f"hostname r{number}\\npassword en\\nrouter rip\\n network 10.0.0.0/24\\n"
        f" network 10.{number}.0.0/16\\n"
    )
    router.cmd(f"zebra -d -i /tmp/z{number}.pid")
    print(router.cmd(f"ripd -f r{number}.conf -d -i /tmp/r{number}.pid"), end="")
for second in range(60):
    routes = [router.cmd("sleep 1; ip -color=never route show proto rip") for router in routers]
    if all(routes):
        break
print(*[line for route in routes for line in route.splitlines()], sep="\\n")
net.stop()
"""


def test_routers_with_rip_read_the_files_of_their_script(tmp_path: Path) -> None:
    """FRR's ripd refuses the option -f, and each router of a script has a file of its own."""
    write(tmp_path, {"rip.py": RIP})
    done = cellbed(tmp_path, "mininet", "rip.py")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()[-2:]
    assert first.startswith("10.2.0.0/16 ") and " via 10.0.0.2 " in first, done
    assert second.startswith("10.1.0.0/16 ") and " via 10.0.0.1 " in second, done


HYPHENS = """
from mininet.cli import CLI
from mininet.net import Mininet

net = Mininet(controller=None)
for name in ("h1", "h1-1"):
    net.addHost(name)
CLI(net)
"""


def test_a_hosts_name_at_the_prompt_may_have_a_hyphen(tmp_path: Path) -> None:
    write(tmp_path, {"hyphens.py": HYPHENS})
    text = "h1-1 echo it is $((1 + 1))\nh1 echo and 1\n"
    done = cellbed(tmp_path, "mininet", "hyphens.py", text=text)
    assert done.stderr.startswith("it is 2\nand 1\n"), done


OLD_TOPOLOGY = """
from mininet.topo import Topo
class Old(Topo):
    def build(self):
        self.add_switch("s1")
Old()
"""


def test_what_fails_in_silence_or_is_of_mininet_1_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"old.py": OLD_TOPOLOGY, "in": "h1 curl -s --max-time 1 h2\nh1 true\n"})
    done = cellbed(tmp_path, "mininet", "old.py")
    assert done.returncode == 1
    assert done.stderr.endswith(
        "cellbed: add_switch(): the script was written for Mininet 1, and the lab has 2.3; in "
        "Mininet 2 it is addSwitch()\n"
    ), done.stderr
    write(tmp_path, {"mn.sh": "mn < in\n"})
    done = cellbed(tmp_path, "mininet", "mn.sh")
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if "status" in line] == [
        "cellbed: h1 curl -s --max-time 1 10.0.0.2: this command said nothing and ended with "
        "status 7"
    ]


OVERLOOKS = """
from mininet.net import Mininet
net = Mininet(controller=None)
h1 = net.addHost("h1", ip="10.0.0.1/8")
net.start()
h1.cmd("echo begun > logs/h1")
net.configLinkStatus(h1, "h2", "down")
net.stop()
"""


def test_what_a_script_overlooks_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"overlooks.py": OVERLOOKS})
    done = cellbed(tmp_path, "mininet", "overlooks.py")
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if line.startswith("cellbed: ")] == [
        "cellbed: Mininet reported an error: src not in network: h1",
        "cellbed: echo begun > logs/h1: not run, because the folder logs does not exist",
    ]


COMPUTES = """
import time
begin = time.monotonic()
sum(range(3_000_000))
print(f"took {time.monotonic() - begin:.3f} s")
print("sum 4")
"""


def test_the_figures_that_depend_on_the_clock_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"computes.py": COMPUTES})
    done = cellbed(tmp_path, "mininet", "--compare-clocks", "computes.py")
    assert (done.returncode, done.stdout) == (0, "took 0.000 s\nsum 4\n"), done.stderr
    assert "cellbed: line 1: 'took 0.000 s' on the virtual clock, 'took 0." in done.stderr
    assert "line 2" not in done.stderr


LACKS = """
import subprocess
from mininet.net import Mininet

net = Mininet(controller=None)
host = net.addHost("h1")
other = net.addHost("h2")
net.addLink(host, other)
net.start()
assert host.cmd("no-such-command add 10") == "bash: no-such-command: command not found\\r\\n"
host.cmd("hidden > /dev/null 2>&1 &")
host.cmd("tc qdisc add dev h1-eth0 root no_such")
host.cmd("tc qdisc add dev h1-eth0 root teql0")
host.cmd("ip link add link h1-eth0 name x type team")
host.cmd("sysctl -w net.ipv4.no_such=1")
host.cmd("modprobe no_such")
host.cmd("python3 -c 'import no_such'")
host.popen("in_a_pipe | cat", shell=True).wait()
for shell in ("bash -c nope", "bash three.sh"):
    plain = subprocess.run(f"env -u BASH_ENV {shell}", shell=True, capture_output=True, text=True)
    noted = subprocess.run(shell, shell=True, capture_output=True, text=True)
    assert (plain.returncode, plain.stderr) == (noted.returncode, noted.stderr), noted.stderr
net.stop()
"""
SENTENCES = [
    "no-such-command: the image has no such command",
    "hidden: the image has no such command",
    "the lab's kernel has no queue discipline no_such",
    "the lab's kernel has no queue discipline teql0",
    "the lab's kernel has no network device of the type team",
    "net.ipv4.no_such: the lab's kernel has no such setting",
    "no_such: the lab's kernel has no such module",
    "no_such: the image has no such Python module, and no no_such.py lies beside the script; try "
    "--package python3-no-such",
    "in_a_pipe: the image has no such command",
    "nope: the image has no such command",
    "third_line: the image has no such command",
]
HARMLESS = """
import os
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.topo import LinearTopo

os.set_inheritable(os.open("/dev/null", os.O_RDONLY), True)
net = Mininet(topo=LinearTopo(2), link=TCLink, waitConnected=True)
net.start()
net.pingAll()
host = net.hosts[0]
assert host.cmd("ls /proc/$$/fd").split() == ["0", "1", "2", "255"]  # 255: its terminal
for command in (
    "ip link del no_such", "tc qdisc del dev h1-eth0 root", "cat no_such < /dev/null",
    "ip route add 10.0.0.0/8 dev h1-eth0", "ifconfig h7-eth0 up", "ping -c 1 10.0.0.9",
    "sysctl -w net.ipv6.conf.all.disable_ipv6=1", "modprobe sch-htb",
    "modprobe tcp_bbr", "ls /no/such/folder", "timeout 1 tcpdump -i h1-eth0 -w /dev/null",
):
    host.cmd(command)
assert host.cmd("modprobe openvswitch; echo $?").strip() == "0"
net.configLinkStatus("s1", "s2", "down")
net.stop()
"""


def test_what_the_lab_lacks_is_told_at_the_end(tmp_path: Path) -> None:
    write(tmp_path, {"lacks.py": LACKS, "three.sh": "#\n#\nthird_line\n"})
    done = cellbed(tmp_path, "mininet", "lacks.py")
    assert done.returncode == 0, done.stderr
    told = [
        line for line in without_silence(done.stderr).splitlines() if line.startswith("cellbed: ")
    ]
    assert [sentence for sentence in SENTENCES if not any(sentence in line for line in told)] == []
    assert len(told) == len(SENTENCES), told


def test_what_fails_on_any_machine_is_not(tmp_path: Path) -> None:
    write(tmp_path, {"harmless.py": HARMLESS})
    done = cellbed(tmp_path, "mininet", "harmless.py")
    assert done.returncode == 0, done.stderr
    assert "cellbed: " not in without_silence(done.stderr)


OLD = """
import csv, socket, struct, subprocess
from mininet.net import Mininet
import helper

class Failure(Exception): pass

net = Mininet(controller=None)
host = net.addHost("h1")
net.build()
print helper.half(7), 7 / 2.0, map(lambda x: x * 2, [1])[0], {1: 2}.has_key(1)
try:
    raise Failure, "text"
except Failure, failure:
	print failure, `3`, 0777,
print subprocess.check_output("echo out", shell=True).split("\\n")
print host.popen("echo node", shell=True).communicate()[0].strip(),
print host.pexec("echo exec")[0].strip()
print host.cmd("python other.py").strip(), host.cmd("./other.py").strip()
table = csv.writer(open("table.csv", "wb"))
table.writerow([1, "a"])
del table
print list(csv.reader(open("table.csv", "rb")))
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
sender.sendto("five:" + struct.pack("!H", 513), receiver.getsockname())
data = receiver.recv(100)
print data[:5], struct.unpack("!H", data[5:])
values = [2, 3, 1]
values.sort(lambda a, b: cmp(b, a))
print values
print u"x".encode("utf-8"), unicode("y", "utf8"), "z".decode("utf-8")
grown = bytearray()
grown.extend(struct.pack("!H", 24930))
grown += "c"
print str(grown), len(grown)
net.stop()
"""
OUT = [
    "3 3.5 2 True", "text 3 511 ['out', '']", "node exec", "4 4", "[['1', 'a']]", "five: (513,)",
    "[3, 2, 1]", "x y z", "abc 3",
]  # fmt: skip


def test_a_script_of_python_2_runs_with_its_own_arithmetic_and_text(tmp_path: Path) -> None:
    write(tmp_path, {
        "__init__.py": "",  # a folder may be a package, too
        "old.py": OLD, "helper.py": "def half(x):\n\treturn x / 2\n",
        "other.py": "#!/usr/bin/python\nprint 9 / 2\n",
    })  # fmt: skip
    (tmp_path / "other.py").chmod(0o755)
    done = cellbed(tmp_path, "mininet", "--python2", "old.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == OUT
    assert (tmp_path / "old.py").read_text() == OLD


PLAIN = """
from mininet.net import Mininet
from mininet.topo import MinimalTopo

net = Mininet(topo=MinimalTopo(), controller=None)
net.start()
for command in ("ip -4 addr show dev h1-eth0", "ip route", "tc qdisc show"):
    print(repr(net["h1"].cmd(command)))
net.stop()
"""


def test_what_a_host_says_of_its_network_has_no_colours(tmp_path: Path) -> None:
    write(tmp_path, {"plain.py": PLAIN})
    done = cellbed(tmp_path, "mininet", "plain.py")
    assert "inet 10.0.0.1/8 brd " in done.stdout
    assert "10.0.0.0/8 dev h1-eth0 proto kernel" in done.stdout
    assert "qdisc noqueue 0: dev h1-eth0 root" in done.stdout


OLD_SERVER = """
import BaseHTTPServer, urllib2, threading

class Handler(BaseHTTPServer.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write("<h1>%s</h1>" % self.headers.getheader("Host"))

server = BaseHTTPServer.HTTPServer(("127.0.0.1", 8000), Handler)
threading.Thread(target=server.handle_request).start()
page = urllib2.urlopen("http://127.0.0.1:8000/")
print page.code, "<h1>%s" % page.read()[4:].replace("127.0.0.1", "localhost")
threading.Thread(target=server.handle_request).start()
import os
os.system("curl -s http://127.0.0.1:8000/")
"""


def test_a_web_server_of_python_2_answers_with_text(tmp_path: Path) -> None:
    write(tmp_path, {"web.py": OLD_SERVER})
    done = cellbed(tmp_path, "mininet", "--python2", "web.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "200 <h1>localhost:8000</h1>\n<h1>127.0.0.1:8000</h1>"


def test_a_script_of_python_2_is_refused_with_the_option(tmp_path: Path) -> None:
    write(tmp_path, {"old.py": 'print "a"\n', "run.sh": "python3 old.py\n"})
    done = cellbed(tmp_path, "mininet", "old.py")
    assert done.returncode == 2
    assert done.stderr == (
        "cellbed: old.py is written in Python 2 (line 1: Missing parentheses in call to 'print'); "
        "./cellbed mininet --python2 converts it\n"
    )
    done = cellbed(tmp_path, "mininet", "old.py", "--python2")
    assert done.stderr.endswith("converts it, but an option must come before the file\n")
    done = cellbed(tmp_path, "mininet", "run.sh")
    assert done.returncode == 1
    assert done.stderr.endswith("is written in Python 2; try --python2\n")


TOPOLOGY = """
from mininet.topo import Topo

class Pair(Topo):
    def build(self):
        print "a pair"
        self.addLink(self.addHost("h1"), self.addHost("h2"))

topos = {"pair": lambda: Pair()}
"""


def test_mn_takes_topologies_of_python_2(tmp_path: Path) -> None:
    write(tmp_path, {"pair.py": TOPOLOGY})
    words = ["--custom", "pair.py", "--topo", "pair", "--test", "pingall"]
    done = cellbed(tmp_path, "mn", "--python2", *words)
    assert (done.returncode, done.stdout) == (0, "a pair\n"), done.stderr
    assert " 0% dropped (2/2 received)" in done.stderr


STORM = """
from mininet.net import Mininet

net = Mininet(controller=None)
switches = [net.addSwitch(f"s{number}", failMode="standalone") for number in (1, 2, 3)]
for one, two in zip(switches, switches[1:] + switches[:1]):
    net.addLink(one, two)
host = net.addHost("h1")
net.addLink(host, switches[0])
net.start()
host.cmd("ping -c 1 -W 1 10.0.0.9")
"""


ROUND = """
from mininet.net import Mininet
net = Mininet(controller=None)
host = net.addHost("h1")
switches = [net.addSwitch(f"s{number}") for number in (1, 2, 3)]
net.addLink(host, switches[0])
for one, next in zip(switches, switches[1:] + switches[:1]):
    net.addLink(one, next)
net.start()
for one, next in zip(switches, switches[1:] + switches[:1]):
    port = one.ports[one.connectionsTo(next)[0][0]]
    one.cmd(f"ovs-ofctl add-flow {one.name} actions={port}")
host.setARP("10.0.0.9", "00:00:00:00:00:09")
for _ in range(100):
    host.cmd("ping -c 1 -W 0.001 10.0.0.9")
host.cmd("sleep 2")
print("over")
"""


def test_packets_in_a_loop_leave_the_script_its_time(tmp_path: Path) -> None:
    """Nothing of them is a broadcast; before, ksoftirqd had the processor for ever."""
    write(tmp_path, {"loop.py": ROUND})
    done = cellbed(tmp_path, "mininet", "--limit", "100", "loop.py")
    assert (done.returncode, done.stdout) == (0, "over\n"), done.stderr
    assert done.stderr.count("cellbed: packets took all of the lab's processor at ") == 1


def test_a_broadcast_storm_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"storm.py": STORM})
    done = cellbed(tmp_path, "mininet", "--limit", "3", "storm.py")
    assert done.stderr.count("cellbed: broadcast storm at ") == 1, done.stderr
    assert "broadcasts a second, for example at s" in done.stderr

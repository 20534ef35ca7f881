# SPDX-License-Identifier: GPL-2.0-only
"""Ryu's web interfaces rest_firewall, rest_qos and rest_conf_switch, as its book describes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.labs.test_scripts import cellbed, write

pytestmark = pytest.mark.lab

BEGIN = """
import json, re, subprocess, time
from mininet.net import Mininet
from mininet.node import RemoteController
from mininet.topo import SingleSwitchTopo

def ask(path, method="GET", words=None):
    argv = ["curl", "-s", "-w", "%{http_code}", "-X", method, f"localhost:8080/{path}"]
    argv += ["-d", json.dumps(words)] if words is not None else []
    answer = subprocess.run(argv, capture_output=True, text=True).stdout
    status, text = int(answer[-3:]), answer[:-3]
    return json.loads(text) if status == 200 and text else (status, text.strip())

def result(path, method, words=None):
    answer = ask(path, method, words)
    time.sleep(1)  # of virtual time: the switch renews its flows after the controller's answer
    return answer[0]["command_result"] if isinstance(answer, list) else answer

net = Mininet(topo=SingleSwitchTopo(3), controller=RemoteController, autoSetMacs=True)
net.start()
net.waitConnected(timeout=8)
one, two, three = net.hosts
SWITCH = "0000000000000001"
"""
FIREWALL = """
RULES = f"firewall/rules/{SWITCH}"
print(ask("firewall/module/status"), ask("firewall/log/status"))
print("closed", net.pingAll())
print(result(f"firewall/module/enable/{SWITCH}", "PUT"))
print("no rules", net.ping([one, two]))
for source, target in ((one, two), (two, one)):
    rule = {"nw_src": f"{source.IP()}/32", "nw_dst": target.IP(), "nw_proto": "ICMP"}
    print(result(RULES, "POST", rule))
print("two rules", net.ping([one, two]), net.ping([one, three]))
deny = {"nw_dst": "10.0.0.2", "nw_proto": "ICMP", "actions": "DENY", "priority": "10"}
print(result(RULES, "POST", deny), net.ping([one, two]))
print(ask(RULES)[0]["access_control_list"][0]["rules"][2])
print(result(RULES, "DELETE", {"rule_id": "3"}), net.ping([one, two]))
print(result(RULES, "DELETE", {"rule_id": 3})[0]["result"])
print(result(f"{RULES}/2", "POST", {"nw_src": "10.0.0.0/8", "nw_proto": "ICMP"}))
print([(group.get("vlan_id"), len(group["rules"])) for group in
       ask(f"{RULES}/all")[0]["access_control_list"]])
print(ask(RULES, "POST", {"nw_proto": "FTP"}))
print(ask(RULES, "POST", {"tp_dst": "80"}))
print(ask("firewall/rules/0000000000000009")[0])
print(result(f"firewall/log/disable/{SWITCH}", "PUT"), net.ping([one, two]))
print(result(f"firewall/module/disable/{SWITCH}", "PUT"), net.ping([one, two]))
net.stop()
"""


def test_a_firewall_of_ryu_passes_what_its_rules_allow(tmp_path: Path) -> None:
    write(tmp_path, {"firewall.py": BEGIN + FIREWALL})
    command = ("mininet", "--beside", "ryu-manager ryu.app.rest_firewall", "firewall.py")
    done = cellbed(tmp_path, *command)
    assert done.stdout.splitlines() == [
        "[{'switch_id': '0000000000000001', 'status': 'disable'}] "
        "[{'switch_id': '0000000000000001', 'log_status': 'enable'}]",
        "closed 100.0",
        "{'result': 'success', 'details': 'firewall running.'}",
        "no rules 100.0",
        "[{'result': 'success', 'details': 'Rule added. : rule_id=1'}]",
        "[{'result': 'success', 'details': 'Rule added. : rule_id=2'}]",
        "two rules 0.0 100.0",
        "[{'result': 'success', 'details': 'Rule added. : rule_id=3'}] 100.0",
        "{'priority': 10, 'nw_dst': '10.0.0.2', 'nw_proto': 'ICMP', 'dl_type': 'IPv4', "
        "'rule_id': 3, 'actions': 'DENY'}",
        "[{'result': 'success', 'details': 'Rule deleted. : ruleID=3'}] 0.0",
        "failure",
        "[{'result': 'success', 'details': 'Rule added. : rule_id=4', 'vlan_id': 2}]",
        "[(None, 2), (2, 1)]",
        "(400, \"nw_proto is 'FTP'; it is one of ICMP, TCP, UDP, ICMPv6\")",
        "(400, 'a rule with tp_src or tp_dst needs the nw_proto TCP or UDP')",
        "404",
        "{'result': 'success', 'details': 'Log collection stopped.'} 0.0",
        "{'result': 'success', 'details': 'firewall stopped.'} 100.0",
    ], done.stderr
    assert "Blocked packet = ethernet(" in done.stderr


SECOND_TABLE = """
from ryu.app import simple_switch_13

class Second(simple_switch_13.SimpleSwitch13):
    def add_flow(self, datapath, priority, match, actions, buffer_id=None):
        protocol, parser = datapath.ofproto, datapath.ofproto_parser
        apply = parser.OFPInstructionActions(protocol.OFPIT_APPLY_ACTIONS, actions)
        datapath.send_msg(parser.OFPFlowMod(datapath=datapath, priority=priority, match=match,
                                            instructions=[apply], table_id=1))
"""
QOS = """
def rate(port):
    "In halves of a Mbit/s, of 3 that two sends to a port of one."
    server = one.popen(f"iperf -s -u -p {port}")
    said = two.cmd(f"iperf -u -c 10.0.0.1 -p {port} -b 3M -t 5 -f m")
    server.kill()
    return round(2 * float(re.findall(r"([\\d.]+) Mbits/sec", said)[-1])) / 2

queue = {"port_name": "s1-eth1", "type": "linux-htb", "max_rate": "2000000",
         "queues": [{"max_rate": "500000"}, {"max_rate": "1500000"}]}
print(result(f"qos/queue/{SWITCH}", "POST", queue)[0])
net["s1"].cmd("ovs-vsctl set-manager ptcp:6632")
address = f"v1.0/conf/switches/{SWITCH}/ovsdb_addr"
print(ask(address)[0], ask(address, "PUT", "tcp:127.0.0.1:6632"), ask(address))
print(result(f"qos/queue/{SWITCH}", "POST", queue))
rule = {"match": {"nw_dst": "10.0.0.1", "nw_proto": "UDP", "tp_dst": "5002"},
        "actions": {"queue": "1"}}
print(result(f"qos/rules/{SWITCH}", "POST", rule))
print(result(f"qos/rules/{SWITCH}", "GET"))
print("queues", rate(5001), rate(5002))
sent = result(f"qos/queue/status/{SWITCH}", "GET")["details"]["1"]
print("sent", [queue["tx_packets"] > 100 for queue in sent if queue["queue_id"] in (0, 1)])
print(result(f"qos/queue/{SWITCH}", "DELETE"), "no queues", rate(5001))
meter = {"meter_id": "1", "flags": "KBPS", "bands": [{"type": "DROP", "rate": "1000"}]}
print(result(f"qos/meter/{SWITCH}", "POST", meter))
rule = {"match": {"nw_proto": "UDP", "tp_dst": "5003"}, "actions": {"meter": "1"}}
print(result(f"qos/rules/{SWITCH}", "POST", rule), "meter", 0.8 < rate(5003) < 1.2)
mark = {"match": {"nw_proto": "ICMP"}, "actions": {"mark": "26"}}
print(result(f"qos/rules/{SWITCH}", "POST", mark))
seen = one.popen("tcpdump -c 1 -v -n -i h1-eth0 icmp and src 10.0.0.2")
two.cmd("ping -c 3 10.0.0.1")
print("tos 0x68" in seen.communicate()[0].decode())  # 26 and two bits
print(result(f"qos/rules/{SWITCH}", "DELETE", {"qos_id": "all"}), rate(5003))
print(ask(f"qos/rules/{SWITCH}", "POST", {"match": {}, "actions": {"paint": "red"}}))
net.stop()
"""


def test_queues_and_meters_of_ryu_give_the_rates_that_are_set(tmp_path: Path) -> None:
    write(tmp_path, {"qos.py": BEGIN + QOS, "second.py": SECOND_TABLE})
    apps = "ryu.app.rest_qos second.py ryu.app.rest_conf_switch"
    done = cellbed(tmp_path, "mininet", "--beside", f"ryu-manager {apps}", "qos.py")
    success = "'result': 'success', 'details':"
    assert done.stdout.splitlines() == [
        "400",
        "404 (201, '') tcp:127.0.0.1:6632",
        f"{{{success} {{'0': {{'config': {{'max-rate': '500000'}}}}, "
        "'1': {'config': {'max-rate': '1500000'}}}}",
        f"[{{{success} 'QoS added. : qos_id=1'}}]",
        "[{'qos': [{'priority': 1, 'nw_dst': '10.0.0.1', 'nw_proto': 'UDP', 'tp_dst': 5002, "
        "'dl_type': 'IPv4', 'qos_id': 1, 'actions': [{'queue': '1'}]}]}]",
        "queues 0.5 1.5",
        "sent [True, True]",
        f"{{{success} 'success'}} no queues 3.0",
        f"[{{{success} 'Meter added. : Meter ID=1'}}]",
        f"[{{{success} 'QoS added. : qos_id=2'}}] meter True",
        f"[{{{success} 'QoS added. : qos_id=3'}}]",
        "True",
        f"[{{{success} 'QoS deleted. : qos_id=1,2,3'}}] 3.0",
        "(400, \"actions has 'paint'; it has mark, meter or queue\")",
    ], done.stderr
    assert "[QoS][INFO] dpid=0000000000000001: Join qos switch." in done.stderr

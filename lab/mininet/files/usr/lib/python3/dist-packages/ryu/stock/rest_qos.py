# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.rest_qos: queues, meters and the rules that lead packets to them; OpenFlow 1.3.

/qos/queue/SWITCH sets the queues of a port, by the database that ryu.app.rest_conf_switch was told.
/qos/rules/SWITCH and .../VLAN set rules of table 0, which send the packets on to table 1: the rules
of another application. /qos/meter/SWITCH sets meters.
"""

import subprocess

from os_ken.controller import conf_switch, dpset
from os_ken.controller.handler import set_ev_cls
from os_ken.lib import ofctl_v1_3
from os_ken.lib.dpid import dpid_to_str
from os_ken.ofproto import ofproto_v1_3
from ryu.app.conf_switch_key import OVSDB_ADDR
from ryu.app.wsgi import ControllerBase, WSGIApplication, route
from ryu.rest import SWITCH, Asking, RefusedError, asked, each
from ryu.rules import Rules, number, vlan_of

NEXT = [{"type": "GOTO_TABLE", "table_id": 1}]
LOWEST, HIGHEST, REST = 1, 65535, 0
RATES = {"max_rate": "max-rate", "min_rate": "min-rate"}
MOST_QUEUE, MOST_METER = 0xFFFFFFFE, 0xFFFF0000


class QoS:
    """A switch with queues, meters and rules.

    Args:
        datapath: of os-ken.
        application: who asks.
        address: gives that of the switch's database, or None.
    """

    def __init__(self, datapath, application, address):
        self.datapath, self.application, self.address = datapath, application, address
        self.queues, self.ports = {}, []
        self.rules = Rules(datapath, actions, (LOWEST, HIGHEST))
        self.rules.send("OFPFC_ADD", REST, {}, NEXT)

    def database(self, *words):
        """What ovs-vsctl says to words about the switch's database; os-ken's own way to it needs
        an older Open vSwitch.

        Raises:
            RefusedError: nobody said where it is, or it refuses.
        """
        address = self.address()
        if address is None:
            raise RefusedError(
                "nobody said where the switch's database is: PUT its address, for example "
                '"tcp:127.0.0.1:6632", to /v1.0/conf/switches/SWITCH/ovsdb_addr of '
                "ryu.app.rest_conf_switch"
            )
        argv = ["ovs-vsctl", "--timeout=5", f"--db={address}", *words]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RefusedError(f"the switch's database at {address}: {done.stderr.strip()}")
        return done.stdout.split()

    def set_queues(self, asked):
        """The queues of a port, or of all."""
        queues = [rates(queue) for queue in asked.get("queues", [])]
        named = f'datapath_id="{dpid_to_str(self.datapath.id)}"'
        bridge = self.database("--bare", "--columns=name", "find", "Bridge", named)
        ports = self.database("list-ports", *bridge)
        if "port_name" in asked:
            if asked["port_name"] not in ports:
                raise RefusedError(f"the switch has no port {asked['port_name']}, only {ports}")
            ports = [asked["port_name"]]
        for port in ports:
            words = [*rows("QoS", "qos", rates(asked)), f"type={asked.get('type', 'linux-htb')}"]
            words += [f"queues:{index}=@q{index}" for index in range(len(queues))]
            for index, queue in enumerate(queues):
                words += rows("Queue", f"q{index}", queue)
            self.database("set", "Port", port, "qos=@qos", *words)
        self.queues = {str(index): {"config": queue} for index, queue in enumerate(queues)}
        self.ports = sorted({*self.ports, *ports})
        return done(self.queues)

    def told_queues(self):
        """Those that were set here."""
        return done(self.queues) if self.queues else done("There is no queue.", "failure")

    def delete_queues(self):
        """Of all ports that have some of ours."""
        for port in self.ports:
            self.database("clear", "Port", port, "qos")
        self.queues, self.ports = {}, []
        return done("success")

    def add_rule(self, vlan, asked):
        """A rule as a request has it."""
        match, does = asked.get("match", {}), asked.get("actions", {})
        if not isinstance(match, dict) or not isinstance(does, dict):
            raise RefusedError("match and actions are objects")
        actions(does)  # refuses what it does not know
        if "mark" in does:
            match = {"dl_type": "IPv4"} | match
        made = self.rules.add(vlan, asked.get("priority", LOWEST), match, does)
        return of_vlan(done(f"QoS added. : qos_id={made}"), vlan)

    def told_rules(self, vlan):
        """What each rule does is a list."""
        groups = self.rules.told(vlan, "qos_id", "qos")
        for group in groups:
            for rule in group["qos"]:
                rule["actions"] = [{key: value} for key, value in rule["actions"].items()]
        return groups

    def delete_rule(self, vlan, asked):
        """A rule by its number, or all."""
        wanted = asked.get("qos_id", asked.get("rule_id"))
        if wanted is None:
            raise RefusedError("the request has no qos_id")
        gone = self.rules.remove(vlan, wanted)
        if not gone:
            return of_vlan(done(f"There is no such rule. : qos_id={wanted}", "failure"), vlan)
        return of_vlan(done(f"QoS deleted. : qos_id={','.join(map(str, gone))}"), vlan)

    def change_meter(self, command, said, asked):
        """A meter more or less."""
        made = number(asked.get("meter_id"), "meter_id", MOST_METER, 1)
        meter = {**asked, "meter_id": made}
        ofctl_v1_3.mod_meter_entry(self.datapath, meter, getattr(self.datapath.ofproto, command))
        return done(f"Meter {said}. : Meter ID={made}")

    def told(self, function):
        """What the switch answers to a function of ofctl."""
        return done(function(self.datapath, self.application.waiters))


class RestQoSAPI(Asking):
    """Queues, meters and rules for each switch."""

    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]
    _CONTEXTS = {
        "dpset": dpset.DPSet, "conf_switch": conf_switch.ConfSwitchSet, "wsgi": WSGIApplication,
    }  # fmt: skip

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.known, self.switches = kwargs["conf_switch"], {}
        kwargs["wsgi"].register(QoSController, {"switches": self.switches})

    @set_ev_cls(dpset.EventDP, dpset.DPSET_EV_DISPATCHER)
    def on_switch(self, event):
        """A switch comes or goes."""
        made = event.dp.id
        if event.enter:
            key = made, OVSDB_ADDR
            self.switches[made] = QoS(
                event.dp, self, lambda: self.known.get_key(*key) if key in self.known else None
            )
            self.logger.info("[QoS][INFO] dpid=%s: Join qos switch.", dpid_to_str(made))
        else:
            self.switches.pop(made, None)


class QoSController(ControllerBase):
    """Answers requests below /qos."""

    @route("qos", "/qos/queue/{switch}", methods=["GET"], requirements=SWITCH)
    def get_queue(self, req, switch):
        """The queues that were set here."""
        return self.each(switch, QoS.told_queues)

    @route("qos", "/qos/queue/{switch}", methods=["POST"], requirements=SWITCH)
    def set_queue(self, req, switch):
        """The queues of a port."""
        return self.each(switch, lambda qos: qos.set_queues(asked(req)))

    @route("qos", "/qos/queue/{switch}", methods=["DELETE"], requirements=SWITCH)
    def delete_queue(self, req, switch):
        """No queues."""
        return self.each(switch, QoS.delete_queues)

    @route("qos", "/qos/queue/status/{switch}", methods=["GET"], requirements=SWITCH)
    def queue_status(self, req, switch):
        """What the queues have sent."""
        return self.each(switch, lambda qos: qos.told(ofctl_v1_3.get_queue_stats))

    @route("qos", "/qos/rules/{switch}", methods=["GET"], requirements=SWITCH)
    @route("qos", "/qos/rules/{switch}/{vlan}", methods=["GET"], requirements=SWITCH)
    def get_rules(self, req, switch, vlan=None):
        """The rules."""
        return self.each(switch, lambda qos: qos.told_rules(vlan_of(vlan)))

    @route("qos", "/qos/rules/{switch}", methods=["POST"], requirements=SWITCH)
    @route("qos", "/qos/rules/{switch}/{vlan}", methods=["POST"], requirements=SWITCH)
    def add_rule(self, req, switch, vlan=None):
        """A new rule."""
        return self.each(
            switch, lambda qos: [qos.add_rule(vlan_of(vlan, all_too=False), asked(req))]
        )

    @route("qos", "/qos/rules/{switch}", methods=["DELETE"], requirements=SWITCH)
    @route("qos", "/qos/rules/{switch}/{vlan}", methods=["DELETE"], requirements=SWITCH)
    def delete_rule(self, req, switch, vlan=None):
        """A rule less, or all."""
        return self.each(switch, lambda qos: [qos.delete_rule(vlan_of(vlan), asked(req))])

    @route("qos", "/qos/meter/{switch}", methods=["GET"], requirements=SWITCH)
    def get_meter(self, req, switch):
        """What the meters have counted."""
        return self.each(switch, lambda qos: qos.told(ofctl_v1_3.get_meter_stats))

    @route("qos", "/qos/meter/{switch}", methods=["POST"], requirements=SWITCH)
    def add_meter(self, req, switch):
        """A new meter."""
        return self.each(switch, lambda qos: [qos.change_meter("OFPMC_ADD", "added", asked(req))])

    @route("qos", "/qos/meter/{switch}", methods=["DELETE"], requirements=SWITCH)
    def delete_meter(self, req, switch):
        """A meter less."""
        return self.each(
            switch, lambda qos: [qos.change_meter("OFPMC_DELETE", "deleted", asked(req))]
        )

    def each(self, switch, ask):
        """What became of a request."""
        return each(self.data["switches"], switch, lambda qos: {"command_result": ask(qos)})


def actions(does):
    """Those of a rule, in the words of os-ken's ofctl.

    Raises:
        RefusedError: it is none of mark, meter and queue.
    """
    if strange := set(does) - {"mark", "meter", "queue"}:
        raise RefusedError(f"actions has {strange.pop()!r}; it has mark, meter or queue")
    made = []
    if "meter" in does:
        made.append({"type": "METER", "meter_id": number(does["meter"], "meter", MOST_METER, 1)})
    if "mark" in does:
        made.append({"type": "SET_FIELD", "field": "ip_dscp",
                     "value": number(does["mark"], "mark", 63)})  # fmt: skip
    if "queue" in does:
        made.append({"type": "SET_QUEUE", "queue_id": number(does["queue"], "queue", MOST_QUEUE)})
    return made + NEXT


def rows(table, name, rates):
    """ovs-vsctl's words for a new row that others call @name."""
    told = [f"other-config:{key}={value}" for key, value in rates.items()]
    return ["--", f"--id=@{name}", "create", table, *told]


def rates(asked):
    """By the names of Open vSwitch, whose database has texts."""
    return {RATES[key]: str(value) for key, value in asked.items() if key in RATES}


def done(details, result="success"):
    """What became of a request at a switch."""
    return {"result": result, "details": details}


def of_vlan(told, vlan):
    """With the VLAN, if the request has one."""
    return told if vlan is None else told | {"vlan_id": vlan}

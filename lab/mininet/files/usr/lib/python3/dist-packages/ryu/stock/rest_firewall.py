# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.rest_firewall: each switch passes only the packets that /firewall/rules/SWITCH allows.

A switch passes nothing at first: PUT /firewall/module/enable/SWITCH begins, .../disable/... ends.
POST sets a rule, DELETE takes a {"rule_id": N} away, GET tells of all; /SWITCH/VLAN is for packets
of a VLAN. PUT /firewall/log/enable|disable/SWITCH says whether blocked packets are told.
"""

from os_ken.controller import dpset, ofp_event
from os_ken.controller.handler import MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.dpid import dpid_to_str
from os_ken.lib.packet import packet
from os_ken.ofproto import ofproto_v1_0, ofproto_v1_2, ofproto_v1_3
from ryu.app.wsgi import ControllerBase, WSGIApplication, route
from ryu.rest import SWITCH, Asking, RefusedError, asked, each, reply
from ryu.rules import TYPES, Rules, vlan_of

# Rules: the first that fits.
CLOSED, ARP, HIGHEST, LOWEST, REST = 65535, 65534, 65533, 1, 0
PASS = [{"type": "OUTPUT", "port": "NORMAL"}]
TELL = [{"type": "OUTPUT", "port": "CONTROLLER", "max_len": 128}]
OPERATION = {"operation": "enable|disable"} | SWITCH


class Firewall:
    """A switch that passes what is allowed.

    Args:
        datapath: of os-ken.
    """

    def __init__(self, datapath):
        self.enabled, self.logs = False, True
        self.rules = Rules(datapath, self.actions, (LOWEST, HIGHEST))
        self.rules.send("OFPFC_ADD", CLOSED, {}, [])
        self.rules.send("OFPFC_ADD", ARP, {"dl_type": TYPES["ARP"]}, PASS)
        self.rules.send("OFPFC_ADD", REST, {}, TELL)

    def actions(self, does):
        """Those of a rule."""
        if does == "ALLOW":
            return PASS
        return TELL if self.logs else []

    def enable(self, enabled):
        """Pass packets by the rules, or none."""
        self.enabled = enabled
        self.rules.send("OFPFC_DELETE_STRICT" if enabled else "OFPFC_ADD", CLOSED, {}, [])
        return done("firewall running." if enabled else "firewall stopped.")

    def log(self, logs):
        """Tell of blocked packets, or do not."""
        self.logs = logs
        self.rules.send("OFPFC_ADD", REST, {}, self.actions("DENY"))
        for number in self.rules.rules:
            self.rules.put(number)
        return done("Log collection started." if logs else "Log collection stopped.")

    def add(self, vlan, asked):
        """A rule as a request has it."""
        match = dict(asked)
        does, priority = match.pop("actions", "ALLOW"), match.pop("priority", LOWEST)
        if does not in ("ALLOW", "DENY"):
            raise RefusedError(f"actions is {does!r}; it is ALLOW or DENY")
        return done(f"Rule added. : rule_id={self.rules.add(vlan, priority, match, does)}", vlan)

    def delete(self, vlan, asked):
        """A rule by its number, or all."""
        if "rule_id" not in asked:
            raise RefusedError("the request has no rule_id")
        gone = self.rules.remove(vlan, asked["rule_id"])
        if not gone:
            return done(f"There is no such rule. : ruleID={asked['rule_id']}", vlan, "failure")
        return done(f"Rule deleted. : ruleID={','.join(map(str, gone))}", vlan)


class RestFirewallAPI(Asking):
    """A firewall for each switch."""

    OFP_VERSIONS = [
        ofproto_v1_0.OFP_VERSION, ofproto_v1_2.OFP_VERSION, ofproto_v1_3.OFP_VERSION,
    ]  # fmt: skip
    _CONTEXTS = {"dpset": dpset.DPSet, "wsgi": WSGIApplication}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.firewalls = {}
        kwargs["wsgi"].register(FirewallController, {"firewalls": self.firewalls})

    @set_ev_cls(dpset.EventDP, dpset.DPSET_EV_DISPATCHER)
    def on_switch(self, event):
        """A switch comes or goes."""
        if event.enter:
            self.firewalls[event.dp.id] = Firewall(event.dp)
            self.logger.info("[FW][INFO] dpid=%s: Join as firewall.", dpid_to_str(event.dp.id))
        else:
            self.firewalls.pop(event.dp.id, None)

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def on_packet(self, event):
        """A packet that is blocked."""
        number = dpid_to_str(event.msg.datapath.id)
        blocked = packet.Packet(event.msg.data)
        self.logger.info("[FW][INFO] dpid=%s: Blocked packet = %s", number, blocked)


class FirewallController(ControllerBase):
    """Answers requests below /firewall."""

    @route("firewall", "/firewall/module/status", methods=["GET"])
    def status(self, req):
        """Which switches pass packets."""
        return self.all("status", lambda firewall: firewall.enabled)

    @route("firewall", "/firewall/log/status", methods=["GET"])
    def log_status(self, req):
        """Which switches tell of blocked packets."""
        return self.all("log_status", lambda firewall: firewall.logs)

    @route("firewall", "/firewall/module/{operation}/{switch}", methods=["PUT"],
           requirements=OPERATION)  # fmt: skip
    def enable(self, req, operation, switch):
        """Begin or end to pass packets."""
        return self.change(switch, lambda firewall: firewall.enable(operation == "enable"))

    @route("firewall", "/firewall/log/{operation}/{switch}", methods=["PUT"],
           requirements=OPERATION)  # fmt: skip
    def log(self, req, operation, switch):
        """Begin or end to tell of blocked packets."""
        return self.change(switch, lambda firewall: firewall.log(operation == "enable"))

    @route("firewall", "/firewall/rules/{switch}", methods=["GET"], requirements=SWITCH)
    @route("firewall", "/firewall/rules/{switch}/{vlan}", methods=["GET"], requirements=SWITCH)
    def get(self, req, switch, vlan=None):
        """The rules."""
        return each(self.data["firewalls"], switch, lambda firewall: {
            "access_control_list": firewall.rules.told(vlan_of(vlan), "rule_id", "rules")
        })  # fmt: skip

    @route("firewall", "/firewall/rules/{switch}", methods=["POST"], requirements=SWITCH)
    @route("firewall", "/firewall/rules/{switch}/{vlan}", methods=["POST"], requirements=SWITCH)
    def post(self, req, switch, vlan=None):
        """A new rule."""
        return self.change(
            switch, lambda firewall: [firewall.add(vlan_of(vlan, all_too=False), asked(req))]
        )

    @route("firewall", "/firewall/rules/{switch}", methods=["DELETE"], requirements=SWITCH)
    @route("firewall", "/firewall/rules/{switch}/{vlan}", methods=["DELETE"], requirements=SWITCH)
    def delete(self, req, switch, vlan=None):
        """A rule less, or all."""
        return self.change(switch, lambda firewall: [firewall.delete(vlan_of(vlan), asked(req))])

    def all(self, name, is_on):
        """Of all switches, whether something is on."""
        return reply([
            {"switch_id": dpid_to_str(number), name: "enable" if is_on(firewall) else "disable"}
            for number, firewall in sorted(self.data["firewalls"].items())
        ])  # fmt: skip

    def change(self, switch, change):
        """What became of a request."""
        return each(
            self.data["firewalls"], switch, lambda firewall: {"command_result": change(firewall)}
        )


def done(details, vlan=None, result="success"):
    """What became of a request at a switch."""
    told = {"result": result, "details": details}
    return told if vlan is None else told | {"vlan_id": vlan}

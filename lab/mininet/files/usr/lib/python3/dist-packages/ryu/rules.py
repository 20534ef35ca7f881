# SPDX-License-Identifier: GPL-2.0-only
"""The numbered rules of rest_firewall and rest_qos, by the names that their requests have."""

import ipaddress
import itertools
import logging
import re

from ryu.rest import VERSIONS, RefusedError

LOG = logging.getLogger(__name__)
TYPES = {"ARP": 0x0806, "IPv4": 0x0800, "IPv6": 0x86DD}
PROTOCOLS = {"ICMP": 1, "TCP": 6, "UDP": 17, "ICMPv6": 58}
NAMES = {"dl_type": TYPES, "nw_proto": PROTOCOLS}
MOST = {"in_port": 65535, "tp_src": 65535, "tp_dst": 65535, "ip_dscp": 63}
ADDRESSES = {
    "nw_src": ipaddress.IPv4Network, "nw_dst": ipaddress.IPv4Network,
    "ipv6_src": ipaddress.IPv6Network, "ipv6_dst": ipaddress.IPv6Network,
}  # fmt: skip
HARDWARE = ("dl_src", "dl_dst")
MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
# What a field asks of the packet's type.
OF_IPV6 = ("ipv6_src", "ipv6_dst")
OF_IPV4 = ("nw_src", "nw_dst", "nw_proto", "tp_src", "tp_dst", "ip_dscp")


class Rules:
    """The rules of one switch in one table.

    Args:
        datapath: of os-ken.
        actions: makes of what a rule does the actions in the words of os-ken's ofctl.
        priorities: the lowest and the highest that a rule may have.
    """

    def __init__(self, datapath, actions, priorities):
        self.datapath, self.actions, self.priorities = datapath, actions, priorities
        self.numbers = itertools.count(1)
        self.rules = {}  # number: VLAN or None, priority, fields, what it does

    def send(self, command, priority, match, actions, cookie=0):
        """Change the rules of the switch.

        Args:
            command: the protocol's name of it.
            match: by the names of ofctl.
        """
        flow = {"cookie": cookie, "priority": priority, "match": match, "actions": actions}
        protocol = self.datapath.ofproto
        functions = VERSIONS[protocol.OFP_VERSION]
        functions.mod_flow_entry(self.datapath, flow, getattr(protocol, command))

    def add(self, vlan, priority, match, does):
        """A new rule, instead of one with the same match and priority; gives its number.

        Raises:
            RefusedError: no switch can have such a rule.
        """
        lowest, highest = self.priorities
        priority = number(priority, "priority", highest, lowest)
        rule = vlan, priority, fields_of(match, vlan), does
        for old in [old for old, found in self.rules.items() if found[:3] == rule[:3]]:
            del self.rules[old]
        made = next(self.numbers)
        self.rules[made] = rule
        self.put(made)
        return made

    def put(self, made):
        """The switch has a rule from now on, or does what the rule does now."""
        _, priority, fields, does = self.rules[made]
        self.send("OFPFC_ADD", priority, by_numbers(fields), self.actions(does), cookie=made)

    def remove(self, vlan, wanted):
        """Take a rule of a VLAN away, or all; gives the numbers.

        Args:
            vlan: "all": of any.
        """
        gone = [made for made, rule in self.rules.items()
                if vlan in ("all", rule[0]) and str(wanted) in ("all", str(made))]  # fmt: skip
        for made in gone:
            _, priority, fields, _ = self.rules.pop(made)
            self.send("OFPFC_DELETE_STRICT", priority, by_numbers(fields), [])
        return gone

    def told(self, vlan, name, key):
        """A list with the rules of each VLAN.

        Args:
            vlan: "all": of any.
            name: what the number of a rule is called.
            key: what the list of rules is called.
        """
        groups = {}
        for made, (own, priority, fields, does) in self.rules.items():
            if vlan in ("all", own):
                rule = {"priority": priority, **fields, name: made, "actions": does}
                groups.setdefault(own, []).append(rule)
        return [
            {key: rules} if own is None else {key: rules, "vlan_id": own}
            for own, rules in groups.items()
        ]


def vlan_of(text, *, all_too=True):
    """That of a path: None where it has none, or "all".

    Raises:
        RefusedError: it is neither.
    """
    if text is None or (text == "all" and all_too):
        return text
    return number(text, "the VLAN of the path", 4094, 1)


def number(value, name, most, least=0):
    """A value that may be a text.

    Raises:
        RefusedError: it is no number from least to most.
    """
    try:
        found = int(str(value), 0)
    except ValueError:
        found = None
    if found is None or not least <= found <= most:
        raise RefusedError(f"{name} is {value!r}; it is a number from {least} to {most}")
    return found


def fields_of(match, vlan):
    """What a request says of packets, by its names, in their simplest form.

    Raises:
        RefusedError: a value cannot be.
    """
    fields = {"dl_vlan": vlan} if vlan is not None else {}
    for key, value in match.items():
        fields |= field_of(key, value)
    if (needs := type_of(fields)) and fields.setdefault("dl_type", needs) != needs:
        told, kind = ", ".join(fields), fields["dl_type"]
        raise RefusedError(f"a packet with {told} has the dl_type {needs}, not {kind}")
    if {"tp_src", "tp_dst"} & set(fields) and fields.get("nw_proto") not in ("TCP", "UDP"):
        raise RefusedError("a rule with tp_src or tp_dst needs the nw_proto TCP or UDP")
    return fields


def field_of(key, value):
    """A part of a match, checked; nothing where we do not know the name."""
    if key in NAMES:
        if value not in NAMES[key]:
            raise RefusedError(f"{key} is {value!r}; it is one of {', '.join(NAMES[key])}")
        return {key: value}
    if key in MOST:
        return {key: number(value, key, MOST[key])}
    if key in ADDRESSES:
        return {key: address(key, value)}
    if key in HARDWARE:
        if not MAC.fullmatch(str(value)):
            raise RefusedError(
                f"{key} is {value!r}; it is six pairs of digits such as 00:00:00:00:00:01"
            )
        return {key: value}
    LOG.warning("a rule has %s, which no packet has: this part of the rule is left out", key)
    return {}


def address(key, value):
    """Of a host without the length of its prefix, as switches tell it."""
    try:
        network = ADDRESSES[key](value, strict=False)
    except ValueError as error:
        raise RefusedError(f"{key}: {error}") from error
    host = network.prefixlen == network.max_prefixlen
    return str(network.network_address) if host else str(network)


def type_of(fields):
    """The type of packet that other fields ask for, if any does."""
    if fields.get("nw_proto") == "ICMPv6" or set(OF_IPV6) & set(fields):
        return "IPv6"
    if fields.get("dl_type") == "ARP" and not {"nw_proto", "ip_dscp"} & set(fields):
        return "ARP"  # whose addresses have the same names
    if fields.get("dl_type") == "IPv6" and not {"nw_src", "nw_dst"} & set(fields):
        return "IPv6"
    return "IPv4" if set(OF_IPV4) & set(fields) else ""


def by_numbers(fields):
    """For os-ken's ofctl, which knows no names of types and protocols."""
    return {key: NAMES[key][value] if key in NAMES else value for key, value in fields.items()}

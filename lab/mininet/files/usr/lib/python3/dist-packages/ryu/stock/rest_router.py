# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.rest_router: each switch is a router of IPv4 that /router/SWITCH sets up; OpenFlow 1.3.

POST sets an {"address": "A.B.C.D/M"}, or a {"gateway": "A.B.C.D"} with or without a
{"destination": "A.B.C.D/M"}; DELETE takes {"address_id": N} or {"route_id": N} away; GET tells of
both. SWITCH is 16 digits or all, N a number or all. Routers of VLANs are not here.
"""

import ipaddress
import itertools

from os_ken.base import app_manager
from os_ken.controller import dpset, ofp_event
from os_ken.controller.handler import MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import arp, ethernet, icmp, ipv4, packet
from os_ken.ofproto import ofproto_v1_3
from ryu.app.wsgi import ControllerBase, Response, WSGIApplication, route
from ryu.rest import SWITCH, each

BROADCAST, NOBODY = "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00"
IP, ARP = ethernet.ether.ETH_TYPE_IP, ethernet.ether.ETH_TYPE_ARP
# Rules: the first that fits. To a network or along a route: the longer the prefix, the earlier.
NO_ROUTE, ROUTES, INSIDE, FOUND, WITHIN, OWN = 0, 10, 1000, 2000, 3000, 4000
IDLE_S = 1800
MOST_WAITING = 100  # packets to an address that does not answer


class Router:
    """A switch that routes.

    Args:
        datapath: of os-ken.
    """

    def __init__(self, datapath):
        self.datapath = datapath
        self.addresses, self.routes = {}, {}
        self.numbers = itertools.count(1), itertools.count(1)
        self.waiting = {}  # packets by the next address on their way
        parser = datapath.ofproto_parser
        self.rule(NO_ROUTE, parser.OFPMatch(), [])
        self.to_controller(OWN, eth_type=ARP)

    def rule(self, priority, match, actions, command=None, idle_s=0):
        """Set a rule, or do with it what the command says."""
        protocol, parser = self.datapath.ofproto, self.datapath.ofproto_parser
        apply = parser.OFPInstructionActions(protocol.OFPIT_APPLY_ACTIONS, actions)
        self.datapath.send_msg(
            parser.OFPFlowMod(
                datapath=self.datapath, priority=priority, match=match, instructions=[apply],
                command=protocol.OFPFC_ADD if command is None else command,
                out_port=protocol.OFPP_ANY, out_group=protocol.OFPG_ANY, idle_timeout=idle_s,
            )
        )  # fmt: skip

    def to_controller(self, priority, **fields):
        """The packets of a match come to packet_in()."""
        protocol, parser = self.datapath.ofproto, self.datapath.ofproto_parser
        output = parser.OFPActionOutput(protocol.OFPP_CONTROLLER, protocol.OFPCML_NO_BUFFER)
        self.rule(priority, parser.OFPMatch(**fields), [output])

    def send(self, protocols, port, in_port=None):
        """A packet, as it is or of protocols, to a port."""
        protocol, parser = self.datapath.ofproto, self.datapath.ofproto_parser
        data = protocols
        if not isinstance(protocols, bytes):
            made = packet.Packet(protocols=protocols)
            made.serialize()
            data = made.data
        self.datapath.send_msg(
            parser.OFPPacketOut(
                datapath=self.datapath, buffer_id=protocol.OFP_NO_BUFFER, data=data,
                in_port=protocol.OFPP_CONTROLLER if in_port is None else in_port,
                actions=[parser.OFPActionOutput(port)],
            )
        )  # fmt: skip

    def mac(self, port):
        """The router's hardware address at a port."""
        return self.datapath.ports[port].hw_addr

    # What the web interface asks for.

    def add_address(self, text):
        """The router takes an address, and its network.

        Raises:
            ValueError: it is none, or its network is already there.
        """
        address = ipaddress.IPv4Interface(text)
        if any(address.network.overlaps(other.network) for other in self.addresses.values()):
            raise ValueError(f"{text} overlaps an address that the router has")
        number = next(self.numbers[0])
        self.addresses[number] = address
        network = str(address.network)
        parser = self.datapath.ofproto_parser
        normal = parser.OFPActionOutput(self.datapath.ofproto.OFPP_NORMAL)
        within = parser.OFPMatch(eth_type=IP, ipv4_src=network, ipv4_dst=network)
        self.rule(WITHIN, within, [normal])
        self.to_controller(INSIDE, eth_type=IP, ipv4_dst=network)
        self.to_controller(OWN, eth_type=IP, ipv4_dst=str(address.ip))
        self.ask(address.ip)  # a gratuitous request: neighbours learn of the router
        return f"Add address [address_id={number}]"

    def add_route(self, gateway, destination="0.0.0.0/0"):
        """Packets to a network go to a gateway.

        Raises:
            ValueError: the gateway is in no network of the router's, or the route is there.
        """
        network, gateway = ipaddress.IPv4Network(destination), ipaddress.IPv4Address(gateway)
        if self.owner(gateway) is None:
            raise ValueError(f"the gateway {gateway} is in no network of the router's addresses")
        if any(network == other for other, _ in self.routes.values()):
            raise ValueError(f"the router has a route to {network}")
        number = next(self.numbers[1])
        self.routes[number] = network, gateway
        self.to_controller(ROUTES + network.prefixlen, **self.along(network))
        self.ask(gateway)
        return f"Add route [route_id={number}]"

    def delete(self, kind, number):
        """Take an address or a route away, or all.

        Raises:
            ValueError: there is none of this number.
        """
        table = self.addresses if kind == "address_id" else self.routes
        numbers = list(table) if number == "all" else [int(number)]
        if missing := [number for number in numbers if number not in table]:
            raise ValueError(f"the router has no {kind} {missing[0]}")
        for number in numbers:
            self.forget(table.pop(number))
        said = "address" if kind == "address_id" else "route"
        return f"Delete {said} [{kind}={','.join(map(str, numbers))}]"

    def forget(self, gone):
        """Take away the rule of a route, or all rules of an address and its network."""
        protocol, parser = self.datapath.ofproto, self.datapath.ofproto_parser
        if isinstance(gone, tuple):
            match = parser.OFPMatch(**self.along(gone[0]))
            priority = ROUTES + gone[0].prefixlen
            self.rule(priority, match, [], protocol.OFPFC_DELETE_STRICT)
        else:
            match = parser.OFPMatch(eth_type=IP, ipv4_dst=str(gone.network))
            self.rule(0, match, [], protocol.OFPFC_DELETE)

    def along(self, network):
        """The fields of packets to a network; to 0.0.0.0/0 goes every packet."""
        return {"eth_type": IP, **({"ipv4_dst": str(network)} if network.prefixlen else {})}

    def told(self):
        """Addresses and routes."""
        inside = {}
        if self.addresses:
            inside["address"] = [
                {"address_id": number, "address": str(address)}
                for number, address in self.addresses.items()
            ]
        if self.routes:
            inside["route"] = [
                {"route_id": number, "destination": str(network), "gateway": str(gateway)}
                for number, (network, gateway) in self.routes.items()
            ]
        return [inside] if inside else [{}]

    # What packets ask for.

    def owner(self, address):
        """The router's own address in the network of another."""
        for own in self.addresses.values():
            if ipaddress.IPv4Address(address) in own.network:
                return own
        return None

    def packet_in(self, message):
        """A packet that no rule sends on."""
        in_port, found = message.match["in_port"], packet.Packet(message.data)
        frame = found.get_protocol(ethernet.ethernet)
        if request := found.get_protocol(arp.arp):
            self.hear(request, in_port, message.data)
        elif header := found.get_protocol(ipv4.ipv4):
            if any(header.dst == str(own.ip) for own in self.addresses.values()):
                self.answer(frame, header, found, in_port)
            else:
                self.pass_on(header.dst, message.data, in_port)

    def hear(self, heard, in_port, data):
        """Answer a request, learn from an answer, and pass on what is between others."""
        own = self.owner(heard.src_ip)
        if own is None or ipaddress.IPv4Address(heard.dst_ip) not in own.network:
            return  # of another router's network; to flood it could go around for ever
        if heard.dst_ip != str(own.ip):
            if heard.src_ip != str(own.ip):
                self.send(data, self.datapath.ofproto.OFPP_NORMAL, in_port)
            return
        self.learn(heard.src_ip, heard.src_mac, in_port)
        if heard.opcode == arp.ARP_REQUEST:
            self.tell(arp.ARP_REPLY, own.ip, heard.src_ip, heard.src_mac, in_port)

    def tell(self, opcode, source, address, mac, port):
        """Say ARP at a port."""
        own = self.mac(port)
        asked = NOBODY if opcode == arp.ARP_REQUEST else mac
        frame = ethernet.ethernet(dst=mac, src=own, ethertype=ARP)
        said = arp.arp(
            opcode=opcode, src_mac=own, src_ip=str(source), dst_mac=asked, dst_ip=str(address)
        )
        self.send([frame, said], port)

    def ask(self, address):
        """Ask at all ports who has an address."""
        own = self.owner(address)
        for port in self.datapath.ports:
            if port <= self.datapath.ofproto.OFPP_MAX:
                self.tell(arp.ARP_REQUEST, own.ip, address, BROADCAST, port)

    def learn(self, address, mac, port):
        """From now on the switch sends packets to this address, and by way of it, by itself."""
        matches = [(FOUND, ipaddress.IPv4Network(address))]
        gateway = ipaddress.IPv4Address(address)
        for network, through in self.routes.values():
            if through == gateway:
                matches.append((ROUTES + network.prefixlen, network))
        parser = self.datapath.ofproto_parser
        actions = [
            parser.OFPActionDecNwTtl(), parser.OFPActionSetField(eth_src=self.mac(port)),
            parser.OFPActionSetField(eth_dst=mac), parser.OFPActionOutput(port),
        ]  # fmt: skip
        for priority, network in matches:
            idle_s = IDLE_S if priority == FOUND else 0
            match = parser.OFPMatch(**self.along(network))
            self.rule(priority, match, actions, idle_s=idle_s)
        for data in self.waiting.pop(gateway, []):
            self.send(self.readdressed(data, mac, port), port)

    def readdressed(self, data, mac, port):
        """The packet as the rule of learn() would send it."""
        frame = packet.Packet(data)
        head, header = frame.get_protocol(ethernet.ethernet), frame.get_protocol(ipv4.ipv4)
        head.src, head.dst = self.mac(port), mac
        header.ttl, header.csum = header.ttl - 1, 0
        frame.serialize()
        return bytes(frame.data)

    def pass_on(self, address, data, in_port):
        """Let a packet wait until its next address answers."""
        target = ipaddress.IPv4Address(address)
        if self.owner(target) is None:
            fits = [found for found in self.routes.values() if target in found[0]]
            if not fits:
                return
            target = max(fits, key=lambda found: found[0].prefixlen)[1]
        waiting = self.waiting.setdefault(target, [])
        if len(waiting) < MOST_WAITING:
            waiting.append(data)
        self.ask(target)

    def answer(self, frame, header, found, in_port):
        """An echo to the router itself."""
        echo = found.get_protocol(icmp.icmp)
        if echo is None or echo.type != icmp.ICMP_ECHO_REQUEST:
            return
        back = ethernet.ethernet(dst=frame.src, src=frame.dst, ethertype=IP)
        reply = ipv4.ipv4(src=header.dst, dst=header.src, proto=header.proto)
        said = icmp.icmp(icmp.ICMP_ECHO_REPLY, icmp.ICMP_ECHO_REPLY_CODE, data=echo.data)
        self.send([back, reply, said], in_port)


class RestRouterAPI(app_manager.OSKenApp):
    """A router for each switch."""

    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]
    _CONTEXTS = {"dpset": dpset.DPSet, "wsgi": WSGIApplication}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.routers = {}
        kwargs["wsgi"].register(RouterController, {"routers": self.routers})

    @set_ev_cls(dpset.EventDP, dpset.DPSET_EV_DISPATCHER)
    def on_switch(self, event):
        """A switch comes or goes."""
        if event.enter:
            self.routers[event.dp.id] = Router(event.dp)
            self.logger.info("[RT][INFO] switch_id=%016x: Join as router.", event.dp.id)
        else:
            self.routers.pop(event.dp.id, None)

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def on_packet(self, event):
        """A packet for the controller."""
        if router := self.routers.get(event.msg.datapath.id):
            router.packet_in(event.msg)


class RouterController(ControllerBase):
    """Answers with a list, an object for each switch."""

    @route("router", "/router/{switch}", methods=["GET"], requirements=SWITCH)
    def get(self, req, switch):
        """Addresses and routes."""
        return self.each(switch, lambda router: {"internal_network": router.told()})

    @route("router", "/router/{switch}", methods=["POST"], requirements=SWITCH)
    def post(self, req, switch):
        """A new address or route."""
        return self.each(switch, lambda router: {"command_result": changed(router, add, req)})

    @route("router", "/router/{switch}", methods=["DELETE"], requirements=SWITCH)
    def delete(self, req, switch):
        """An address or a route less."""
        return self.each(switch, lambda router: {"command_result": changed(router, remove, req)})

    @route("router", "/router/{switch}/{vlan}", requirements=SWITCH)
    def vlan(self, req, switch, vlan):
        """What this application has not."""
        text = "cellbed's rest_router has no routers of VLANs: use /router/SWITCH\n"
        return Response(status=501, text=text)

    def each(self, switch, ask):
        """The answers of all switches, or of one."""
        return each(self.data["routers"], switch, ask)


def changed(router, change, req):
    """What became of a request."""
    try:
        return [{"result": "success", "details": change(router, req.json)}]
    except (ValueError, TypeError, AttributeError) as error:
        return [{"result": "failure", "details": str(error)}]


def add(router, asked):
    """By the keys of the request."""
    if "address" in asked:
        return router.add_address(asked["address"])
    if "gateway" in asked:
        return router.add_route(asked["gateway"], asked.get("destination", "0.0.0.0/0"))
    raise ValueError("the request has neither address nor gateway")


def remove(router, asked):
    """By the keys of the request."""
    for kind in ("address_id", "route_id"):
        if kind in asked:
            return router.delete(kind, asked[kind])
    raise ValueError("the request has neither address_id nor route_id")

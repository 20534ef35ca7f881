# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.simple_switch: each switch learns the ports of Ethernet addresses; OpenFlow 1.0."""

from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.mac import haddr_to_bin
from os_ken.lib.packet import ether_types, ethernet, packet
from os_ken.ofproto import ofproto_v1_0


class SimpleSwitch(app_manager.OSKenApp):
    """Names and arguments are those of Ryu's, whom many applications inherit from."""

    OFP_VERSIONS = [ofproto_v1_0.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.mac_to_port = {}

    def add_flow(self, datapath, in_port, dst, src, actions):
        """A rule for the packets between two addresses."""
        protocol, parser = datapath.ofproto, datapath.ofproto_parser
        match = parser.OFPMatch(in_port=in_port, dl_dst=haddr_to_bin(dst), dl_src=haddr_to_bin(src))
        datapath.send_msg(
            parser.OFPFlowMod(
                datapath=datapath, match=match, cookie=0, command=protocol.OFPFC_ADD,
                idle_timeout=0, hard_timeout=0, priority=protocol.OFP_DEFAULT_PRIORITY,
                flags=protocol.OFPFF_SEND_FLOW_REM, actions=actions,
            )
        )  # fmt: skip

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def _packet_in_handler(self, ev):
        """Learn where the sender is, and send the packet there or to all ports."""
        message = ev.msg
        datapath = message.datapath
        protocol, parser = datapath.ofproto, datapath.ofproto_parser
        frame = packet.Packet(message.data).get_protocol(ethernet.ethernet)
        if frame is None or frame.ethertype == ether_types.ETH_TYPE_LLDP:
            return
        ports = self.mac_to_port.setdefault(datapath.id, {})
        ports[frame.src] = message.in_port
        out_port = ports.get(frame.dst, protocol.OFPP_FLOOD)
        actions = [parser.OFPActionOutput(out_port)]
        if out_port != protocol.OFPP_FLOOD:
            self.add_flow(datapath, message.in_port, frame.dst, frame.src, actions)
        buffered = message.buffer_id != protocol.OFP_NO_BUFFER
        datapath.send_msg(
            parser.OFPPacketOut(
                datapath=datapath, buffer_id=message.buffer_id, in_port=message.in_port,
                actions=actions, data=None if buffered else message.data,
            )
        )  # fmt: skip

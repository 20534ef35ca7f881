# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.simple_switch_13: each switch learns the ports of Ethernet addresses; OpenFlow 1.3."""

from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ether_types, ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class SimpleSwitch13(app_manager.OSKenApp):
    """Names and arguments are those of Ryu's, whom many applications inherit from."""

    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.mac_to_port = {}

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def switch_features_handler(self, ev):
        """A packet that no rule knows goes to the controller, whole."""
        datapath = ev.msg.datapath
        protocol, parser = datapath.ofproto, datapath.ofproto_parser
        actions = [parser.OFPActionOutput(protocol.OFPP_CONTROLLER, protocol.OFPCML_NO_BUFFER)]
        self.add_flow(datapath, 0, parser.OFPMatch(), actions)

    def add_flow(self, datapath, priority, match, actions, buffer_id=None):
        """A rule for the switch; a packet that waits in its buffer is sent by it, too."""
        protocol, parser = datapath.ofproto, datapath.ofproto_parser
        apply = parser.OFPInstructionActions(protocol.OFPIT_APPLY_ACTIONS, actions)
        waiting = {} if buffer_id is None else {"buffer_id": buffer_id}
        datapath.send_msg(
            parser.OFPFlowMod(
                datapath=datapath, priority=priority, match=match, instructions=[apply], **waiting
            )
        )

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def _packet_in_handler(self, ev):
        """Learn where the sender is, and send the packet there or to all ports."""
        message = ev.msg
        datapath = message.datapath
        protocol, parser = datapath.ofproto, datapath.ofproto_parser
        in_port = message.match["in_port"]
        frame = packet.Packet(message.data).get_protocol(ethernet.ethernet)
        if frame is None or frame.ethertype == ether_types.ETH_TYPE_LLDP:
            return
        ports = self.mac_to_port.setdefault(datapath.id, {})
        ports[frame.src] = in_port
        out_port = ports.get(frame.dst, protocol.OFPP_FLOOD)
        actions = [parser.OFPActionOutput(out_port)]
        buffered = message.buffer_id != protocol.OFP_NO_BUFFER
        if out_port != protocol.OFPP_FLOOD:
            match = parser.OFPMatch(in_port=in_port, eth_dst=frame.dst, eth_src=frame.src)
            self.add_flow(datapath, 1, match, actions, message.buffer_id if buffered else None)
            if buffered:
                return
        datapath.send_msg(
            parser.OFPPacketOut(
                datapath=datapath, buffer_id=message.buffer_id, in_port=in_port, actions=actions,
                data=None if buffered else message.data,
            )
        )  # fmt: skip

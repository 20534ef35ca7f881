# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.simple_switch_stp_13: simple_switch_13 for switches in a loop, with a spanning tree."""

from os_ken.controller.handler import MAIN_DISPATCHER, set_ev_cls
from os_ken.lib import dpid as dpid_lib
from os_ken.lib import stplib
from ryu.app import simple_switch_13

STATES = {
    stplib.PORT_STATE_DISABLE: "DISABLE",
    stplib.PORT_STATE_BLOCK: "BLOCK",
    stplib.PORT_STATE_LISTEN: "LISTEN",
    stplib.PORT_STATE_LEARN: "LEARN",
    stplib.PORT_STATE_FORWARD: "FORWARD",
}


class SimpleSwitch13(simple_switch_13.SimpleSwitch13):
    """Names and arguments are those of Ryu's, whom many applications inherit from."""

    _CONTEXTS = {"stplib": stplib.Stp}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.stp = kwargs["stplib"]

    def delete_flow(self, datapath):
        """Forget the rules to all learnt addresses."""
        protocol, parser = datapath.ofproto, datapath.ofproto_parser
        for address in self.mac_to_port.get(datapath.id, {}):
            datapath.send_msg(
                parser.OFPFlowMod(
                    datapath, command=protocol.OFPFC_DELETE, out_port=protocol.OFPP_ANY,
                    out_group=protocol.OFPG_ANY, priority=1, match=parser.OFPMatch(eth_dst=address),
                )
            )  # fmt: skip

    @set_ev_cls(stplib.EventPacketIn, MAIN_DISPATCHER)
    def _packet_in_handler(self, ev):
        """A packet that the spanning tree has left for the switch."""
        super()._packet_in_handler(ev)

    @set_ev_cls(stplib.EventTopologyChange, MAIN_DISPATCHER)
    def _topology_change_handler(self, ev):
        """What was learnt holds no more."""
        datapath = ev.dp
        self.logger.debug("[dpid=%s] topology change", dpid_lib.dpid_to_str(datapath.id))
        self.delete_flow(datapath)
        self.mac_to_port.pop(datapath.id, None)

    @set_ev_cls(stplib.EventPortStateChange, MAIN_DISPATCHER)
    def _port_state_change_handler(self, ev):
        """Say which ports forward."""
        self.logger.debug(
            "[dpid=%s][port=%d] state=%s",
            dpid_lib.dpid_to_str(ev.dp.id), ev.port_no, STATES[ev.port_state],
        )  # fmt: skip

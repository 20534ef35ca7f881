# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.simple_monitor_13: simple_switch_13 that prints its switches' counters each 10 s."""

from operator import attrgetter

from os_ken.controller import ofp_event
from os_ken.controller.handler import DEAD_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib import hub
from ryu.app import simple_switch_13

PERIOD_S = 10
FLOW = "%016x %8x %17s %8x %8d %8d"
PORT = "%016x %8x %8d %8d %8d %8d %8d %8d"


class SimpleMonitor13(simple_switch_13.SimpleSwitch13):
    """Names and arguments are those of Ryu's, whom many applications inherit from."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.datapaths = {}
        self.monitor_thread = hub.spawn(self._monitor)

    @set_ev_cls(ofp_event.EventOFPStateChange, [MAIN_DISPATCHER, DEAD_DISPATCHER])
    def _state_change_handler(self, ev):
        """Know which switches there are."""
        if ev.state == MAIN_DISPATCHER:
            self.datapaths[ev.datapath.id] = ev.datapath
        else:
            self.datapaths.pop(ev.datapath.id, None)

    def _monitor(self):
        while True:
            for datapath in list(self.datapaths.values()):
                self._request_stats(datapath)
            hub.sleep(PERIOD_S)

    def _request_stats(self, datapath):
        protocol, parser = datapath.ofproto, datapath.ofproto_parser
        datapath.send_msg(parser.OFPFlowStatsRequest(datapath))
        datapath.send_msg(parser.OFPPortStatsRequest(datapath, 0, protocol.OFPP_ANY))

    @set_ev_cls(ofp_event.EventOFPFlowStatsReply, MAIN_DISPATCHER)
    def _flow_stats_reply_handler(self, ev):
        """A line for each rule but that of unknown packets."""
        self.logger.info("datapath         in-port  eth-dst           out-port packets  bytes")
        flows = [flow for flow in ev.msg.body if flow.priority == 1]
        for flow in sorted(flows, key=lambda flow: (flow.match["in_port"], flow.match["eth_dst"])):
            port = flow.instructions[0].actions[0].port
            self.logger.info(
                FLOW, ev.msg.datapath.id, flow.match["in_port"], flow.match["eth_dst"], port,
                flow.packet_count, flow.byte_count,
            )  # fmt: skip

    @set_ev_cls(ofp_event.EventOFPPortStatsReply, MAIN_DISPATCHER)
    def _port_stats_reply_handler(self, ev):
        """A line for each port."""
        self.logger.info(
            "datapath         port     rx-pkts  rx-bytes rx-error tx-pkts  tx-bytes tx-error"
        )
        for port in sorted(ev.msg.body, key=attrgetter("port_no")):
            self.logger.info(
                PORT, ev.msg.datapath.id, port.port_no, port.rx_packets, port.rx_bytes,
                port.rx_errors, port.tx_packets, port.tx_bytes, port.tx_errors,
            )  # fmt: skip
